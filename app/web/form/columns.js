// The columns of a table: what they hold, what is missing, their first values, and which of them are features.

import { h, replace } from "../dom.js";

const AT_ONCE = 60; // rows of the table that are shown before somebody asks for more
const FILTERED = 15; // columns beyond which there is a filter

// `taken()` gives the columns that are no features now, with their part; `change()` is called when a box is ticked.
export function columnsTable(dataset, features, taken, change) {
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
  const count = h("p", { class: "hint", role: "status" });
  const error = h("p", { class: "error", hidden: true });
  let shown = AT_ONCE;

  function draw() {
    const wanted = filter.value.toLowerCase();
    const found = dataset.columns.filter((column) => column.name.toLowerCase().includes(wanted));
    replace(body, found.slice(0, shown).map(row));
    more.hidden = found.length <= shown;
    more.textContent = `Show all ${found.length.toLocaleString("en")} columns`;
    tally();
  }

  function tally() {
    const free = dataset.columns.filter((column) => !taken().has(column.name));
    const used = free.filter((column) => features.has(column.name)).length;
    count.textContent = `${used.toLocaleString("en")} of ${free.length.toLocaleString("en")} columns are features.`;
  }

  function row(column) {
    const part = taken().get(column.name);
    const box = h("input", {
      type: "checkbox",
      checked: !part && features.has(column.name),
      disabled: Boolean(part),
      "aria-label": `Use ${column.name} as a feature`,
      onchange: () => {
        features[box.checked ? "add" : "delete"](column.name);
        tally();
        change();
      },
    });
    const place = dataset.columns.indexOf(column);
    const first = dataset.preview.map((cells) => shownCell(cells[place])).join(" · ");
    return h(
      "tr",
      {},
      h("td", {}, part ? h("span", { class: "badge running" }, part) : box),
      h("th", { scope: "row", class: "name" }, column.name),
      h("td", {}, kind(column)),
      h(
        "td",
        { class: column.missing ? "number warn" : "number" },
        column.missing ? share(column.missing, dataset.rows) : "–",
      ),
      h("td", { class: "values" }, values(column)),
      h("td", { class: "preview", title: first }, first),
    );
  }

  function all(use) {
    for (const column of dataset.columns) features[use ? "add" : "delete"](column.name);
    draw();
    change();
  }

  const head = ["Feature", "Column", "Type", "Missing", "Values", "First rows"];
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
        h("button", { type: "button", class: "quiet", onclick: () => all(true) }, "Use all"),
        h("button", { type: "button", class: "quiet", onclick: () => all(false) }, "Use none"),
      ),
    ),
    dataset.columns.length > FILTERED ? filter : null,
    count,
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
            head.map((text) => h("th", { scope: "col", class: text === "Missing" ? "number" : null }, text)),
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
    error: (sentence) => {
      error.textContent = sentence ?? "";
      error.hidden = !sentence;
    },
  };
}

function kind(column) {
  if (column.constant) return "constant";
  if (column.kind === "text") return "text";
  return column.whole ? "whole number" : "number";
}

function values(column) {
  if (column.levels) {
    const levels = column.levels.slice(0, 4).join(", ");
    return column.distinct > 4 ? `${levels}, … (${column.distinct.toLocaleString("en")} different)` : levels;
  }
  if (column.minimum === null || column.minimum === undefined)
    return column.kind === "text" ? "many different" : "none";
  return `${figure(column.minimum)}\u00a0–\u00a0${figure(column.maximum)}`;
}

function share(missing, rows) {
  const percent = (100 * missing) / rows;
  return `${missing.toLocaleString("en")} (${percent < 1 ? "< 1" : Math.round(percent)} %)`;
}

function shownCell(value) {
  if (value === null) return "–";
  return typeof value === "number" ? figure(value) : value.slice(0, 40);
}

function figure(value) {
  return Number(value.toPrecision(5)).toLocaleString("en", { maximumSignificantDigits: 5 });
}
