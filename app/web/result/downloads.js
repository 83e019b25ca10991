// Everything to take away: tables, the model, the data set, and the Python lines that repeat the job.

import { download } from "../api.js";
import { copyButton } from "../copy.js";
import { h } from "../dom.js";
import { fileName, pythonLines } from "./python_code.js";

const TABLES = [
  ["W", "Loadings (W)", "a row for each feature, a column for each axis"],
  ["embedding", "Embedding", "the rows in the new axes"],
  ["labels", "Clusters", "each row's cluster"],
  ["stability", "Standard errors", "of the loadings, in their shape"],
  ["trace", "Trace", "the iteration step by step"],
];

export function takeawaySection(source) {
  const { job, result, dataset } = source;
  const problem = h("p", { class: "error", role: "alert", hidden: true });

  async function give(path, name) {
    problem.hidden = true;
    try {
      await download(path, name);
    } catch (error) {
      problem.textContent = error.detail ?? error.message;
      problem.hidden = false;
    }
  }

  const button = (path, name, title, shown) =>
    h(
      "button",
      { type: "button", class: "small", "aria-label": `${title} as ${shown}`, onclick: () => give(path, name) },
      shown,
    );
  const formats = (table, title) =>
    ["csv", "npy", "parquet", "json"].map((format) =>
      button(`/jobs/${job.id}/${table}?format=${format}`, `${table}-${job.id}.${format}`, title, format.toUpperCase()),
    );
  const line = (title, note, buttons) =>
    h(
      "div",
      { class: "give" },
      h("div", {}, h("strong", {}, title), h("span", { class: "hint" }, ` ${note}`)),
      h("div", { class: "row" }, buttons),
    );
  const files = h(
    "div",
    { class: "card" },
    h("h3", {}, "Files"),
    TABLES.filter(([table]) => result.links[table]).map(([table, title, note]) =>
      line(title, note, formats(table, title)),
    ),
    line(
      "Model",
      "projects new rows anywhere",
      ["npz", "onnx"].map((format) =>
        button(`/jobs/${job.id}/model?format=${format}`, `model-${job.id}.${format}`, "Model", format.toUpperCase()),
      ),
    ),
    dataset
      ? line("Table", "what was learnt from, as the service keeps it", [
          button(`/datasets/${dataset.id}/rows?format=parquet`, fileName(dataset), "Table", "Parquet"),
          button(
            `/datasets/${dataset.id}/rows?format=csv`,
            fileName(dataset).replace("parquet", "csv"),
            "Table",
            "CSV",
          ),
        ])
      : null,
    problem,
    h("p", { class: "hint" }, "Every plot has its own buttons for SVG and PNG."),
  );
  return h(
    "section",
    {},
    h("h2", {}, "Take away"),
    h("div", { class: "grid" }, files, dataset ? recipe(source) : null),
  );
}

function recipe(source) {
  const lines = pythonLines(source);
  return h(
    "div",
    { class: "card" },
    h("div", { class: "row spread" }, h("h3", {}, "The same in Python"), copyButton(lines, "Copy Python")),
    h(
      "p",
      { class: "hint" },
      `Without the service: with the library (pip install ism) and the table as ${fileName(source.dataset)}.`,
    ),
    h("pre", { tabindex: 0, "aria-label": "Python lines", class: "python" }, lines),
  );
}
