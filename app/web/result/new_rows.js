// Projects new rows with the axes of a finished job and shows them in its scatter plot.

import { save, upload } from "../api.js";
import { announce, h, replace } from "../dom.js";
import { compareNames, counted, expandable, integer, percent, table } from "../format.js";
import { dropZone } from "../upload/drop_zone.js";
import { groupTitle } from "./data.js";
import { neighborhood, pointOf } from "./rows/neighbors.js";

const SHOWN_AT_FIRST = 5; // new rows, the most unusual first
const UNUSUAL = 0.95; // share of the table's rows that are nearer to their neighbors than an unusual row

export function newRowsSection(source, plot, signal) {
  const { job } = source;
  const outcome = h("div", { "aria-live": "polite" });
  const zone = dropZone(
    "Drop a table with new rows here, or choose a file",
    "The table needs the same feature columns, in any order. The rows are projected onto the axes and added to the scatter plot.",
    async (file) => {
      zone.showProgress(1, `Projecting ${file.name} …`);
      try {
        const found = await upload(`/jobs/${job.id}/transform?format=json`, file, { signal });
        const axes = found.columns.map((_, axis) => Float64Array.from(found.rows, (row) => row[axis]));
        replace(outcome, successCard(found, file.name, job), unusualRows(source, axes, plot.pickNewRow));
        await plot.addRows(axes);
        announce(`${counted(found.rows.length, "new row was", "new rows were")} added to the scatter plot.`);
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

// How far each new row is from its nearest rows of the table, compared with the rows of the table.
function unusualRows(source, axes, onPick) {
  const around = neighborhood(source);
  const rows = Array.from(axes[0], (_, index) => {
    const point = pointOf(axes, index);
    return { index, unusual: around.unusual(point), nearest: around.nearest(point)[0].index };
  }).sort((a, b) => b.unusual - a.unusual || compareNames(a.index, b.index));
  const count = rows.filter(({ unusual }) => unusual >= UNUSUAL).length;
  const line = ({ index, unusual, nearest }) => [
    h(
      "button",
      { type: "button", class: "quiet small", "aria-label": `Show new row ${index + 1}`, onclick: () => onPick(index) },
      integer(index + 1),
    ),
    percent(unusual),
    integer(source.rows[nearest]),
    ...(source.group ? [String(source.group[nearest] ?? "–")] : []),
  ];
  const heads = [
    "New row",
    "Unusual",
    { number: "Nearest row" },
    ...(source.group ? [`${groupTitle(source)} of the nearest row`] : []),
  ];
  const title = "The new rows, the most unusual first";
  const all = () => table(heads, rows.map(line), `All: ${title}`);
  return h(
    "div",
    { class: "card" },
    h("h3", {}, `${counted(count, "new row is", "new rows are")} unusual`),
    h(
      "p",
      { class: "hint" },
      "The percentage says how many of the table's rows lie closer to their neighbors, in the axes, than this row does. From 95 % the row is unusual.",
    ),
    table(heads, rows.slice(0, SHOWN_AT_FIRST).map(line), title),
    rows.length > SHOWN_AT_FIRST ? expandable(`All ${counted(rows.length, "new row")}`, all) : null,
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
