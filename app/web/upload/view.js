// The start: drop a file, take an example, or go on with a table that is there.

import { address, get, Problem, upload } from "../api.js";
import { h, replace } from "../dom.js";
import { dropZone } from "./drop_zone.js";

const EXAMPLES = [
  { file: "wine.csv", name: "Wine", text: "178 wines, 13 measurements, 3 growers. What tells the growers apart?" },
  {
    file: "wdbc.csv.gz",
    name: "WDBC",
    text: "569 tumours, 30 measurements of their cells. What marks the malignant ones?",
  },
  { file: "digits.csv.gz", name: "Digits", text: "1,797 handwritten digits of 8×8 pixels. Which pixels matter?" },
];
const RECENT = 5;

export async function show(container, { signal }) {
  const problem = h("div", { role: "alert", class: "card problem", hidden: true });
  const zone = dropZone(
    "Drop a table here, or choose a file",
    "CSV, TSV, Parquet, NPY, NPZ or JSON, also with gzip",
    send,
  );

  async function send(file, name = null) {
    problem.hidden = true;
    try {
      const onProgress = (sent) =>
        zone.progress(sent, sent < 1 ? `Sending ${file.name}: ${Math.round(100 * sent)} %` : `Reading ${file.name} …`);
      const dataset = await upload(name ? `/datasets?name=${encodeURIComponent(name)}` : "/datasets", file, {
        signal,
        onProgress,
      });
      location.hash = `#/data/${dataset.id}`;
    } catch (error) {
      if (signal.aborted) return;
      replace(problem, h("h2", {}, error.title ?? "This did not work"), h("p", {}, error.detail ?? error.message));
      problem.hidden = false;
    }
  }

  replace(
    container,
    h(
      "section",
      { class: "hero" },
      h("h1", {}, "See which features matter"),
      h(
        "p",
        { class: "lead" },
        "ISM reduces a table to a few new axes, and shows which of your columns each of them is made of.",
      ),
    ),
    zone.element,
    problem,
    h(
      "section",
      { class: "examples", "aria-labelledby": "examples" },
      h("h2", { id: "examples" }, "Or try an example"),
      h(
        "div",
        { class: "grid three" },
        EXAMPLES.map((example) => card(example, send)),
      ),
    ),
  );
  const tables = await recent(signal);
  if (tables) container.append(tables);
}

function card(example, send) {
  const button = h(
    "button",
    {
      type: "button",
      class: "card choice",
      onclick: async () => {
        button.disabled = true;
        await send(await exampleFile(example.file), example.name);
        button.disabled = false;
      },
    },
    h("strong", {}, example.name),
    h("span", { class: "hint" }, example.text),
  );
  return button;
}

async function exampleFile(name) {
  const answer = await fetch(address(`/page/examples/${name}`));
  if (!answer.ok) throw new Problem({ title: "The example is not there", status: answer.status });
  return new File([await answer.blob()], name);
}

async function recent(signal) {
  const { items } = await get(`/datasets?limit=${RECENT}`, { signal });
  if (!items.length) return null;
  return h(
    "section",
    { "aria-labelledby": "recent" },
    h("h2", { id: "recent" }, "Your latest tables"),
    h(
      "ul",
      { class: "plain" },
      items.map((dataset) =>
        h(
          "li",
          {},
          h("a", { href: `#/data/${dataset.id}` }, dataset.name),
          " ",
          h(
            "span",
            { class: "hint" },
            `${dataset.rows.toLocaleString("en")} rows, ${dataset.columns.toLocaleString("en")} columns`,
          ),
        ),
      ),
    ),
  );
}
