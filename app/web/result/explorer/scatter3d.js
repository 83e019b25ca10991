// The same in three axes, which can be turned with the hand: plotly's own scatter3d.

import { h } from "../../dom.js";
import { CONFIG, label, layoutOf, plotly, theme } from "../../plotly.js";
import { onTheme } from "../charts/figure.js";

export function space({ signal, onHover, height, described }) {
  const plot = h("div", { class: "plot", role: "img", "aria-label": described, style: { height: `${height}px` } });
  let state = null;

  async function frame() {
    const Plotly = await plotly();
    if (signal.aborted) return;
    const { data, layout } = figureOf(state, theme());
    const first = !plot.dataset.drawn;
    await Plotly.react(plot, data, { ...layout, uirevision: "kept" }, CONFIG);
    if (first) {
      plot.on("plotly_hover", ({ points, event }) => {
        const box = plot.getBoundingClientRect();
        onHover(points[0].customdata, points[0].data.meta === "new", {
          left: (event?.clientX ?? box.left) - box.left,
          top: (event?.clientY ?? box.top) - box.top,
        });
      });
      plot.on("plotly_unhover", () => onHover(-1, false, null));
    }
    plot.dataset.drawn = "yes";
    plot.dataset.points = String(data.reduce((sum, trace) => sum + trace.x.length, 0));
  }

  onTheme(() => {
    if (state) frame();
  }, signal);
  signal.addEventListener(
    "abort",
    () => {
      if (plot.dataset.drawn) window.Plotly.purge(plot);
    },
    { once: true },
  );
  return {
    element: plot,
    show(next) {
      state = next;
      return frame();
    },
    picture: () => ({ ...figureOf(state, theme()), height: 700 }),
  };
}

function figureOf({ points, extra, coloring, titles }, colors) {
  const marks = coloring.marks(colors);
  const members = marks.map(() => []);
  points.of.forEach((place, at) => {
    if (!points.shown || points.shown[place]) members[place].push(at);
  });
  const size = points.x.length > 5_000 ? 1.6 : 3.2;
  const trace = (values, at, more) => ({
    type: "scatter3d",
    mode: "markers",
    x: at.map((one) => values.x[one]),
    y: at.map((one) => values.y[one]),
    z: at.map((one) => values.z[one]),
    customdata: at,
    hoverinfo: "none",
    ...more,
  });
  const data = marks
    .map((mark, place) =>
      trace(points, members[place], {
        name: coloring.kind === "classes" ? label(coloring.names[place]) : "",
        showlegend: coloring.kind === "classes",
        marker: {
          color: mark.color,
          symbol: mark.shape.replace("triangle-up", "cross"),
          size,
          opacity: 0.85,
          line: { width: 0 },
        },
      }),
    )
    .filter((one) => one.x.length);
  if (extra)
    data.push(
      trace(extra, Array.from(extra.x.keys()), {
        meta: "new",
        name: "new rows",
        marker: { color: colors.ink, symbol: "diamond", size: 5 },
      }),
    );
  const axis = (title) => ({
    title: { text: title },
    gridcolor: colors.line,
    zerolinecolor: colors.soft,
    backgroundcolor: colors.surface,
    showbackground: true,
  });
  const scene = {
    xaxis: axis(titles.x),
    yaxis: axis(titles.y),
    zaxis: axis(titles.z),
    aspectmode: "cube",
    camera: { eye: { x: 1.25, y: 1.25, z: 0.8 } },
  };
  return { data, layout: layoutOf(colors, { margin: { l: 0, r: 0, t: 0, b: 0 }, scene }) };
}
