// The panel of one row: its values beside those of all other rows, its nearest rows in the axes, and how unusual it is.

import { get } from "../../api.js";
import { announce, h, messageOf, replace } from "../../dom.js";
import { cell, counted, expandable, integer, number, table } from "../../format.js";
import { groupKind, groupTitle } from "../data.js";
import { differenceBar, loadDifferences } from "../explorer/selection.js";
import { neighborhood, pointOf, unusualText } from "./neighbors.js";

const SHOWN_AT_FIRST = 8; // columns

// {element, show(row)}; a row is {index, point}, and `point` has the coordinates of a new row, or is null. `onPick(index)`
// is called for a row that is clicked.
export function rowPanel(source, onPick) {
  const element = h("section", { class: "selection card", "aria-label": "Row", hidden: true });
  let around = null;
  let shown = null;

  function hide() {
    shown = null;
    element.hidden = true;
  }

  async function show(row) {
    shown = row;
    around ??= neighborhood(source);
    const { index } = row;
    const isNew = row.point !== null;
    const title = isNew ? `New row ${index + 1}` : `Row ${integer(source.rows[index])}${groupText(source, index)}`;
    const point = row.point ?? pointOf(source.axes, index);
    const values = h("div", {}, isNew || !source.dataset ? null : h("p", { class: "hint" }, "Loading its values …"));
    element.hidden = false;
    announce(title);
    replace(
      element,
      h(
        "div",
        { class: "row spread" },
        h("h3", {}, title),
        h("button", { type: "button", class: "quiet", onclick: hide }, "Close"),
      ),
      h("p", {}, unusualText(around.unusual(point, isNew ? -1 : index))),
      h("div", { class: "grid" }, values, nearestRows(source, around.nearest(point, isNew ? -1 : index), onPick)),
    );
    if (isNew || !source.dataset) return;
    try {
      const found = await valuesOf(source, source.rows[index]);
      if (shown === row) replace(values, found);
    } catch (error) {
      if (shown === row) replace(values, h("p", { class: "error" }, messageOf(error)));
    }
  }

  return { element, show };
}

function groupText(source, index) {
  return source.group ? ` · ${groupTitle(source)} ${source.group[index]}` : "";
}

function nearestRows(source, found, onPick) {
  const hasClasses = source.group && groupKind(source) !== "values";
  const row = ({ index, distance }) => [
    h("button", { type: "button", class: "quiet small", onclick: () => onPick(index) }, integer(source.rows[index])),
    ...(source.group ? [cell(source.group[index])] : []),
    number(distance, 3),
  ];
  const heads = ["Nearest row", ...(source.group ? [groupTitle(source)] : []), { number: "Distance" }];
  return h(
    "div",
    {},
    h(
      "p",
      { class: "hint" },
      hasClasses ? `${agreement(source, found)} ` : "",
      "Distances are in the axes; an axis that adds nothing does not count.",
    ),
    table(heads, found.map(row), "Nearest rows in the axes"),
  );
}

function agreement(source, found) {
  const counts = new Map();
  for (const { index } of found) counts.set(source.group[index], (counts.get(source.group[index]) ?? 0) + 1);
  const [[name, count]] = [...counts].sort(([, a], [, b]) => b - a);
  return `${count} of the ${counted(found.length, "nearest row")} belong to ${groupTitle(source)} ${name}.`;
}

// The values of a row, those first that differ most from the mean of all other rows.
async function valuesOf(source, row) {
  const [{ columns, rows }, [group]] = await Promise.all([
    get(`/datasets/${source.dataset.id}/rows?offset=${row}&limit=1&format=json`),
    loadDifferences(source, [[row]]),
  ]);
  const compared = new Map(group.differences.map((each) => [each.column, each]));
  const size = (name) => Math.abs((compared.get(name)?.level === null && compared.get(name).difference) || 0);
  const order = columns.map((_, at) => at).sort((a, b) => size(columns[b]) - size(columns[a]));
  const lines = order.map((at) => {
    const found = compared.get(columns[at]);
    const isNumber = found && found.level === null && found.difference !== null;
    return [columns[at], cell(rows[0][at]), isNumber ? differenceBar(found) : "", isNumber ? number(found.rest) : ""];
  });
  const heads = ["Column", "Value", "In standard deviations from the mean", { number: "Mean of other rows" }];
  return [
    table(heads, lines.slice(0, SHOWN_AT_FIRST), "Values of the row"),
    lines.length > SHOWN_AT_FIRST
      ? expandable(`All ${integer(lines.length)} columns`, () => table(heads, lines, "All values of the row"))
      : null,
  ];
}
