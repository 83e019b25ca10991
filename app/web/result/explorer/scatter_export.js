// A scatter to take away, as a figure of plotly's own: points as shapes while they are few, else as one image.

import { label, layoutOf } from "../../plotly.js";
import { scaleColors } from "./colors.js";
import { drawPoints } from "./points.js";

const MOST_SHAPES = 6_000;
const FRAME = { width: 900, height: 620 };

export function pictureOf({ points, extra, coloring, titles, arrows }, view, colors) {
  const many = points.x.length > MOST_SHAPES;
  const layout = layoutOf(colors, {
    margin: { l: 64, r: 20, t: 20, b: 56 },
    showlegend: coloring.kind === "classes" || Boolean(extra),
    xaxis: { title: { text: titles.x }, range: [...view.x] },
    yaxis: { title: { text: titles.y }, range: [...view.y] },
    annotations: arrows(colors),
    images: many ? [imageOf({ points, marks: coloring.marks(colors), radius: 3 }, view, colors.surface)] : [],
  });
  return {
    data: [...traces(points, coloring, colors, many), ...newRows(extra, colors)],
    layout,
    height: FRAME.height,
  };
}

function traces(points, coloring, colors, many) {
  const marks = coloring.marks(colors);
  const shown = (place) => !points.shown || points.shown[place];
  if (coloring.kind === "scale") {
    const bar = { len: 0.6, thickness: 12, outlinewidth: 0, tickvals: [0, marks.length - 2], ticktext: coloring.ends };
    const marker = {
      color: many ? [0, marks.length - 2] : Array.from(coloring.of),
      colorscale: scaleColors(colors),
      cmin: 0,
      cmax: marks.length - 2,
      colorbar: bar,
      opacity: many ? 0 : 0.82,
      size: 7,
    };
    return [
      {
        type: "scatter",
        mode: "markers",
        showlegend: false,
        x: many ? view2(points.x) : Array.from(points.x),
        y: many ? view2(points.y) : Array.from(points.y),
        marker,
      },
    ];
  }
  return marks.map((mark, place) => {
    const members = many ? [] : Array.from(points.x.keys()).filter((at) => points.of[at] === place);
    return {
      type: "scatter",
      mode: "markers",
      name: label(coloring.names[place]),
      visible: shown(place),
      showlegend: true,
      x: many ? [null] : members.map((at) => points.x[at]),
      y: many ? [null] : members.map((at) => points.y[at]),
      marker: {
        color: mark.color,
        symbol: mark.shape,
        size: 7,
        opacity: many ? 1 : members.map((at) => (points.selected && !points.selected[at] ? 0.2 : 0.82)),
      },
    };
  });
}

function view2(values) {
  return [values[0], values[0]];
}

function newRows(extra, colors) {
  if (!extra) return [];
  const marker = { color: colors.ink, symbol: "diamond", size: 9 };
  return [
    { type: "scatter", mode: "markers", name: "new rows", x: Array.from(extra.x), y: Array.from(extra.y), marker },
  ];
}

function imageOf(layer, view, ground) {
  const canvas = document.createElement("canvas");
  drawPoints(canvas, { width: 2 * FRAME.width, height: 2 * FRAME.height }, [layer], view, ground);
  return {
    source: canvas.toDataURL("image/png"),
    xref: "x",
    yref: "y",
    x: view.x[0],
    y: view.y[1],
    sizex: view.x[1] - view.x[0],
    sizey: view.y[1] - view.y[0],
    sizing: "stretch",
    layer: "below",
  };
}
