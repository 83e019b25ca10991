// The picture of a result: any axes, any colors, features as arrows, rows under the hand, selections, new rows.

import { h, newId, replace } from "../../dom.js";
import { arrowsOf, reachOf } from "./biplot.js";
import { coloring } from "./colors.js";
import { exportButtons, onTheme } from "../charts/figure.js";
import { legend } from "./legend.js";
import { scatter } from "./scatter.js";
import { selectionPanel } from "./selection.js";
import { groupKind, groupTitle, isClasses } from "../data.js";
import { space } from "./scatter3d.js";
import { tip } from "./tooltip.js";

const GROUP = "\u0000group"; // no column can be called so
const NOTHING = "\u0000none";
const COARSE = window.matchMedia("(pointer: coarse)");

export function explorer(source, signal) {
  const { axes, rows, result } = source;
  const names = axes.map((_, place) => `axis ${place + 1}`);
  const height = Math.max(360, Math.min(620, Math.round(0.56 * window.innerHeight)));
  const spread = jitter(rows.length);
  const described = `${rows.length} rows in the new axes; the loadings below say which features make them.`;
  const shown = {
    first: 0,
    second: axes.length > 1 ? 1 : -1,
    third: -1,
    color: source.group ? GROUP : NOTHING,
    arrows: true,
  };
  const many = axes.length > 1;
  let colors = uniform(rows.length);
  let visible = new Array(256).fill(1); // which marks are shown
  let extra = null; // new rows, all their axes

  const selection = selectionPanel(source, () => flat.clear());
  const flat = scatter({ signal, height, described, onSelect: selection.show, onHover: hover });
  const deep = axes.length > 2 ? space({ signal, height, described, onHover: hover }) : null;
  const card = tip(source);
  const key = legend(draw);
  const stage = h("div", { class: "stage" }, flat.element, card.element);
  const problem = h("p", { class: "error", role: "alert", hidden: true });

  function hover(place, isNew, at) {
    if (place < 0) return card.hide();
    const group = !isNew && source.group ? ` · ${groupTitle(source)} ${source.group[place]}` : "";
    return card.show({ place, isNew }, isNew ? `New row ${place + 1}` : `Row ${rows[place]}${group}`, at);
  }

  function state() {
    const coordinates = (values, heights) => ({
      x: values[shown.first],
      y: values[shown.second] ?? heights,
      z: values[shown.third],
    });
    const points = { ...coordinates(axes, spread), of: colors.of, shown: visible, selected: null };
    const arrows =
      shown.arrows && many
        ? arrowsOf(result, shown.first, shown.second, reachOf(points.x, points.y), stage.clientWidth < 500)
        : () => [];
    const title = (place) => names[place] ?? "";
    return {
      points,
      extra: extra && { ...coordinates(extra, jitter(extra[0].length)), of: new Uint8Array(extra[0].length) },
      coloring: colors,
      titles: { x: title(shown.first), y: title(shown.second), z: title(shown.third) },
      arrows,
    };
  }

  function draw(fit = false) {
    const now = { ...state(), fit: fit === true };
    const isDeep = shown.third >= 0;
    const current = isDeep ? deep : flat;
    if (!stage.contains(current.element)) replace(stage, current.element, card.element);
    for (const part of [modes, ...flatOnly]) part.hidden = isDeep;
    selection.show(null);
    return current.show(now);
  }

  async function recolor() {
    problem.hidden = true;
    const asked = shown.color;
    try {
      const found = await valuesOf(asked);
      if (asked !== shown.color || signal.aborted) return;
      colors = found ? coloring(found.values, found.classes) : uniform(rows.length);
    } catch (error) {
      problem.textContent = error.detail ?? error.message;
      problem.hidden = false;
      return;
    }
    visible = new Array(256).fill(1);
    relabel();
    draw();
  }

  async function valuesOf(name) {
    if (name === NOTHING) return null;
    if (name === GROUP) return { values: source.group, classes: groupKind(source) !== "values" };
    const [values] = await source.columns([name]);
    return { values, classes: isClasses(source.dataset.columns.find((column) => column.name === name)) };
  }

  function relabel() {
    const title = shown.color === GROUP ? groupTitle(source) : shown.color === NOTHING ? "" : shown.color;
    key.show(title, colors, visible, extra ? extra[0].length : 0);
  }

  const choose = (name, act) => (event) => {
    shown[name] = Number(event.target.value);
    act();
  };
  const axisOptions = (selected, none) => [
    none ? h("option", { value: -1 }, none) : null,
    names.map((name, place) => h("option", { value: place, selected: place === selected }, name)),
  ];
  const modes = modeButtons(flat);
  const flatOnly = [
    field("Find row", h("input", { type: "number", min: 0, onchange: (event) => find(Number(event.target.value)) })),
    many
      ? h(
          "label",
          { class: "check" },
          h("input", {
            type: "checkbox",
            checked: true,
            onchange: (event) => {
              shown.arrows = event.target.checked;
              draw();
            },
          }),
          "Features as arrows",
        )
      : null,
  ].filter(Boolean);
  const controls = h(
    "div",
    { class: "controls" },
    many ? field("Across", h("select", { onchange: choose("first", draw) }, axisOptions(0))) : null,
    many ? field("Up", h("select", { onchange: choose("second", draw) }, axisOptions(1))) : null,
    deep ? field("Depth", h("select", { onchange: choose("third", draw) }, axisOptions(-1, "none"))) : null,
    field(
      "Color",
      h(
        "select",
        {
          onchange: (event) => {
            shown.color = event.target.value;
            recolor();
          },
        },
        colorOptions(source),
      ),
    ),
    flatOnly,
  );

  function find(row) {
    const place = rows.indexOf(row);
    problem.hidden = place >= 0;
    problem.textContent = `There is no row ${row} here; the first is 0, and rows that miss a value may have been left out.`;
    if (place >= 0) hover(place, false, flat.point(place));
  }

  const element = h(
    "section",
    { class: "card explorer", "aria-label": "Picture" },
    h(
      "div",
      { class: "row spread head" },
      h("h2", {}, "The rows in the new axes"),
      exportButtons(`embedding-${source.job.id}`, "Picture", async () => (shown.third >= 0 ? deep : flat).picture()),
    ),
    key.element,
    stage,
    modes,
    controls,
    problem,
    selection.element,
  );
  onTheme(relabel, signal);
  relabel();
  recolor();
  return {
    element,
    addRows(values) {
      extra = values;
      relabel();
      return draw(true);
    },
  };
}

function field(title, input) {
  const id = newId("axis");
  input.id = id;
  return h("div", { class: "field" }, h("label", { htmlFor: id }, title), input);
}

function colorOptions({ group, dataset, ...source }) {
  const title = group ? groupTitle(source) : null;
  return [
    group ? h("option", { value: GROUP, selected: true }, title) : null,
    h("option", { value: NOTHING }, "nothing"),
    dataset
      ? h(
          "optgroup",
          { label: "Columns of the table" },
          dataset.columns.map(({ name }) => h("option", { value: name }, name)),
        )
      : null,
  ];
}

function modeButtons(flat) {
  const start = COARSE.matches ? false : "lasso"; // a finger scrolls the page unless it is asked to do otherwise
  const options = [
    ["lasso", "Select"],
    ["zoom", "Zoom"],
    ["pan", "Move"],
  ];
  const buttons = options.map(([name, title]) =>
    h(
      "button",
      { type: "button", class: "small", "aria-pressed": String(name === start), onclick: () => choose(name) },
      title,
    ),
  );
  function choose(name) {
    buttons.forEach((button, place) => button.setAttribute("aria-pressed", String(options[place][0] === name)));
    flat.mode(name);
  }
  flat.begin(start);
  return h(
    "div",
    { class: "row modes", role: "group", "aria-label": "What the pointer does" },
    buttons,
    h("button", { type: "button", class: "small quiet", onclick: () => flat.reset() }, "Whole picture"),
    h("span", { class: "hint" }, "Draw around points to see what sets them apart."),
  );
}

function uniform(n) {
  return {
    kind: "classes",
    names: [],
    counts: [],
    of: new Uint8Array(n),
    marks: ({ series }) => [{ color: series[0], shape: "circle" }],
  };
}

// Heights for a single axis: the same for a row each time, and even.
function jitter(n) {
  return Float64Array.from({ length: n }, (_, place) => ((place * 0.618034) % 1) - 0.5);
}
