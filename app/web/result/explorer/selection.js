// The panel of selected rows: the columns in which they differ most from all other rows.

import { post } from "../../api.js";
import { announce, h, messageOf, replace } from "../../dom.js";
import { counted, expandable, integer, number, percent, signed, table } from "../../format.js";

const SHOWN_AT_FIRST = 8; // columns
const MAX_ROW_NUMBERS = 5_000;
const PART = 2 ** 14; // bytes that become text at a time; a call takes no more than about 100,000 arguments

// `onIsolate(isolated)` is called when the user hides or shows all other rows.
export function selectionPanel(source, { onClear, onIsolate }) {
  const isolate = h("input", { type: "checkbox", onchange: () => onIsolate(isolate.checked) });
  const element = h("section", { class: "selection card", "aria-label": "Selected rows", hidden: true });
  let requests = 0; // only the answer to the latest is shown

  async function show(mask) {
    requests += 1;
    element.hidden = mask === null;
    if (mask === null) {
      isolate.checked = false;
      return;
    }
    const request = requests;
    const rows = Array.from(source.rows).filter((_, index) => mask[index]);
    const sentence = `${counted(rows.length, "row")} of ${integer(source.rows.length)} selected`;
    const head = h(
      "div",
      { class: "row spread" },
      h("h3", {}, sentence),
      h("label", { class: "check" }, isolate, "Hide all other rows"),
      h("button", { type: "button", class: "quiet", onclick: onClear }, "Clear"),
    );
    announce(sentence);
    if (rows.length === source.rows.length)
      return replace(
        element,
        head,
        h("p", { class: "hint" }, "All rows are selected, so there are no other rows to compare them with."),
      );
    if (!source.dataset)
      return replace(
        element,
        head,
        h("p", { class: "hint" }, "The rows of the table are not stored here, so its columns cannot be compared."),
      );
    replace(element, head, h("p", { class: "hint" }, "Comparing with all other rows …"));
    try {
      const [group] = await loadDifferences(source, [rows]);
      if (request === requests)
        replace(
          element,
          head,
          h(
            "p",
            { class: "hint" },
            "The difference is the mean of the selected rows minus the mean of all other rows, in standard deviations, with its standard error. Gray: within two standard errors of 0.",
          ),
          differenceTable(group.differences),
          rowNumbers(rows),
        );
    } catch (error) {
      if (request === requests) replace(element, head, h("p", { class: "error" }, messageOf(error)));
    }
  }

  return { element, show };
}

// Asks the API how each group of rows differs from all other rows, in the features, the target and the reference.
// The rows are sent as bits: a million of them are 170 kB instead of 7 MB of numbers.
export async function loadDifferences(source, groups) {
  const { spec } = source.job;
  const known = source.dataset.columns.map(({ name }) => name);
  const features = source.result.encoding?.columns ?? spec.features ?? known; // earlier results have no encoding
  const wanted = new Set([features, spec.target, spec.reference].flat());
  return (
    await post(`/datasets/${source.dataset.id}/differences`, {
      masks: groups.map((rows) => maskOf(rows, source.dataset.rows)),
      columns: known.filter((name) => wanted.has(name)),
    })
  ).groups;
}

// Row numbers as base64 of a bit for each row of the table, the first row in the lowest bit of the first byte.
function maskOf(rows, count) {
  const bytes = new Uint8Array(Math.ceil(count / 8));
  for (const row of rows) bytes[row >> 3] |= 1 << (row & 7);
  const parts = [];
  for (let at = 0; at < bytes.length; at += PART) parts.push(String.fromCharCode(...bytes.subarray(at, at + PART)));
  return btoa(parts.join(""));
}

function differenceTable(differences) {
  const kept = differences.filter(({ difference }) => difference !== null);
  const rows = (shown) =>
    shown.map(({ column, level, group, rest, difference, error }) => [
      level === null ? column : `${column} is ${level}`,
      differenceBar({ difference, error }),
      level === null ? number(group) : percent(group),
      level === null ? number(rest) : percent(rest),
    ]);
  const heads = ["Column", "Difference", { number: "Selected rows" }, { number: "Other rows" }];
  return [
    table(heads, rows(kept.slice(0, SHOWN_AT_FIRST)), "Largest differences"),
    kept.length > SHOWN_AT_FIRST
      ? expandable(`All ${integer(kept.length)} columns`, () => table(heads, rows(kept), "All differences"))
      : null,
  ];
}

// Whether a difference may be chance alone.
export function isUnclear({ difference, error }) {
  return Number.isFinite(error) && Math.abs(difference) < 2 * error;
}

export function differenceBar({ difference, error }) {
  const kind = isUnclear({ difference, error }) ? "unclear" : difference < 0 ? "less" : "more";
  const width = `${Math.min(50, 20 * Math.abs(difference))}%`;
  const side = difference < 0 ? { right: "50%" } : { left: "50%" };
  return h(
    "span",
    { class: "difference" },
    h("span", { class: "track" }, h("span", { class: `bar ${kind}`, style: { width, ...side } })),
    Number.isFinite(error) ? `${signed(difference)} ± ${error.toFixed(2)}` : signed(difference),
  );
}

function rowNumbers(rows) {
  return expandable("Row numbers", () =>
    h("pre", {}, rows.slice(0, MAX_ROW_NUMBERS).join(", ") + (rows.length > MAX_ROW_NUMBERS ? ", …" : "")),
  );
}
