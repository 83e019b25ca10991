// The interactive scatter plot of a result: choice of axes and colors, arrows, tooltips, selections and new rows.

import { errorLine, h, replace } from "../../dom.js";
import { counted } from "../../format.js";
import { onThemeChange } from "../../theme.js";
import { exportButtons } from "../charts/figure.js";
import { axisTitle, groupKind, groupTitle, holdsClasses, leadingAxes } from "../data.js";
import { questions } from "../rows/questions.js";
import { arrowEntries } from "./arrows.js";
import { coloring } from "./colors.js";
import {
  arrowsSelect,
  BY_GROUP,
  colorOptions,
  dragModeButtons,
  labelled,
  NO_COLOR,
  scaleCheckbox,
} from "./controls.js";
import { legend } from "./legend.js";
import { jitter } from "./points.js";
import { scatter } from "./scatter.js";
import { scatter3d } from "./scatter3d.js";
import { tooltip } from "./tooltip.js";
import { tour } from "../tour/tour.js";

const MAX_MARKS = 256; // indices of marks are bytes

// {element, drawn, linked, selectGroup(name), addRows(axes), pickNewRow(index)}; `drawn` resolves when the first picture is
// there; `linked` has other views of the same rows, or is null.
export function explorer(source, signal) {
  const { axes, rows, result } = source;
  const names = axes.map((_, index) => `axis ${index + 1}`);
  const height = Math.max(360, Math.min(620, Math.round(0.56 * window.innerHeight), window.innerWidth));
  const titles = names.map((_, index) => axisTitle(result, index));
  const isMuted = (axis) => result.contributions?.[axis]?.informative === false;
  const entries = arrowEntries(result);
  const description = `Scatter plot of ${rows.length} rows in the new axes. The loadings below show what the axes consist of.`;
  const hasTwoAxes = axes.length > 1;
  const heights = hasTwoAxes ? null : (source.picture ?? jitter(rows.length)); // the y coordinates of a single axis
  const singleTitle = source.picture ? "adds nothing, for plots only" : "";
  const [first, second] = leadingAxes(result);
  const shown = {
    x: first,
    y: second ?? -1,
    z: -1,
    color: source.group ? BY_GROUP : NO_COLOR,
    arrows: result.structure ? "structure" : "weights",
    isEqual: true,
  };
  let colors = singleColor(rows.length);
  let shownMarks = allMarks();
  let newAxes = null; // the coordinates of new rows, an array for each axis

  const asked = questions(source, {
    signal,
    onChange() {
      const { selected, isolated } = asked.marks();
      plot2d.select(selected, isolated);
      asked.show(state());
    },
    onPair(x, y) {
      Object.assign(shown, { x, y });
      for (const [name, axis] of Object.entries({ x, y })) axisSelects[name].value = String(axis);
      draw();
      element.scrollIntoView({ block: "nearest" });
    },
    onPick: (index) => pick(index, false),
  });
  const drag = tour(source, entries, ({ rows: moved, vectors, isAway, hasArrived }) => {
    const { titles, muted } = state();
    const [x, y] = tourAxes();
    const turned = { titles: { x: `axis ${x + 1}, turned`, y: `axis ${y + 1}, turned` }, muted: {} };
    const points = { ...state().points, x: moved[x], y: moved[y] };
    const arrows = { entries, canDrag: drag.canDrag, vectors };
    plot2d.move({ points, arrows, ...(isAway ? turned : { titles, muted }), hasArrived });
  });
  const tourAxes = () => (hasTwoAxes ? [shown.x, shown.y] : [0, 1]);
  const onDragArrow = (index, vector) => (vector ? drag.drag(index, vector) : undefined);
  const showAll = h("button", { type: "button", class: "small", onclick: () => plot2d.reset() }, "Show all rows");
  const outside = h("p", { class: "hint", hidden: true }, h("span", {}), showAll);
  const plot2d = scatter({
    signal,
    height,
    description,
    onSelect: (mask) => asked.select(mask),
    onHover: hover,
    onPick: pick,
    onDragArrow,
    onOutside(count) {
      outside.hidden = !count;
      outside.firstChild.textContent = `${counted(count, "row is", "rows are")} far outside this view. `;
    },
  });
  const plot3d = axes.length > 2 ? scatter3d({ signal, height, description, onHover: hover }) : null;
  const tip = tooltip(source);
  const key = legend(draw);
  const plotArea = h("div", { class: "plot-area" }, plot2d.element, tip.element);
  const problem = errorLine();
  const currentPlot = () => (shown.z >= 0 ? plot3d : plot2d);

  function hover(index, isNew, position) {
    if (index < 0) return tip.hide();
    const group = source.group && !isNew ? ` · ${groupTitle(source)} ${source.group[index]}` : "";
    return tip.show({ index, isNew }, isNew ? `New row ${index + 1}` : `Row ${rows[index]}${group}`, position);
  }

  function pick(index, isNew) {
    if (!isNew && shown.z < 0) plot2d.highlight(index);
    asked.pick(index, isNew ? newAxes.map((values) => values[index]) : null);
  }

  function coordinates(values, single) {
    return { x: values[shown.x], y: values[shown.y] ?? single, z: values[shown.z] };
  }

  function state() {
    const marks = { markIndex: colors.markIndex, shown: shownMarks, ...asked.marks() };
    const points = { ...coordinates(axes, heights), ...marks };
    const count = newAxes?.[0].length;
    return {
      points,
      newPoints: newAxes && { ...coordinates(newAxes, jitter(count)), markIndex: new Uint8Array(count) },
      coloring: colors,
      titles: { x: titles[shown.x] ?? "", y: titles[shown.y] ?? singleTitle, z: titles[shown.z] ?? "" },
      muted: { x: isMuted(shown.x), y: hasTwoAxes ? isMuted(shown.y) : Boolean(source.picture) },
      isEqual: shown.isEqual && (hasTwoAxes || Boolean(source.picture)),
      arrows:
        shown.arrows !== "none" && hasTwoAxes
          ? {
              entries,
              canDrag: drag.canDrag,
              vectors: entries.map((entry) => [entry[shown.arrows][shown.x], entry[shown.arrows][shown.y]]),
            }
          : null,
    };
  }

  // Draws the result itself, so a tour ends.
  function draw({ fit = false } = {}) {
    drag.stop();
    tip.hide();
    tourButton.setAttribute("aria-pressed", "false");
    const [plot, next] = [currentPlot(), { ...state(), fit }];
    if (!plotArea.contains(plot.element)) replace(plotArea, plot.element, tip.element);
    for (const control of [dragModes, ...controls2d]) control.hidden = plot === plot3d;
    asked.show(next);
    return plot.show(next);
  }

  async function recolor() {
    problem.hide();
    const { color } = shown;
    try {
      const found = await valuesOf(color);
      if (color !== shown.color || signal.aborted) return;
      colors = found ? coloring(found.values, found.isClasses) : singleColor(rows.length);
    } catch (error) {
      problem.show(error);
      return;
    }
    shownMarks = allMarks();
    drawLegend();
    await draw();
  }

  async function valuesOf(color) {
    if (color === NO_COLOR) return null;
    if (color === BY_GROUP) return { values: source.group, isClasses: groupKind(source) !== "values" };
    const [values] = await source.columns([color]);
    return { values, isClasses: holdsClasses(source.dataset.columns.find(({ name }) => name === color)) };
  }

  function drawLegend() {
    const title = { [BY_GROUP]: groupTitle(source), [NO_COLOR]: "" }[shown.color] ?? shown.color;
    key.show(title, colors, shownMarks, newAxes ? newAxes[0].length : 0);
  }

  function findRow(row) {
    const index = rows.indexOf(row);
    if (index < 0) {
      const why = "Rows are numbered from 0, and rows with missing values may have been left out.";
      return problem.show(new Error(`There is no row ${row} in the plot. ${why}`));
    }
    problem.hide();
    asked.pick(index);
    return hover(index, false, plot2d.highlight(index));
  }

  const axisSelects = {};
  const axisSelect = (title, name, none) => {
    const onchange = (event) => {
      shown[name] = Number(event.target.value);
      draw();
    };
    const options = names.map((text, index) => h("option", { value: index, selected: index === shown[name] }, text));
    axisSelects[name] = h("select", { onchange }, none ? h("option", { value: -1 }, none) : null, options);
    return labelled(title, axisSelects[name]);
  };
  const onColor = (event) => {
    shown.color = event.target.value;
    recolor();
  };
  const onFind = (event) => findRow(Number(event.target.value));
  const onArrows = (event) => {
    shown.arrows = event.target.value;
    draw();
  };
  const tourButton = h("button", { type: "button", class: "small", "aria-pressed": "false" }, "Tour");
  tourButton.title = "Turn the axes: drag arrows, leave a feature out, or visit other candidates.";
  tourButton.addEventListener("click", async () => {
    if (tourButton.getAttribute("aria-pressed") === "true") return draw();
    problem.hide();
    arrowsField.querySelector("select").value = shown.arrows = "weights";
    try {
      await draw();
      await drag.start(...tourAxes());
      tourButton.setAttribute("aria-pressed", "true");
    } catch (error) {
      problem.show(error);
    }
    return undefined;
  });
  const onScale = (event) => {
    shown.isEqual = event.target.checked;
    draw();
  };
  const hasPlane = hasTwoAxes || (source.picture && result.picture);
  const dragModes = dragModeButtons(plot2d, hasPlane && source.dataset ? tourButton : null);
  const controls2d = [labelled("Find row", h("input", { type: "number", min: 0, onchange: onFind }))];
  const arrowsField = arrowsSelect(shown.arrows, Boolean(result.structure), onArrows);
  if (hasTwoAxes) controls2d.push(arrowsField);
  if (hasTwoAxes || source.picture) controls2d.push(scaleCheckbox(onScale));
  const controls = h(
    "div",
    { class: "controls" },
    hasTwoAxes ? [axisSelect("X axis", "x"), axisSelect("Y axis", "y")] : null,
    plot3d ? axisSelect("Z axis", "z", "none") : null,
    labelled("Color", h("select", { onchange: onColor }, colorOptions(source))),
    controls2d,
    asked.filter,
  );
  const element = h(
    "section",
    { class: "card explorer", "aria-label": "Scatter plot" },
    h(
      "div",
      { class: "row spread head" },
      h("h2", {}, "Rows in the new axes"),
      exportButtons(`embedding-${source.job.id}`, "Scatter plot", async () => currentPlot().exportFigure()),
    ),
    key.element,
    plotArea,
    outside,
    dragModes,
    drag.element,
    controls,
    problem.element,
    asked.panels,
  );
  onThemeChange(drawLegend, signal);
  drawLegend();
  return {
    element,
    drawn: recolor().catch(problem.show).then(nextFrame),
    linked: asked.linked,
    selectGroup(name) {
      asked.selectGroup(name);
      element.scrollIntoView({ block: "start" });
    },
    addRows(coordinates) {
      newAxes = coordinates;
      drawLegend();
      return draw({ fit: true });
    },
    pickNewRow(index) {
      pick(index, true);
      element.scrollIntoView({ block: "start" });
    },
  };
}

// Resolves after the next frame has been drawn.
function nextFrame() {
  return new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)));
}

function allMarks() {
  return new Array(MAX_MARKS).fill(1);
}

function singleColor(n) {
  return {
    kind: "classes",
    names: [],
    counts: [],
    markIndex: new Uint8Array(n),
    marks: ({ series }) => [{ color: series[0], shape: "circle" }],
  };
}
