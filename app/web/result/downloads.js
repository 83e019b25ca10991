// Downloads of a result: its tables, the model, the uploaded table, and Python code that reproduces the job.

import { download } from "../api.js";
import { copyButton, errorLine, h } from "../dom.js";
import { fileName, pythonCode } from "./python_code.js";

const TABLES = [
  ["W", "Loadings (W)", "The weight of each feature (row) in each axis (column)."],
  ["embedding", "Embedding", "The coordinates of each row on the new axes."],
  ["labels", "Clusters", "The cluster of each row."],
  ["stability", "Standard errors", "The standard errors of the loadings, in the same layout."],
  ["trace", "Trace", "The objective and the eigenvalues of every iteration."],
];

export function downloadsSection(source) {
  const { job, result, dataset } = source;
  const problem = errorLine();

  const button = (path, name, title, format) => {
    const onclick = async () => {
      problem.hide();
      try {
        await download(path, name);
      } catch (error) {
        problem.show(error);
      }
    };
    return h("button", { type: "button", class: "small", "aria-label": `${title} as ${format}`, onclick }, format);
  };
  const line = (title, note, buttons) =>
    h(
      "div",
      { class: "download" },
      h("div", {}, h("strong", {}, title), h("span", { class: "hint" }, ` ${note}`)),
      h("div", { class: "row" }, buttons),
    );
  const artifact = (name, formats, title, note) =>
    line(
      title,
      note,
      formats.map((format) =>
        button(`/jobs/${job.id}/${name}?format=${format}`, `${name}-${job.id}.${format}`, title, format.toUpperCase()),
      ),
    );
  const tableButton = (format, title) => {
    const name = fileName(dataset).replace("parquet", format);
    return button(`/datasets/${dataset.id}/rows?format=${format}`, name, "Table", title);
  };
  const files = h(
    "div",
    { class: "card" },
    h("h3", {}, "Files"),
    line(
      "Report",
      "One HTML file with everything, which needs no network; or a PDF of a few pages.",
      ["html", "pdf"].map((format) =>
        button(`/jobs/${job.id}/report.${format}`, `report-${job.id}.${format}`, "Report", format.toUpperCase()),
      ),
    ),
    TABLES.filter(([name]) => result.links[name]).map(([name, title, note]) =>
      artifact(name, ["csv", "npy", "parquet", "json"], title, note),
    ),
    artifact("model", ["npz", "onnx"], "Model", "Projects new rows onto the axes, without this service."),
    dataset
      ? line("Table", "The uploaded table.", [tableButton("parquet", "Parquet"), tableButton("csv", "CSV")])
      : null,
    problem.element,
    h("p", { class: "hint" }, "Every plot has its own buttons for SVG and PNG files."),
  );
  return h(
    "section",
    {},
    h("h2", {}, "Downloads"),
    h("div", { class: "grid" }, files, dataset ? pythonCard(source) : null),
  );
}

function pythonCard(source) {
  const code = pythonCode(source);
  const file = fileName(source.dataset);
  return h(
    "div",
    { class: "card" },
    h("div", { class: "row spread" }, h("h3", {}, "Python code"), copyButton(code, "Copy Python")),
    h(
      "p",
      { class: "hint" },
      `This code reproduces the result without the service. Install the library from the source repository of this service, and download the table as ${file}.`,
    ),
    h("pre", { tabindex: 0, "aria-label": "Python code", class: "python" }, code),
  );
}
