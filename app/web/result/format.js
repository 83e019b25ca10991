// Numbers and tables as people read them.

import { h } from "../dom.js";

export function number(value, digits = 4) {
  if (typeof value === "boolean") return value ? "yes" : "no";
  if (value === null || value === undefined || !Number.isFinite(value)) return "–";
  const size = Math.abs(value);
  if (size !== 0 && (size >= 1e7 || size < 1e-3)) return value.toExponential(digits > 3 ? 2 : 1);
  return Number(value.toPrecision(digits)).toLocaleString("en", { maximumSignificantDigits: digits });
}

export function cell(value) {
  return typeof value === "number" ? number(value, 6) : (value ?? "–");
}

export function percent(share) {
  return `${(100 * share).toFixed(1)}\u00a0%`; // never parted at the end of a line
}

export function signed(value, digits = 2) {
  return value === null || value === undefined ? "–" : `${value < 0 ? "−" : "+"}${Math.abs(value).toFixed(digits)}`;
}

export function counted(count, one, many = `${one}s`) {
  return `${count.toLocaleString("en")} ${count === 1 ? one : many}`;
}

// The first few of a list of names, as in "a, b and c".
export function listed(names) {
  return names.length < 2 ? names.join("") : `${names.slice(0, -1).join(", ")} and ${names.at(-1)}`;
}

// A table; columns whose head is given as {number: "…"} stand at the right.
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
          heads.map((head, place) =>
            h("th", { scope: "col", class: right[place] ? "number" : null }, right[place] ? head.number : head),
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
            row.map((value, place) => h("td", { class: right[place] ? "number" : null }, value)),
          ),
        ),
      ),
    ),
  );
}

// The same, made only when it is unfolded.
export function folded(summary, build) {
  const details = h("details", { class: "folded" }, h("summary", {}, summary));
  details.addEventListener("toggle", () => details.append(build()), { once: true });
  return details;
}
