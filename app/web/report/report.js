// The picture of a report: rows, arrows, legend and tooltips on a canvas, without network. Wheel and drag move it.

import { h, replace, svg } from "../dom.js";
import { integer, number } from "../format.js";
import { arrowLayer } from "../result/explorer/arrow_layer.js";
import { arrowEntries } from "../result/explorer/arrows.js";
import { coloring } from "../result/explorer/colors.js";
import { legend } from "../result/explorer/legend.js";
import { drawPoints, jitter, nearestPoint, radiusFor } from "../result/explorer/points.js";
import { fullView } from "../result/explorer/ranges.js";
import { onThemeChange, themeColors } from "../theme.js";

const HEIGHT = 460;
const MARGIN = { l: 52, r: 10, t: 10, b: 44 };

export function reportPicture(container, source) {
  const { rows, axes, picture, group, groupTitle, titles, muted, result } = source;
  const entries = arrowEntries(result);
  const colors = group
    ? coloring(group, source.groupKind !== "values")
    : coloring(
        axes[0].map(() => "rows"),
        true,
      );
  const shownMarks = new Array(256).fill(1);
  const shown = { x: source.shown[0], y: source.shown[1] ?? -1, arrows: result.structure ? "structure" : "weights" };
  const canvas = h("canvas", { style: { position: "absolute" } });
  const frame = svg("svg", { class: "report-frame" });
  const arrows = arrowLayer(null);
  const tip = h("div", { class: "tooltip", hidden: true });
  const area = h("div", { class: "plot-area", style: { height: `${HEIGHT}px` } }, canvas, frame, arrows.element, tip);
  const key = legend(draw);
  let view = null;

  const size = () => ({ width: area.clientWidth - MARGIN.l - MARGIN.r, height: HEIGHT - MARGIN.t - MARGIN.b });
  const single = picture ?? jitter(axes[0].length);
  const points = () => ({
    x: axes[shown.x],
    y: axes[shown.y] ?? single,
    markIndex: colors.markIndex,
    shown: shownMarks,
    selected: null,
  });

  function whole() {
    const isEqual = shown.y >= 0 || Boolean(picture);
    view = fullView({ points: points(), isEqual }, size());
  }

  function draw() {
    const theme = themeColors();
    const place = {
      left: `${MARGIN.l}px`,
      top: `${MARGIN.t}px`,
      width: `${size().width}px`,
      height: `${size().height}px`,
    };
    for (const layer of [canvas, arrows.element]) Object.assign(layer.style, place);
    const layer = { points: points(), marks: colors.marks(theme), radius: radiusFor(rows.length) };
    drawPoints(canvas, size(), [layer], view, theme.surface, theme.line);
    const vectors = entries.map((entry) => [entry[shown.arrows]?.[shown.x], entry[shown.arrows]?.[shown.y]]);
    arrows.show(shown.arrows === "none" || shown.y < 0 ? null : { entries, vectors }, view, size(), points());
    drawFrame();
    area.dataset.drawn = String(rows.length);
  }

  function drawFrame() {
    const { width, height } = size();
    const x = (value) => MARGIN.l + ((value - view.x[0]) / (view.x[1] - view.x[0])) * width;
    const y = (value) => MARGIN.t + height - ((value - view.y[0]) / (view.y[1] - view.y[0])) * height;
    const text = (content, properties) => svg("text", properties, content);
    const middle = MARGIN.t + height / 2;
    replace(
      frame,
      svg("path", { d: `M${MARGIN.l},${MARGIN.t}V${MARGIN.t + height}H${MARGIN.l + width}` }),
      ticks(view.x).map((at) => text(number(at), { x: x(at), y: MARGIN.t + height + 16, "text-anchor": "middle" })),
      ticks(view.y).map((at) => text(number(at), { x: MARGIN.l - 6, y: y(at) + 4, "text-anchor": "end" })),
      text(titles[shown.x], {
        x: MARGIN.l + width / 2,
        y: HEIGHT - 6,
        class: muted[shown.x] ? "muted" : "title",
        "text-anchor": "middle",
      }),
      text(titles[shown.y] ?? (picture ? "adds nothing, for plots only" : ""), {
        transform: `translate(14, ${middle}) rotate(-90)`,
        class: shown.y < 0 || muted[shown.y] ? "muted" : "title",
        "text-anchor": "middle",
      }),
    );
  }

  function zoom(factor, across, down) {
    const scaled = ([low, high], at) => [at + factor * (low - at), at + factor * (high - at)];
    view = { x: scaled(view.x, across), y: scaled(view.y, down) };
    draw();
  }

  const dataAt = (event) => {
    const box = canvas.getBoundingClientRect();
    const { width, height } = size();
    return [
      view.x[0] + ((event.clientX - box.left) / width) * (view.x[1] - view.x[0]),
      view.y[1] - ((event.clientY - box.top) / height) * (view.y[1] - view.y[0]),
    ];
  };
  area.addEventListener(
    "wheel",
    (event) => {
      event.preventDefault();
      zoom(event.deltaY > 0 ? 1.2 : 1 / 1.2, ...dataAt(event));
    },
    { passive: false },
  );
  area.addEventListener("pointermove", (event) => {
    const { width, height } = size();
    if (event.buttons) {
      const [right, up] = [
        (event.movementX / width) * (view.x[1] - view.x[0]),
        (event.movementY / height) * (view.y[1] - view.y[0]),
      ];
      view = { x: view.x.map((end) => end - right), y: view.y.map((end) => end + up) };
      return draw();
    }
    const box = canvas.getBoundingClientRect();
    const [across, down] = [event.clientX - box.left, event.clientY - box.top];
    const index = nearestPoint(points(), view, size(), across, down);
    tip.hidden = index < 0;
    if (index < 0) return undefined;
    tip.textContent = `Row ${rows[index]}${group ? ` · ${groupTitle} ${group[index]}` : ""}`;
    Object.assign(tip.style, { left: `${Math.min(across + MARGIN.l + 14, width - 60)}px`, top: `${down}px` });
    return undefined;
  });
  area.addEventListener("pointerleave", () => {
    tip.hidden = true;
  });

  const select = (title, options, chosen, onchange) =>
    h(
      "label",
      {},
      `${title} `,
      h(
        "select",
        { onchange: (event) => onchange(event.target.value) },
        options.map(([value, text]) => h("option", { value, selected: value === chosen }, text)),
      ),
    );
  const axisSelect = (title, name) =>
    select(
      title,
      axes.map((_, index) => [index, `axis ${index + 1}`]),
      shown[name],
      (value) => {
        shown[name] = Number(value);
        whole();
        draw();
      },
    );
  const kinds = [
    ["structure", "correlations"],
    ["weights", "weights"],
    ["none", "none"],
  ];
  const onArrows = (value) => {
    shown.arrows = value;
    draw();
  };
  const reset = () => {
    whole();
    draw();
  };
  replace(
    container,
    key.element,
    area,
    h(
      "p",
      { class: "report-controls" },
      axes.length > 1 ? [axisSelect("X axis", "x"), axisSelect("Y axis", "y")] : null,
      axes.length > 1 ? select("Arrows", result.structure ? kinds : kinds.slice(1), shown.arrows, onArrows) : null,
      h("button", { type: "button", class: "small", onclick: reset }, "Reset view"),
    ),
    source.total > rows.length
      ? h("p", { class: "hint" }, `The picture shows ${integer(rows.length)} of ${integer(source.total)} rows.`)
      : null,
  );
  const showLegend = () => key.show(group ? groupTitle : "", colors, shownMarks, 0);
  showLegend();
  new ResizeObserver(reset).observe(area);
  onThemeChange(() => {
    showLegend();
    draw();
  });
  reset();
}

// Round numbers inside a range.
function ticks([low, high]) {
  const rough = (high - low) / 6;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = power * [1, 2, 5, 10].find((factor) => factor * power >= rough);
  const first = Math.ceil(low / step);
  return Array.from({ length: Math.floor(high / step) - first + 1 }, (_, index) => (first + index) * step);
}
