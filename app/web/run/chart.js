// A line chart that is redrawn as points arrive. It is plain SVG, so that it shows at once, before Plotly is loaded.

import { h, replace, svg } from "../dom.js";
import { number } from "../format.js";

const HEIGHT = 220;
const MARGIN = { left: 64, right: 14, top: 12, bottom: 30 };
const MAX_POINTS = 600; // on a line; more points than pixels only cost time
const MAX_LINES = 8; // the stylesheet has this many colors

export function lineChart(title, note) {
  const drawing = svg("svg", { role: "img", class: "chart", height: HEIGHT });
  const element = h(
    "figure",
    { class: "card", hidden: true }, // until it has points
    h("figcaption", {}, h("h2", {}, title), h("p", { class: "hint" }, note)),
    drawing,
  );
  let xs = [];
  let lines = [];
  let isScheduled = false;

  function draw() {
    isScheduled = false;
    const width = Math.max(drawing.clientWidth, 200);
    const shown = lines
      .slice(0, MAX_LINES)
      .map((line) => line.map((y, index) => [xs[index], y]).filter(([, y]) => Number.isFinite(y)));
    const scales = scalesOf(shown.flat(), width);
    drawing.setAttribute("viewBox", `0 0 ${width} ${HEIGHT}`);
    drawing.setAttribute("aria-label", describe(title, xs, lines));
    if (!scales) return replace(drawing);
    return replace(
      drawing,
      axes(scales, width),
      shown.map((line, index) => polyline(line, scales, index)),
    );
  }

  function scheduleDraw() {
    if (!isScheduled) requestAnimationFrame(draw);
    isScheduled = true;
  }

  new ResizeObserver(scheduleDraw).observe(drawing);
  return {
    element,
    show: (newXs, newLines) => {
      xs = newXs;
      lines = newLines;
      element.hidden = !xs.length;
      scheduleDraw();
    },
  };
}

function scalesOf(points, width) {
  if (!points.length) return null;
  const [left, right] = extent(points.map(([x]) => x));
  const [low, high] = extent(points.map(([, y]) => y));
  const padding = (high - low || Math.abs(high) || 1) * 0.06;
  const across = width - MARGIN.left - MARGIN.right;
  const down = HEIGHT - MARGIN.top - MARGIN.bottom;
  return {
    left,
    right,
    low,
    high,
    x: (value) => MARGIN.left + (across * (value - left)) / (right - left || 1),
    y: (value) => MARGIN.top + down * (1 - (value - low + padding) / (high - low + 2 * padding)),
  };
}

function extent(values) {
  return values.reduce(([low, high], value) => [Math.min(low, value), Math.max(high, value)], [Infinity, -Infinity]);
}

function axes({ left, right, low, high, x, y }, width) {
  const label = (text, at, anchor) => svg("text", { ...at, "text-anchor": anchor, class: "tick" }, text);
  const rule = (value) =>
    svg("line", { x1: MARGIN.left, x2: width - MARGIN.right, y1: y(value), y2: y(value), class: "rule" });
  const heights = high > low ? [low, high] : [high];
  const ends = right > left ? [left, right] : [left];
  return [
    heights.map((value) => [rule(value), label(number(value, 5), { x: MARGIN.left - 8, y: y(value) + 4 }, "end")]),
    ends.map((value, index) => label(String(value), { x: x(value), y: HEIGHT - 8 }, index ? "end" : "start")),
    label("iteration", { x: (MARGIN.left + width) / 2, y: HEIGHT - 8 }, "middle"),
  ];
}

function polyline(points, { x, y }, index) {
  const step = Math.ceil(points.length / MAX_POINTS);
  const kept = points.filter((_, at) => at % step === 0 || at === points.length - 1);
  const [lastX, lastY] = kept.at(-1) ?? [];
  return svg(
    "g",
    { class: `series series-${index + 1}` },
    svg("polyline", { points: kept.map(([a, b]) => `${x(a).toFixed(1)},${y(b).toFixed(1)}`).join(" ") }),
    kept.length ? svg("circle", { cx: x(lastX), cy: y(lastY), r: 3.5 }) : null,
  );
}

function describe(title, xs, lines) {
  return `${title}: ${lines
    .slice(0, MAX_LINES)
    .map((line) => number(line.at(-1), 5))
    .join(", ")} at iteration ${xs.at(-1)}`;
}
