// The controls of the scatter plot: axes, colors, arrows, scale, and what dragging does.

import { h, newId } from "../../dom.js";
import { groupTitle } from "../data.js";

export const BY_GROUP = "\u0000group"; // options of "Color" that no column can have as its name
export const NO_COLOR = "\u0000none";
const isTouchScreen = window.matchMedia("(pointer: coarse)");

export function labelled(title, input) {
  const id = newId("control");
  input.id = id;
  return h("div", { class: "field" }, h("label", { htmlFor: id }, title), input);
}

// What the arrows show: {value of `shown.arrows`: title}.
const ARROWS = { structure: "correlations", weights: "weights", none: "none" };

export function arrowsSelect(chosen, hasStructure, onchange) {
  const options = Object.entries(ARROWS)
    .filter(([value]) => hasStructure || value !== "structure")
    .map(([value, text]) => h("option", { value, selected: value === chosen }, text));
  const title =
    "Each arrow is a feature, or collinear features. Correlations: how the feature moves with the two axes. Weights: how the axes are computed from it.";
  return labelled("Arrows", h("select", { onchange, title }, options));
}

export function scaleCheckbox(onchange) {
  return h(
    "label",
    { class: "check", title: "A unit is as long on both axes, so that distances can be compared." },
    h("input", { type: "checkbox", checked: true, onchange }),
    "One scale for both axes",
  );
}

export function colorOptions({ group, dataset, job }) {
  const columns = dataset?.columns.map(({ name }) => h("option", { value: name }, name));
  return [
    group ? h("option", { value: BY_GROUP, selected: true }, groupTitle({ job })) : null,
    h("option", { value: NO_COLOR }, "none"),
    columns ? h("optgroup", { label: "Columns of the table" }, columns) : null,
  ];
}

// `more` is another button of the row, or null.
export function dragModeButtons(plot, more) {
  const first = isTouchScreen.matches ? false : "lasso"; // dragging on a touch screen scrolls the page at first
  const modes = [
    ["lasso", "Select"],
    ["zoom", "Zoom"],
    ["pan", "Move"],
  ];
  const button = ([mode, title]) =>
    h(
      "button",
      { type: "button", class: "small", "aria-pressed": String(mode === first), onclick: () => choose(mode) },
      title,
    );
  const buttons = modes.map(button);
  function choose(chosen) {
    for (const [index, [mode]] of modes.entries()) {
      buttons[index].setAttribute("aria-pressed", String(mode === chosen));
    }
    plot.setDragMode(chosen);
  }
  plot.setDragMode(first);
  return h(
    "div",
    { class: "row drag-modes", role: "group", "aria-label": "Dragging in the plot" },
    buttons,
    h("button", { type: "button", class: "small quiet", onclick: () => plot.reset() }, "Reset view"),
    more,
    h("span", { class: "hint" }, "Draw around points to compare these rows with all others."),
  );
}
