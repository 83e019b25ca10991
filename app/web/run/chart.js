// A line chart that is drawn anew as points come: small enough to be there at once, without a plotting library.

import { h, replace, svg } from "../dom.js";

const HEIGHT = 220;
const MARGIN = { left: 64, right: 14, top: 12, bottom: 30 };
const MOST_POINTS = 600; // on a line; more than there are pixels would only cost time
const MOST_LINES = 8;

export function lineChart(title, note) {
  const drawing = svg("svg", { role: "img", class: "chart", height: HEIGHT });
  const element = h(
    "figure",
    { class: "card" },
    h("figcaption", {}, h("h2", {}, title), h("p", { class: "hint" }, note)),
    drawing,
  );
  let xs = [];
  let lines = [];
  let waiting = false;

  function draw() {
    waiting = false;
    const width = Math.max(drawing.clientWidth, 200);
    const shown = lines
      .slice(0, MOST_LINES)
      .map((line) => line.map((y, place) => [xs[place], y]).filter(([, y]) => Number.isFinite(y)));
    const scales = scaled(shown.flat(), width);
    drawing.setAttribute("viewBox", `0 0 ${width} ${HEIGHT}`);
    drawing.setAttribute("aria-label", described(title, xs, lines));
    if (!scales) return replace(drawing);
    return replace(
      drawing,
      axes(scales, width),
      shown.map((line, place) => polyline(line, scales, place)),
    );
  }

  function soon() {
    if (!waiting) requestAnimationFrame(draw);
    waiting = true;
  }

  new ResizeObserver(soon).observe(drawing);
  return {
    element,
    show: (newXs, newLines) => {
      xs = newXs;
      lines = newLines;
      soon();
    },
  };
}

function scaled(points, width) {
  if (!points.length) return null;
  const [left, right] = extent(points.map(([x]) => x));
  const [low, high] = extent(points.map(([, y]) => y));
  const room = (high - low || Math.abs(high) || 1) * 0.06;
  const across = width - MARGIN.left - MARGIN.right;
  const down = HEIGHT - MARGIN.top - MARGIN.bottom;
  return {
    left,
    right,
    low,
    high,
    x: (value) => MARGIN.left + (across * (value - left)) / (right - left || 1),
    y: (value) => MARGIN.top + down * (1 - (value - low + room) / (high - low + 2 * room)),
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
    heights.map((value) => [rule(value), label(figure(value), { x: MARGIN.left - 8, y: y(value) + 4 }, "end")]),
    ends.map((value, place) => label(String(value), { x: x(value), y: HEIGHT - 8 }, place ? "end" : "start")),
    label("iteration", { x: (MARGIN.left + width) / 2, y: HEIGHT - 8 }, "middle"),
  ];
}

function polyline(points, { x, y }, place) {
  const step = Math.ceil(points.length / MOST_POINTS);
  const kept = points.filter((_, at) => at % step === 0 || at === points.length - 1);
  const [lastX, lastY] = kept.at(-1) ?? [];
  return svg(
    "g",
    { class: `series series-${place + 1}` },
    svg("polyline", { points: kept.map(([a, b]) => `${x(a).toFixed(1)},${y(b).toFixed(1)}`).join(" ") }),
    kept.length ? svg("circle", { cx: x(lastX), cy: y(lastY), r: 3.5 }) : null,
  );
}

function described(title, xs, lines) {
  if (!xs.length) return `${title}: nothing yet`;
  return `${title}: ${lines
    .slice(0, MOST_LINES)
    .map((line) => figure(line.at(-1)))
    .join(", ")} at iteration ${xs.at(-1)}`;
}

export function figure(value) {
  if (value === null || value === undefined || !Number.isFinite(value)) return "–";
  const size = Math.abs(value);
  if (size !== 0 && (size >= 1e7 || size < 1e-3)) return value.toExponential(2);
  return Number(value.toPrecision(5)).toLocaleString("en", { maximumSignificantDigits: 5 });
}
