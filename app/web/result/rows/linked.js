// Views that are linked with the scatter plot: small plots of other pairs of axes, and the distribution of a column. A
// selection in one is shown in all.

import { errorLine, h } from "../../dom.js";
import { onThemeChange, themeColors } from "../../theme.js";
import { columnOf, rankedFeatures } from "../data.js";
import { labelled } from "../explorer/controls.js";
import { drawPoints, insidePolygon, radiusFor } from "../explorer/points.js";
import { fullView } from "../explorer/ranges.js";
import { histogram } from "./histogram.js";

const MAX_PAIRS = 6;
const MAX_DISTRIBUTIONS = 3; // if there are no small plots
const MAX_RANKED = 20; // features whose columns are looked for
const HOW_TO_SELECT = "Drag over rows or bars to select them in all views.";
const HEIGHT = 200; // pixels
const MAX_DRAWN = 50_000; // rows in a small plot
const LEAST_DRAG = 4; // pixels; a shorter one is a click

// {element, show({points, coloring})}: `points` has markIndex, shown and selected as in the scatter plot. `onSelect(mask)` is called
// for a selection here, `onPair(x, y)` for a pair of axes that is clicked. The views are null if there are none.
export function linkedViews(source, { onSelect, onPair, signal }) {
  const { axes, result } = source;
  const share = (axis) => result.contributions?.[axis]?.share ?? 0;
  const pairs = axes
    .flatMap((_, x) => axes.slice(x + 1).map((__, rest) => [x, x + 1 + rest]))
    .sort(([a, b], [c, d]) => share(c) + share(d) - share(a) - share(b))
    .slice(0, MAX_PAIRS);
  const plots = axes.length > 2 ? pairs.map((pair) => pairPlot(source, pair, { onSelect, onPair })) : [];
  const columns = source.dataset?.columns.filter(({ constant }) => !constant) ?? [];
  if (!plots.length && !columns.length) return null;
  const chosen = firstColumns(source, columns).slice(0, plots.length ? 1 : MAX_DISTRIBUTIONS);
  const distributions = chosen.map((name) => distribution(source, columns, name, onSelect, signal));
  const views = [...distributions, ...plots];
  let state = null;
  let isVisible = false;

  function draw() {
    if (!state || !isVisible || signal.aborted) return;
    for (const view of views) view.draw(state);
  }

  const element = h(
    "section",
    { "aria-label": "Linked views" },
    h("h2", {}, "The same rows in other views"),
    h("p", { class: "hint" }, plots.length ? `${HOW_TO_SELECT} Click a small plot to enlarge it.` : HOW_TO_SELECT),
    h(
      "div",
      { class: "grid linked" },
      views.map((view) => view.element),
    ),
  );
  const observer = new IntersectionObserver(
    (entries) => {
      if (!entries.some((entry) => entry.isIntersecting)) return;
      observer.disconnect();
      isVisible = true;
      draw();
      for (const each of distributions) each.load();
    },
    { rootMargin: "200px" },
  );
  observer.observe(element);
  const sizes = new ResizeObserver(draw);
  sizes.observe(element);
  const stop = () => {
    observer.disconnect();
    sizes.disconnect();
  };
  signal.addEventListener("abort", stop, { once: true });
  onThemeChange(draw, signal);
  return {
    element,
    show(next) {
      state = next;
      draw();
    },
  };
}

// The columns of the most important features.
function firstColumns({ result }, columns) {
  const names = columns.map(({ name }) => name);
  const ranked = rankedFeatures(result)
    .slice(0, MAX_RANKED)
    .map(([feature]) => columnOf(feature, names));
  return [...new Set([...ranked.filter(Boolean), ...names])];
}

// The distribution of a column that the user chooses: {element, load(), draw(state)}.
function distribution(source, columns, first, onSelect, signal) {
  const problem = errorLine();
  const bars = histogram(onSelect);
  const choice = h(
    "select",
    { onchange: () => load() },
    columns.map(({ name }) => h("option", { value: name, selected: name === first }, name)),
  );
  let values = null;
  let state = null;

  async function load() {
    problem.hide();
    bars.element.hidden = false;
    const name = choice.value;
    try {
      const [found] = await source.columns([name]);
      if (choice.value !== name || signal.aborted) return;
      values = found;
      draw(state);
    } catch (error) {
      if (signal.aborted) return;
      bars.element.hidden = true;
      problem.show(error);
    }
  }

  function draw(next) {
    state = next;
    if (values && state) bars.draw(choice.value, values, state);
  }

  return {
    element: h("figure", { class: "card" }, labelled("Distribution of", choice), bars.element, problem.element),
    load,
    draw,
  };
}

function pairPlot(source, [x, y], { onSelect, onPair }) {
  const title = `axis ${x + 1} and axis ${y + 1}`;
  const canvas = h("canvas", { role: "img", "aria-label": `Rows in ${title}`, style: { height: `${HEIGHT}px` } });
  const box = h("div", { class: "brush", hidden: true });
  const area = h("div", { class: "plot-area" }, canvas, box);
  const name = h("button", { type: "button", class: "quiet small", onclick: () => onPair(x, y) }, title);
  let points = null;
  let view = null;
  let start = null;

  const size = () => ({ width: Math.max(canvas.clientWidth, 100), height: HEIGHT });
  const at = (event) => {
    const frame = canvas.getBoundingClientRect();
    return [event.clientX - frame.left, event.clientY - frame.top];
  };
  area.addEventListener("pointerdown", (event) => {
    if (event.pointerType === "touch") return; // dragging scrolls the page
    start = at(event);
    area.setPointerCapture(event.pointerId);
  });
  area.addEventListener("pointermove", (event) => {
    if (!start) return;
    const end = at(event);
    const [left, top] = [0, 1].map((side) => Math.min(start[side], end[side]));
    const [width, height] = [0, 1].map((side) => Math.abs(start[side] - end[side]));
    Object.assign(box.style, { left: `${left}px`, top: `${top}px`, width: `${width}px`, height: `${height}px` });
    box.hidden = Math.max(width, height) < LEAST_DRAG;
  });
  area.addEventListener("pointerup", (event) => {
    const [from, to] = [start, at(event)];
    start = null;
    if (!from) return;
    if (box.hidden) return onPair(x, y);
    box.hidden = true;
    const { width, height } = size();
    const across = (value) => view.x[0] + (value / width) * (view.x[1] - view.x[0]);
    const up = (value) => view.y[1] - (value / height) * (view.y[1] - view.y[0]);
    const corners = { x: [from[0], to[0], to[0], from[0]].map(across), y: [from[1], from[1], to[1], to[1]].map(up) };
    return onSelect(insidePolygon(points, corners));
  });

  return {
    element: h("figure", { class: "card" }, h("figcaption", {}, name), area),
    draw(state) {
      const colors = themeColors();
      points = { ...state.points, x: source.axes[x], y: source.axes[y] };
      view = fullView({ points, isEqual: true }, size());
      const drawn = sampled(points);
      const layer = { points: drawn, marks: state.coloring.marks(colors), radius: 0.7 * radiusFor(drawn.x.length) };
      drawPoints(canvas, size(), [layer], view, colors.surface);
      canvas.dataset.drawn = String(points.x.length);
    },
  };
}

// Every k-th point, if there are many.
function sampled(points) {
  const step = Math.ceil(points.x.length / MAX_DRAWN);
  if (step === 1) return points;
  const thin = (values) => values?.filter((_, index) => index % step === 0);
  const { x, y, markIndex, selected } = points;
  return { ...points, x: thin(x), y: thin(y), markIndex: thin(markIndex), selected: thin(selected) };
}
