// What sets the rows within a lasso apart: the features that differ most from the rest.

import { post } from "../../api.js";
import { announce, h, replace } from "../../dom.js";
import { counted, folded, number, percent, signed, table } from "../format.js";

const SHOWN = 8;

export function selectionPanel(source, onClear) {
  const element = h("section", { class: "selection card", "aria-label": "Selected rows", hidden: true });
  let asked = 0;

  async function show(mask) {
    asked += 1;
    element.hidden = mask === null;
    if (mask === null) return;
    const mine = asked;
    const rows = Array.from(source.rows).filter((_, place) => mask[place]);
    const sentence = `${counted(rows.length, "row")} of ${source.rows.length.toLocaleString("en")} selected`;
    const head = h(
      "div",
      { class: "row spread" },
      h("h3", {}, sentence),
      h("button", { type: "button", class: "quiet", onclick: onClear }, "Clear"),
    );
    announce(sentence);
    if (rows.length === source.rows.length)
      return replace(element, head, h("p", { class: "hint" }, "There is no rest to compare with."));
    if (!source.dataset)
      return replace(
        element,
        head,
        h("p", { class: "hint" }, "The table has been deleted, so its columns cannot be compared."),
      );
    replace(element, head, h("p", { class: "hint" }, "Comparing with the rest …"));
    try {
      const [group] = await compared(source, [rows]);
      if (mine === asked)
        replace(
          element,
          head,
          h("p", { class: "hint" }, "How they differ from all other rows, in standard deviations."),
          differenceTable(group.differences),
          list(rows),
        );
    } catch (error) {
      if (mine === asked) replace(element, head, h("p", { class: "error" }, error.detail ?? error.message));
    }
  }

  return { element, show };
}

// The differences of groups of rows from the rest, by the API; the columns that were learnt from, and the target.
export async function compared(source, groups) {
  const { spec } = source.job;
  const known = source.dataset.columns.map(({ name }) => name);
  const wanted = spec.features ? new Set([...spec.features, spec.target, spec.reference].flat()) : new Set(known);
  return (
    await post(`/datasets/${source.dataset.id}/differences`, {
      groups,
      columns: known.filter((name) => wanted.has(name)),
    })
  ).groups;
}

export function differenceTable(differences, most = SHOWN) {
  const kept = differences.filter(({ difference }) => difference !== null);
  const rows = (some) =>
    some.map(({ column, level, group, rest, difference }) => [
      level === null ? column : `${column} is ${level}`,
      bar(difference),
      level === null ? number(group) : percent(group),
      level === null ? number(rest) : percent(rest),
    ]);
  const heads = ["Column", "Difference", { number: "Here" }, { number: "Elsewhere" }];
  return [
    table(heads, rows(kept.slice(0, most)), "Largest differences"),
    kept.length > most
      ? folded(`All ${kept.length.toLocaleString("en")} columns`, () => table(heads, rows(kept), "All differences"))
      : null,
  ];
}

function bar(difference) {
  const width = `${Math.min(50, 20 * Math.abs(difference))}%`;
  const side = difference < 0 ? { right: "50%" } : { left: "50%" };
  return h(
    "span",
    { class: "difference" },
    h(
      "span",
      { class: "track" },
      h("span", { class: difference < 0 ? "bar less" : "bar more", style: { width, ...side } }),
    ),
    signed(difference),
  );
}

function list(rows) {
  return folded("Their row numbers", () =>
    h("pre", {}, rows.slice(0, 5_000).join(", ") + (rows.length > 5_000 ? ", …" : "")),
  );
}
