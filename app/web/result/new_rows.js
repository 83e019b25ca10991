// Projects new rows with the axes of a finished job and shows them in its scatter plot.

import { save, upload } from "../api.js";
import { announce, h, replace } from "../dom.js";
import { counted } from "../format.js";
import { dropZone } from "../upload/drop_zone.js";
import { parseEmbedding } from "./data.js";

export function newRowsSection({ job }, plot, signal) {
  const outcome = h("div", { "aria-live": "polite" });
  const zone = dropZone(
    "Drop a table with new rows here, or choose a file",
    "The table needs the same feature columns, in any order. The rows are projected onto the axes and added to the scatter plot.",
    async (file) => {
      zone.showProgress(1, `Projecting ${file.name} …`);
      try {
        const table = await upload(`/jobs/${job.id}/transform?format=json`, file, { signal });
        replace(outcome, successCard(table, file.name, job));
        await plot.addRows(parseEmbedding(table).axes);
        announce(`${counted(table.rows.length, "new row was", "new rows were")} added to the scatter plot.`);
        plot.element.scrollIntoView({ behavior: "smooth", block: "start" });
      } catch (error) {
        if (!signal.aborted) replace(outcome, errorCard(error));
      }
    },
  );
  return h("section", {}, h("h2", {}, "New rows"), zone.element, outcome);
}

function successCard({ columns, rows, notes }, name, job) {
  const lines = [columns, ...rows].map((cells) => cells.join(","));
  const saveCsv = () => save(new Blob([lines.join("\r\n")], { type: "text/csv" }), `transformed-${job.id}.csv`);
  const listedNotes = notes.map((note) => h("li", {}, note));
  return h(
    "div",
    { class: "card" },
    h(
      "div",
      { class: "row spread" },
      h(
        "p",
        {},
        h("strong", {}, `${counted(rows.length, "row")} of ${name}`),
        ` ${rows.length === 1 ? "is" : "are"} shown in the scatter plot as dark diamonds.`,
      ),
      h("button", { type: "button", class: "small", onclick: saveCsv }, "Download coordinates as CSV"),
    ),
    notes.length ? h("ul", { class: "hint" }, listedNotes) : null,
  );
}

function errorCard(error) {
  const errors = (error.errors ?? []).slice(0, 10).map(({ field, message }) => h("li", {}, `${field} ${message}`));
  return h(
    "div",
    { class: "card problem", role: "alert" },
    h("h3", {}, error.title ?? "The rows could not be projected"),
    h("p", {}, error.detail ?? error.message),
    errors.length ? h("ul", {}, errors) : null,
  );
}
