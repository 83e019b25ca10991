// A scatter plot of three axes, which the user can rotate. Plotly draws it.

import { h } from "../../dom.js";
import { loadPlotly, PLOT_CONFIG, plotLabel, plotLayout } from "../../plotly.js";
import { onThemeChange, themeColors } from "../../theme.js";

export function scatter3d({ signal, onHover, height, description }) {
  const plot = h("div", { class: "plot", role: "img", "aria-label": description, style: { height: `${height}px` } });
  let state = null;

  async function draw() {
    const Plotly = await loadPlotly();
    if (signal.aborted) return;
    const { data, layout } = figureOf(state, themeColors());
    const first = !plot.dataset.drawn;
    await Plotly.react(plot, data, { ...layout, uirevision: "kept" }, PLOT_CONFIG);
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

  onThemeChange(() => {
    if (state) draw();
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
      return draw();
    },
    exportFigure: () => ({ ...figureOf(state, themeColors()), height: 700 }),
  };
}

function figureOf({ points, newPoints, coloring, titles }, colors) {
  const marks = coloring.marks(colors);
  const members = marks.map(() => []);
  points.markIndex.forEach((index, at) => {
    if (!points.shown || points.shown[index]) members[index].push(at);
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
    .map((mark, index) =>
      trace(points, members[index], {
        name: coloring.kind === "classes" ? plotLabel(coloring.names[index]) : "",
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
  if (newPoints)
    data.push(
      trace(newPoints, Array.from(newPoints.x.keys()), {
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
  return { data, layout: plotLayout(colors, { margin: { l: 0, r: 0, t: 0, b: 0 }, scene }) };
}
