// A scatter plot of two axes. Plotly draws the frame and handles zoom and lasso; a canvas below it shows the points, and
// an SVG above it the arrows.

import { h } from "../../dom.js";
import { loadPlotly, PLOT_CONFIG, plotLayout } from "../../plotly.js";
import { onThemeChange, themeColors } from "../../theme.js";
import { arrowLayer } from "./arrow_layer.js";
import { drawPoints, insidePolygon, nearestPoint, radiusFor } from "./points.js";
import { exportFigure } from "./scatter_export.js";
import { coreView, equalized, fullView } from "./ranges.js";

const MARGIN = { l: 54, r: 10, t: 10, b: 46 };
const CLICK_REACH = 4; // pixels that the pointer may move during a click
const COMPACT_MARGIN = { l: 8, r: 8, t: 8, b: 8 };

// Calls `onSelect(mask or null)` and `onHover(index, isNew, position)`; the index is -1 if there is no point under the
// pointer, and `isNew` says whether the point is one of the new rows. `onPick(index, isNew)` is called for a point that
// is clicked. `onDragArrow(index, vector, isEnd)` gets the new
// components of an arrow that the user drags. With `onOutside`, the first view leaves out rows that are far from all others,
// and `onOutside(count)` gets their number; `reset()` shows them.
export function scatter({
  signal,
  onSelect = () => {},
  onHover = () => {},
  onPick = null,
  onDragArrow = null,
  onOutside = null,
  height,
  compact = false,
  description,
}) {
  const margin = compact ? COMPACT_MARGIN : MARGIN;
  const canvas = h("canvas", { "aria-hidden": "true" });
  const plot = h("div", { class: "plot", role: "img", "aria-label": description });
  const highlight = h("div", { class: "highlight", hidden: true });
  const arrows = arrowLayer(onDragArrow);
  const element = h(
    "div",
    { class: "scatter-plot", style: { height: `${height}px` } },
    canvas,
    plot,
    arrows.element,
    highlight,
  );
  let state = null;
  let view = null;
  let isWhole = true; // whether the view is chosen here, and not by the user
  let isComplete = !onOutside; // whether it then shows all points
  let dragMode = false;
  let isScheduled = false;
  let drawnSize = ""; // of the element, as it was drawn last
  let highlighted = null; // {index, isNew} of the point in the ring

  const sizeText = () => `${element.clientWidth} × ${element.clientHeight}`;
  const size = () => ({
    width: element.clientWidth - margin.l - margin.r,
    height: element.clientHeight - margin.t - margin.b,
  });

  function drawCanvas() {
    isScheduled = false;
    if (signal.aborted || !view || element.clientWidth === 0) return;
    const colors = themeColors();
    const { points, newPoints, coloring } = state;
    const layers = [
      { points, marks: coloring.marks(colors), radius: radiusFor(points.x.length) * (compact ? 0.7 : 1) },
    ];
    if (newPoints) layers.push({ points: newPoints, marks: [{ color: colors.ink, shape: "diamond" }], radius: 5 });
    for (const layer of [canvas, arrows.element])
      Object.assign(layer.style, {
        left: `${margin.l}px`,
        top: `${margin.t}px`,
        width: `${size().width}px`,
        height: `${size().height}px`,
      });
    drawPoints(canvas, size(), layers, view, colors.surface, colors.line);
    arrows.show(state.arrows, view, size(), points);
    element.dataset.drawn = String(points.x.length + (newPoints?.x.length ?? 0));
    if (highlighted && !highlight.hidden) highlightPoint(highlighted.index, highlighted.isNew);
  }

  function scheduleDraw() {
    if (!isScheduled) requestAnimationFrame(drawCanvas);
    isScheduled = true;
  }

  function layout(colors) {
    const axis = (title, range, isMuted) => {
      const hasTicks = !compact && title;
      return {
        title: { text: hasTicks ? title : "", font: { color: isMuted ? colors.soft : colors.ink } },
        tickfont: { color: isMuted ? colors.soft : colors.ink },
        range: [...range],
        fixedrange: compact,
        showticklabels: Boolean(hasTicks),
        ticks: hasTicks ? "outside" : "",
        showgrid: false,
        zeroline: false, // the canvas has one, below the points
      };
    };
    return plotLayout(colors, {
      margin,
      width: element.clientWidth,
      height: element.clientHeight,
      dragmode: compact ? false : dragMode,
      hovermode: false,
      paper_bgcolor: "rgba(0,0,0,0)",
      plot_bgcolor: "rgba(0,0,0,0)",
      newselection: { line: { color: colors.accent, width: 2, dash: "solid" } },
      xaxis: axis(state.titles.x, view.x, state.muted?.x),
      yaxis: { ...axis(state.titles.y, view.y, state.muted?.y), ...(state.isEqual ? { scaleanchor: "x" } : {}) },
      selections: [],
    });
  }

  async function drawFrame() {
    const Plotly = await loadPlotly();
    if (signal.aborted || element.clientWidth === 0) return;
    drawnSize = sizeText();
    if (isWhole) view = firstView();
    else if (state.isEqual) view = equalized(view, size());
    const hidden = { marker: { opacity: 0 } };
    const first = !plot.dataset.drawn;
    const corners = {
      type: "scatter",
      mode: "markers",
      x: view.x,
      y: view.y,
      ...hidden,
      selected: hidden,
      unselected: hidden,
      hoverinfo: "skip",
    };
    await Plotly.react(plot, [corners], layout(themeColors()), PLOT_CONFIG);
    if (first) listen();
    plot.dataset.drawn = "yes";
    scheduleDraw();
  }

  function firstView() {
    const core = isComplete ? null : coreView(state, size());
    onOutside?.(core?.outside ?? 0);
    return core?.view ?? fullView(state, size());
  }

  function listen() {
    plot.on("plotly_relayouting", followView);
    plot.on("plotly_relayout", followView);
    plot.on("plotly_doubleclick", () => reset());
    plot.on("plotly_selected", (event) => {
      if (!event?.lassoPoints && !event?.range) return; // the outline was removed
      const box = event.range && {
        x: [0, 1, 1, 0].map((end) => event.range.x[end]),
        y: [0, 0, 1, 1].map((end) => event.range.y[end]),
      };
      onSelect(insidePolygon(state.points, event.lassoPoints ?? box));
    });
    plot.on("plotly_deselect", () => onSelect(null));
  }

  function followView(change) {
    for (const name of ["x", "y"]) {
      const [low, high] = [change[`${name}axis.range[0]`], change[`${name}axis.range[1]`]];
      if (low === undefined || high === undefined) continue;
      view[name] = [low, high];
      isWhole = false;
    }
    highlight.hidden = true;
    onHover(-1, false, null);
    scheduleDraw();
  }

  // Highlights a point and returns its position. The ring follows the point until it is hidden.
  function highlightPoint(index, isNew = false) {
    highlighted = { index, isNew };
    const points = isNew ? state.newPoints : state.points;
    const { width, height: innerHeight } = size();
    const left = margin.l + ((points.x[index] - view.x[0]) / (view.x[1] - view.x[0])) * width;
    const top = margin.t + innerHeight - ((points.y[index] - view.y[0]) / (view.y[1] - view.y[0])) * innerHeight;
    Object.assign(highlight.style, { left: `${left}px`, top: `${top}px` });
    highlight.hidden = false;
    return { left, top };
  }

  // The point at the pointer as {index, isNew}; the index is -1 if there is none.
  function pointAt(event) {
    const box = element.getBoundingClientRect();
    const [across, down] = [event.clientX - box.left - margin.l, event.clientY - box.top - margin.t];
    const newIndex = state.newPoints ? nearestPoint(state.newPoints, view, size(), across, down) : -1;
    if (newIndex >= 0) return { index: newIndex, isNew: true };
    return { index: nearestPoint(state.points, view, size(), across, down), isNew: false };
  }

  // Plotly covers the page while a button is down, so the end of a click is seen at the window only. A lasso that ends
  // where it began is no click.
  let pressed = null;
  const isAway = (event) => Math.hypot(event.clientX - pressed.clientX, event.clientY - pressed.clientY) > CLICK_REACH;
  element.addEventListener(
    "pointerdown",
    (event) => {
      pressed = event.button === 0 && !event.target.dataset.index ? event : null;
    },
    true,
  );
  window.addEventListener(
    "pointermove",
    (event) => {
      if (pressed && isAway(event)) pressed = null;
    },
    { capture: true, signal },
  );
  window.addEventListener(
    "pointerup",
    (event) => {
      const isClick = pressed && !isAway(event);
      pressed = null;
      if (!isClick || !view || !onPick) return;
      const { index, isNew } = pointAt(event);
      if (index >= 0) onPick(index, isNew);
    },
    { capture: true, signal },
  );
  element.addEventListener("pointermove", (event) => {
    if (!view || event.buttons) return;
    const { index, isNew } = pointAt(event);
    if (index < 0) highlight.hidden = true;
    onHover(index, isNew, index < 0 ? null : highlightPoint(index, isNew));
  });
  element.addEventListener("pointerleave", () => {
    highlight.hidden = true;
    onHover(-1, false, null);
  });

  function reset() {
    isWhole = true;
    isComplete = true;
    onHover(-1, false, null);
    drawFrame();
  }

  const resizeObserver = new ResizeObserver(() => {
    if (state && drawnSize !== sizeText()) drawFrame();
  });
  resizeObserver.observe(element);
  onThemeChange(() => {
    if (state) drawFrame();
  }, signal);
  signal.addEventListener(
    "abort",
    () => {
      resizeObserver.disconnect();
      if (plot.dataset.drawn) window.Plotly.purge(plot);
    },
    { once: true },
  );

  return {
    element,
    reset,
    // Draws a new state. The view stays as it is if the points are the same.
    show(next) {
      const same = state && next.points.x === state.points.x && next.points.y === state.points.y && !next.fit;
      const isScaled = state && next.isEqual !== state.isEqual;
      state = next;
      if (!same || isScaled) isWhole = true;
      return drawFrame();
    },
    // Draws points and arrows that have moved, in the same view until they have arrived.
    move({ points, arrows, titles, muted, hasArrived }) {
      const hasNewTitles = titles.x !== state.titles.x || titles.y !== state.titles.y;
      state = { ...state, points, titles, muted, arrows };
      isWhole = hasArrived;
      return hasArrived || hasNewTitles ? drawFrame() : scheduleDraw();
    },
    // What dragging does: "lasso", "zoom", "pan" or false.
    setDragMode(mode) {
      dragMode = mode;
      if (state) drawFrame();
    },
    // Draws these points above all others, or all alike; without a selection its outline goes too.
    select(mask, isolated) {
      Object.assign(state.points, { selected: mask, isolated });
      scheduleDraw();
      return mask ? undefined : drawFrame();
    },
    highlight: (index) => highlightPoint(index),
    exportFigure: () => {
      const fit = (shown, frame) => (state.isEqual ? equalized(shown, frame) : shown);
      return exportFigure(state, view, fit, themeColors());
    },
  };
}
