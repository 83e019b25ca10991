// The picture of the best result so far: points that move to each better picture, and the ranking of features with it.

import { h, replace } from "../dom.js";
import { counted, number, percent } from "../format.js";
import { themeColors } from "../theme.js";
import { coloring } from "../result/explorer/colors.js";
import { ramp, swatch } from "../result/explorer/legend.js";
import { drawPoints } from "../result/explorer/points.js";

const HEIGHT = 320;
const MOVE_MILLISECONDS = 400; // from one picture to the next
const MAX_NAMED = 12; // classes in the legend
const MAX_CLASSES = 32; // distinct numbers up to which a target is colored like classes
const RANKED_FEATURES = 8;
const MARGIN = 0.06; // share of the range that stays free at each side

export function livePicture(signal) {
  const canvas = h("canvas", { role: "img", style: { width: "100%", height: `${HEIGHT}px` } });
  const title = h("p", { class: "hint" });
  const key = h("p", { class: "legend" });
  const ranking = h("ol", { class: "ranking" });
  const element = h(
    "div",
    { class: "grid", hidden: true },
    h(
      "figure",
      { class: "card" },
      h("figcaption", {}, h("h2", {}, "Preview of the best result so far"), title),
      key,
      canvas,
    ),
    h("figure", { class: "card" }, h("figcaption", {}, h("h2", {}, "Most important features so far")), ranking),
  );
  let shown = null; // the points as they are drawn, also in the middle of a move
  let frame = 0;

  function draw(points) {
    shown = points;
    const colors = themeColors();
    const layer = { points, marks: points.coloring.marks(colors), radius: 3.2 };
    const size = { width: Math.max(canvas.clientWidth, 200), height: HEIGHT };
    drawPoints(canvas, size, [layer], { x: range(points.x), y: range(points.y) }, colors.surface);
  }

  function showLegend({ coloring }) {
    const { kind, names, marks } = coloring;
    if (kind === "scale") return replace(key, ramp(coloring, themeColors()));
    const isShort = kind === "classes" && names.length > 1 && names.length <= MAX_NAMED;
    const item = (mark, index) => h("span", { class: "legend-item" }, swatch(mark), names[index]);
    return replace(key, isShort ? marks(themeColors()).map(item) : null);
  }

  function moveTo(target) {
    cancelAnimationFrame(frame);
    const from = shown;
    const isSame = from !== null && from.x.length === target.x.length;
    if (!isSame || matchMedia("(prefers-reduced-motion: reduce)").matches) return draw(target);
    const began = performance.now();
    const step = (now) => {
      if (signal.aborted) return;
      const share = Math.min(1, Math.max(0, (now - began) / MOVE_MILLISECONDS));
      const mix = (name) => target[name].map((value, index) => from[name][index] + share * (value - from[name][index]));
      draw({ ...target, x: mix("x"), y: mix("y") });
      if (share < 1) frame = requestAnimationFrame(step);
    };
    frame = requestAnimationFrame(step);
    return undefined;
  }

  new ResizeObserver(() => shown && draw(shown)).observe(canvas);
  return {
    element,
    show(picture) {
      element.hidden = false;
      canvas.setAttribute("aria-label", `Picture ${picture.number}: ${counted(picture.rows.length, "row")}`);
      title.textContent = captionOf(picture);
      replace(ranking, rankingOf(picture));
      const points = pointsOf(picture);
      showLegend(points);
      moveTo(points);
    },
  };
}

function pointsOf({ coordinates, group }) {
  const values = group ?? coordinates.map(() => "row");
  const isNumeric = values.some((value) => typeof value === "number") && new Set(values).size > MAX_CLASSES;
  const colors = coloring(values, !isNumeric);
  return {
    x: coordinates.map(([x]) => x),
    y: coordinates.map(([, y]) => y ?? 0),
    markIndex: colors.markIndex,
    coloring: colors,
    shown: null,
    selected: null,
  };
}

function captionOf({ score, q, rows }) {
  const found = score === null ? "A first look" : `Score ${number(score, 3)}`;
  return `${found} · ${counted(q, "axis", "axes")} · ${counted(rows.length, "row")}`;
}

function rankingOf({ features, importance }) {
  const full = importance[0] || 1;
  return features
    .slice(0, RANKED_FEATURES)
    .map((name, index) =>
      h(
        "li",
        {},
        name,
        h(
          "span",
          { class: "meter" },
          h("span", {}, h("span", { style: { width: `${(100 * importance[index]) / full}%` } })),
          h("small", {}, percent(importance[index])),
        ),
      ),
    );
}

function range(values) {
  const low = values.reduce((least, value) => Math.min(least, value), Infinity);
  const high = values.reduce((most, value) => Math.max(most, value), -Infinity);
  const free = MARGIN * (high - low || 1);
  return [low - free, high + free];
}
