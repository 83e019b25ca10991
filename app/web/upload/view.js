// The first view: upload a table, try an example, or go back to a table that was uploaded before.

import { absoluteUrl, get, Problem, upload } from "../api.js";
import { h, messageOf, replace } from "../dom.js";
import { counted } from "../format.js";
import { dropZone } from "./drop_zone.js";

const EXAMPLES = [
  {
    file: "wine.csv",
    name: "Wine",
    text: "178 wines of 3 growers with 13 chemical measurements. Which measurements distinguish the growers?",
  },
  {
    file: "wdbc.csv.gz",
    name: "WDBC",
    text: "569 tumors with 30 measurements of their cell nuclei. Which measurements indicate that a tumor is malignant?",
  },
  {
    file: "digits.csv.gz",
    name: "Digits",
    text: "1,797 handwritten digits as images of 8 × 8 pixels. Which pixels distinguish the digits?",
  },
];
const RECENT_TABLES = 5;

export async function show(container, { signal }) {
  const problem = h("div", { role: "alert", class: "card problem", hidden: true });
  const zone = dropZone(
    "Drop a table here, or choose a file",
    "CSV, TSV, JSON, XLSX, Parquet, Feather (Arrow), Stata, SPSS, NPY or NPZ. The file may be compressed with gzip or ZIP.",
    send,
  );

  async function send(file, name = null) {
    problem.hidden = true;
    const onProgress = (share) => {
      const uploading = `Uploading ${file.name}: ${Math.round(100 * share)} %`;
      zone.showProgress(share, share < 1 ? uploading : `Reading ${file.name} …`);
    };
    try {
      const path = name ? `/datasets?name=${encodeURIComponent(name)}` : "/datasets";
      const dataset = await upload(path, file, { signal, onProgress });
      location.hash = `#/data/${dataset.id}`;
    } catch (error) {
      if (signal.aborted) return;
      replace(problem, h("h2", {}, error.title ?? "The upload failed"), h("p", {}, error.detail ?? messageOf(error)));
      problem.hidden = false;
    }
  }

  replace(
    container,
    h(
      "section",
      { class: "hero" },
      h("h1", {}, "Find out which features matter"),
      h(
        "p",
        { class: "lead" },
        "ISM (Iterative Spectral Method) reduces the columns of a table to a few new axes. " +
          "Each axis is a weighted sum of your columns, and the weights show which columns matter.",
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
        EXAMPLES.map((example) => exampleButton(example, send)),
      ),
    ),
  );
  const tables = await recentTables(signal);
  if (tables) container.append(tables);
}

function exampleButton(example, send) {
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
  const answer = await fetch(absoluteUrl(`/page/examples/${name}`));
  if (!answer.ok) throw new Problem({ title: "The example file is missing", status: answer.status });
  return new File([await answer.blob()], name);
}

async function recentTables(signal) {
  const { items } = await get(`/datasets?limit=${RECENT_TABLES}`, { signal });
  if (!items.length) return null;
  const line = ({ id, name, rows, columns }) =>
    h(
      "li",
      {},
      h("a", { href: `#/data/${id}` }, name),
      " ",
      h("span", { class: "hint" }, `${counted(rows, "row")}, ${counted(columns, "column")}`),
    );
  return h(
    "section",
    { "aria-labelledby": "recent" },
    h("h2", { id: "recent" }, "Recent tables"),
    h("ul", { class: "plain" }, items.map(line)),
  );
}
