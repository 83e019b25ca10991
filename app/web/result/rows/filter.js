// Selects rows by the values of a column: a level, a range of numbers, or a part of a text.

import { errorLine, h, replace } from "../../dom.js";
import { labelled } from "../explorer/controls.js";
import { holdsClasses } from "../data.js";
import { compareNames, number } from "../../format.js";

const MAX_LEVELS = 60; // a column with more is searched by a part of its text
const MISSING = "\u0000missing"; // option that no level can have as its name

// {elements, problem, reset()}; `onSelect(mask)` gets null if no condition is left.
export function rowFilter(source, onSelect) {
  const problem = errorLine();
  const condition = h("div", { class: "field", hidden: true });
  const columns = source.dataset.columns.filter(({ constant }) => !constant);
  const choice = h(
    "select",
    { onchange: () => choose(choice.value) },
    h("option", { value: "" }, "–"),
    columns.map(({ name }) => h("option", { value: name }, name)),
  );
  let chosen = ""; // the column whose values have been loaded last

  async function choose(name) {
    chosen = name;
    problem.hide();
    condition.hidden = true;
    onSelect(null);
    if (!name) return;
    try {
      const [values] = await source.columns([name]);
      if (chosen !== name) return;
      replace(
        condition,
        conditionOf(
          columns.find((column) => column.name === name),
          values,
          apply,
        ),
      );
      condition.hidden = false;
    } catch (error) {
      problem.show(error);
    }
  }

  // `isWanted` is a function of a value, or null if there is no condition.
  function apply(values, isWanted) {
    const mask = isWanted && Uint8Array.from(values, (value) => Number(isWanted(value)));
    problem.hide();
    if (mask && !mask.includes(1)) problem.show(new Error("No row in the plot has such a value."));
    onSelect(mask);
  }

  return {
    elements: [labelled("Select rows by", choice), condition],
    problem: problem.element,
    reset() {
      chosen = choice.value = "";
      condition.hidden = true;
      problem.hide();
    },
  };
}

function conditionOf(column, values, apply) {
  if (holdsClasses(column) && (column.distinct ?? Infinity) <= MAX_LEVELS) return levelChoice(values, apply);
  return column.kind === "number" ? numberRange(column, values, apply) : partOfText(values, apply);
}

function levelChoice(values, apply) {
  const levels = [...new Set(values)].filter((value) => value !== null).sort(compareNames);
  const onchange = ({ target }) => {
    const wanted = { "": null, [MISSING]: (value) => value === null }[target.value];
    apply(values, wanted === undefined ? (value) => value !== null && String(value) === target.value : wanted);
  };
  const choice = h(
    "select",
    { onchange },
    h("option", { value: "" }, "choose a value"),
    levels.map((level) => h("option", { value: String(level) }, String(level))),
    values.includes(null) ? h("option", { value: MISSING }, "missing") : null,
  );
  return labelled("Value", choice);
}

function numberRange({ minimum, maximum }, values, apply) {
  const onchange = () => {
    const [low, high] = [from, to].map(({ value }) => (value.trim() === "" ? null : Number(value)));
    if (low === null && high === null) return apply(values, null);
    return apply(
      values,
      (value) => typeof value === "number" && value >= (low ?? -Infinity) && value <= (high ?? Infinity),
    );
  };
  const input = (label, limit) =>
    h("input", { type: "number", step: "any", placeholder: number(limit), "aria-label": label, onchange });
  const [from, to] = [input("At least", minimum), input("At most", maximum)];
  return [h("span", { class: "label" }, "From – to"), h("span", { class: "range" }, from, to)];
}

function partOfText(values, apply) {
  const onchange = ({ target }) => {
    const part = target.value.trim().toLowerCase();
    apply(values, part ? (value) => value !== null && String(value).toLowerCase().includes(part) : null);
  };
  return labelled("Contains", h("input", { type: "search", onchange }));
}
