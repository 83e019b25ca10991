// A scatter of two axes: plotly draws the frame, zooms and takes the lasso, the points are on a canvas beneath it.

import { h } from "../../dom.js";
import { CONFIG, layoutOf, plotly, theme } from "../../plotly.js";
import { onTheme } from "../charts/figure.js";
import { drawPoints, nearest, radius, within } from "./points.js";
import { pictureOf } from "./scatter_export.js";

const MARGIN = { l: 54, r: 10, t: 10, b: 46 };
const COMPACT = { l: 8, r: 8, t: 8, b: 8 };

// `onSelect(mask or null)`, `onHover(place, extra)`; -1 is no point, and `extra` tells that the point is one of the new rows.
export function scatter({ signal, onSelect = () => {}, onHover = () => {}, height, compact = false, described }) {
  const margin = compact ? COMPACT : MARGIN;
  const canvas = h("canvas", { "aria-hidden": "true" });
  const plot = h("div", { class: "plot", role: "img", "aria-label": described });
  const ring = h("div", { class: "ring", hidden: true });
  const element = h("div", { class: "picture", style: { height: `${height}px` } }, canvas, plot, ring);
  let state = null;
  let view = null;
  let mode = false;
  let waiting = false;

  const size = () => ({
    width: element.clientWidth - margin.l - margin.r,
    height: element.clientHeight - margin.t - margin.b,
  });

  function draw() {
    waiting = false;
    if (signal.aborted || !view || element.clientWidth === 0) return;
    const colors = theme();
    const { points, extra, coloring } = state;
    const layers = [{ points, marks: coloring.marks(colors), radius: radius(points.x.length) * (compact ? 0.7 : 1) }];
    if (extra) layers.push({ points: extra, marks: [{ color: colors.ink, shape: "diamond" }], radius: 5 });
    Object.assign(canvas.style, {
      left: `${margin.l}px`,
      top: `${margin.t}px`,
      width: `${size().width}px`,
      height: `${size().height}px`,
    });
    drawPoints(canvas, size(), layers, view, colors.surface);
    element.dataset.drawn = String(points.x.length + (extra?.x.length ?? 0));
  }

  function soon() {
    if (!waiting) requestAnimationFrame(draw);
    waiting = true;
  }

  function layout(colors) {
    const axis = (title, range) => {
      // without a title there is nothing to read off
      const read = !compact && title;
      return {
        title: { text: read ? title : "" },
        range: [...range],
        fixedrange: compact,
        showticklabels: Boolean(read),
        ticks: read ? "outside" : "",
        showgrid: false,
      };
    };
    return layoutOf(colors, {
      margin,
      width: element.clientWidth,
      height: element.clientHeight,
      dragmode: compact ? false : mode,
      hovermode: false,
      paper_bgcolor: "rgba(0,0,0,0)",
      plot_bgcolor: "rgba(0,0,0,0)",
      newselection: { line: { color: colors.accent, width: 2, dash: "solid" } },
      xaxis: axis(state.titles.x, view.x),
      yaxis: axis(state.titles.y, view.y),
      annotations: state.arrows(colors),
      selections: [],
    });
  }

  async function frame() {
    const Plotly = await plotly();
    if (signal.aborted || element.clientWidth === 0) return;
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
    await Plotly.react(plot, [corners], layout(theme()), CONFIG);
    if (first) listen();
    plot.dataset.drawn = "yes";
    soon();
  }

  function listen() {
    plot.on("plotly_relayouting", (change) => follow(change));
    plot.on("plotly_relayout", (change) => follow(change));
    plot.on("plotly_doubleclick", () => reset());
    plot.on("plotly_selected", (event) => {
      if (!event?.lassoPoints && !event?.range) return; // the outline was taken away
      const box = event.range && {
        x: [0, 1, 1, 0].map((end) => event.range.x[end]),
        y: [0, 0, 1, 1].map((end) => event.range.y[end]),
      };
      select(within(state.points, event.lassoPoints ?? box));
    });
    plot.on("plotly_deselect", () => select(null));
  }

  function follow(change) {
    for (const name of ["x", "y"]) {
      const [low, high] = [change[`${name}axis.range[0]`], change[`${name}axis.range[1]`]];
      if (low !== undefined && high !== undefined) view[name] = [low, high];
    }
    ring.hidden = true;
    soon();
  }

  function select(mask) {
    const any = mask && mask.includes(1) ? mask : null;
    state.points.selected = any;
    soon();
    onSelect(any);
  }

  function mark(points, at) {
    const { width, height: tall } = size();
    const left = margin.l + ((points.x[at] - view.x[0]) / (view.x[1] - view.x[0])) * width;
    const top = margin.t + tall - ((points.y[at] - view.y[0]) / (view.y[1] - view.y[0])) * tall;
    Object.assign(ring.style, { left: `${left}px`, top: `${top}px` });
    ring.hidden = false;
    return { left, top };
  }

  element.addEventListener("pointermove", (event) => {
    if (!view || event.buttons) return;
    const box = element.getBoundingClientRect();
    const [across, down] = [event.clientX - box.left - margin.l, event.clientY - box.top - margin.t];
    const extra = state.extra ? nearest(state.extra, view, size(), across, down) : -1;
    const at = extra >= 0 ? extra : nearest(state.points, view, size(), across, down);
    if (at < 0) ring.hidden = true;
    onHover(at, extra >= 0, at < 0 ? null : mark(extra >= 0 ? state.extra : state.points, at));
  });
  element.addEventListener("pointerleave", () => {
    ring.hidden = true;
    onHover(-1, false, null);
  });

  function reset() {
    view = whole(state);
    frame();
  }

  const watch = new ResizeObserver(() => {
    if (state) frame();
  });
  watch.observe(element);
  onTheme(() => {
    if (state) frame();
  }, signal);
  signal.addEventListener(
    "abort",
    () => {
      watch.disconnect();
      if (plot.dataset.drawn) window.Plotly.purge(plot);
    },
    { once: true },
  );

  return {
    element,
    reset,
    // A new state keeps what is seen of the axes unless they are others.
    show(next) {
      const same = state && view && next.points.x === state.points.x && next.points.y === state.points.y && !next.fit;
      state = next;
      if (!same) view = whole(state);
      return frame();
    },
    redraw: soon,
    begin(name) {
      mode = name;
    },
    mode(name) {
      mode = name;
      return frame();
    },
    clear() {
      select(null);
      return frame();
    },
    point(at) {
      return mark(state.points, at);
    },
    picture: () => pictureOf(state, view, theme()),
  };
}

// What shows all points, with some room around them.
function whole({ points, extra }) {
  const range = (name) => {
    let [low, high] = [Infinity, -Infinity];
    for (const values of [points[name], extra?.[name] ?? []])
      for (const value of values) [low, high] = [Math.min(low, value), Math.max(high, value)];
    if (!Number.isFinite(low)) return [-1, 1];
    const room = 0.06 * (high - low || 1);
    return [low - room, high + room];
  };
  return { x: range("x"), y: range("y") };
}
