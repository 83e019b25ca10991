// The table of columns: type, missing values and first values of each, and a checkbox to use it as a feature.

import { h, replace } from "../dom.js";
import { integer, number, shortened } from "../format.js";

const SHOWN_AT_FIRST = 60; // columns
const FILTER_FROM = 15; // a table with more columns gets a search field
const SHOWN_LEVELS = 4; // values of a text column
const LEVEL_LENGTH = 20; // characters of each

// `features` is the set of names that the checkboxes change. `roles()` returns the columns that cannot be features now,
// as a map of name to role ("target", …). `onChange()` is called when a checkbox changes.
export function columnsTable(dataset, features, roles, onChange) {
  const body = h("tbody");
  const more = h("button", {
    type: "button",
    hidden: true,
    onclick: () => {
      shown = Infinity;
      draw();
    },
  });
  const filter = h("input", {
    type: "search",
    placeholder: "Find a column",
    "aria-label": "Find a column",
    oninput: draw,
  });
  const total = h("p", { class: "hint", role: "status" });
  const error = h("p", { class: "error", hidden: true });
  let shown = SHOWN_AT_FIRST;

  function draw() {
    const wanted = filter.value.toLowerCase();
    const found = dataset.columns.filter((column) => column.name.toLowerCase().includes(wanted));
    replace(body, found.slice(0, shown).map(row));
    more.hidden = found.length <= shown;
    more.textContent = `Show all ${integer(found.length)} columns`;
    count();
  }

  function count() {
    const free = dataset.columns.filter((column) => !roles().has(column.name));
    const used = free.filter((column) => features.has(column.name)).length;
    total.textContent = `${integer(used)} of ${integer(free.length)} columns are used as features.`;
  }

  function row(column) {
    const role = roles().get(column.name);
    const box = h("input", {
      type: "checkbox",
      checked: !role && features.has(column.name),
      disabled: Boolean(role),
      "aria-label": `Use ${column.name} as a feature`,
      onchange: () => {
        features[box.checked ? "add" : "delete"](column.name);
        count();
        onChange();
      },
    });
    const index = dataset.columns.indexOf(column);
    const first = dataset.preview.map((cells) => shortCell(cells[index])).join(" · ");
    return h(
      "tr",
      {},
      h("td", {}, role ? h("span", { class: "badge running" }, role) : box),
      h("th", { scope: "row", class: "name" }, column.name, role || !column.reason ? null : hint(column.reason)),
      h("td", {}, typeOf(column)),
      h(
        "td",
        { class: column.missing ? "number warn" : "number" },
        column.missing ? missingShare(column.missing, dataset.rows) : "–",
      ),
      h("td", { class: "values" }, valuesOf(column)),
      h("td", { class: "preview", title: first }, first),
    );
  }

  function useAll(use) {
    for (const column of dataset.columns) features[use ? "add" : "delete"](column.name);
    draw();
    onChange();
  }

  const heads = ["Feature", "Column", "Type", "Missing", "Values", "First rows"];
  const element = h(
    "section",
    { class: "card columns", "data-field": "features" },
    h(
      "div",
      { class: "row spread" },
      h("h2", {}, "Columns"),
      h(
        "div",
        { class: "row" },
        h("button", { type: "button", class: "quiet", onclick: () => useAll(true) }, "Use all"),
        h("button", { type: "button", class: "quiet", onclick: () => useAll(false) }, "Use none"),
      ),
    ),
    dataset.columns.length > FILTER_FROM ? filter : null,
    total,
    error,
    h(
      "div",
      { class: "scroll", tabIndex: 0, role: "region", "aria-label": "Columns of the table" },
      h(
        "table",
        {},
        h(
          "thead",
          {},
          h(
            "tr",
            {},
            heads.map((text) => h("th", { scope: "col", class: text === "Missing" ? "number" : null }, text)),
          ),
        ),
        body,
      ),
    ),
    more,
  );
  draw();
  return {
    name: "features",
    element,
    control: element,
    draw,
    showError: (message) => {
      error.textContent = message ?? "";
      error.hidden = !message;
    },
  };
}

// Why the column is not proposed as a feature.
function hint(reason) {
  return h("span", { class: "hint block" }, `Left out: ${reason}.`);
}

function typeOf(column) {
  if (column.constant) return "constant";
  if (column.date_format) return "date";
  if (column.kind === "text") return "text";
  return column.whole ? "integer" : "number";
}

function valuesOf(column) {
  if (column.levels) {
    const levels = column.levels
      .slice(0, SHOWN_LEVELS)
      .map((level) => shortened(level, LEVEL_LENGTH))
      .join(", ");
    return column.distinct > SHOWN_LEVELS ? `${levels}, … (${integer(column.distinct)} distinct values)` : levels;
  }
  if (column.minimum === null || column.minimum === undefined)
    return column.kind === "text" ? "many distinct values" : "no values";
  return `${number(column.minimum, 5)}\u00a0–\u00a0${number(column.maximum, 5)}`;
}

function missingShare(missing, rows) {
  const percent = (100 * missing) / rows;
  return `${integer(missing)} (${percent < 1 ? "< 1" : Math.round(percent)} %)`;
}

function shortCell(value) {
  if (value === null) return "–";
  return typeof value === "number" ? number(value, 5) : value.slice(0, 40);
}
