// Formats numbers, lists of names and tables.

import { h } from "./dom.js";

export function number(value, digits = 4) {
  if (typeof value === "boolean") return value ? "yes" : "no";
  if (value === null || value === undefined || !Number.isFinite(value)) return "–";
  const size = Math.abs(value);
  if (size !== 0 && (size >= 1e7 || size < 1e-3)) return value.toExponential(digits > 3 ? 2 : 1);
  const rounded = Number(value.toPrecision(digits));
  // Four digits are not grouped: they may be a year.
  return rounded.toLocaleString("en", { maximumSignificantDigits: digits, useGrouping: "min2" }).replace("-", "−");
}

export function integer(value) {
  return value.toLocaleString("en");
}

// A cell of a user's table.
export function cell(value) {
  return typeof value === "number" ? number(value, 6) : (value ?? "–");
}

export function percent(share) {
  return `${(100 * share).toFixed(1)}\u00a0%`; // a no-break space
}

export function signed(value, digits = 2) {
  return value === null || value === undefined ? "–" : `${value < 0 ? "−" : "+"}${Math.abs(value).toFixed(digits)}`;
}

export function counted(count, singular, plural = `${singular}s`) {
  return `${integer(count)} ${count === 1 ? singular : plural}`;
}

// "a, b and c"
export function listed(names) {
  return names.length < 2 ? names.join("") : `${names.slice(0, -1).join(", ")} and ${names.at(-1)}`;
}

export function compareNames(a, b) {
  return String(a).localeCompare(String(b), "en", { numeric: true });
}

// A user's text as one line; a long text loses its middle.
export function shortened(text, maxLength) {
  const line = String(text).replace(/\s+/g, " ").trim() || "(empty)";
  const letters = [...line];
  const tail = Math.floor(maxLength / 3);
  if (letters.length <= maxLength) return line;
  return [...letters.slice(0, maxLength - tail - 1), "…", ...letters.slice(-tail)].join("");
}

// A table. A column whose head is given as {number: "…"} is aligned to the right.
export function table(heads, rows, caption) {
  const right = heads.map((head) => typeof head === "object");
  return h(
    "div",
    { class: "scroll", tabindex: 0, role: "region", "aria-label": caption },
    h(
      "table",
      {},
      h("caption", { class: "visually-hidden" }, caption),
      h(
        "thead",
        {},
        h(
          "tr",
          {},
          heads.map((head, index) =>
            h("th", { scope: "col", class: right[index] ? "number" : null }, right[index] ? head.number : head),
          ),
        ),
      ),
      h(
        "tbody",
        {},
        rows.map((row) =>
          h(
            "tr",
            {},
            row.map((value, index) => h("td", { class: right[index] ? "number" : null }, value)),
          ),
        ),
      ),
    ),
  );
}

// Counts as cells, darker the larger their share of the sum.
export function shadedCells(counts) {
  const sum = counts.reduce((total, count) => total + count, 0) || 1;
  const color = (count) => `color-mix(in srgb, var(--accent) ${Math.round((40 * count) / sum)}%, transparent)`;
  return counts.map((count) =>
    h("span", { class: "shade", title: percent(count / sum), style: { background: color(count) } }, integer(count)),
  );
}

// Details whose content is built when the user opens them.
export function expandable(summary, build) {
  const details = h("details", { class: "expandable" }, h("summary", {}, summary));
  details.addEventListener("toggle", () => details.append(build()), { once: true });
  return details;
}
