// A scatter plot as a Plotly figure for export: few points are shapes, many are one image.

import { plotLabel, plotLayout } from "../../plotly.js";
import { placeArrows } from "./arrows.js";
import { scaleColors } from "./colors.js";
import { drawPoints } from "./points.js";

const MAX_SHAPES = 6_000; // more points make an SVG file too large
const SIZE = { width: 900, height: 620 }; // pixels
const MARGIN = { l: 64, r: 20, t: 20, b: 56 };
const LEGEND_WIDTH = 120; // pixels, about

// `fit(view, size)` adapts the view to the frame.
export function exportFigure({ points, newPoints, coloring, titles, arrows, muted, isEqual }, shownView, fit, colors) {
  const showlegend = coloring.kind === "classes" || Boolean(newPoints);
  const frame = {
    width: SIZE.width - MARGIN.l - MARGIN.r - (coloring.names?.length || coloring.ends ? LEGEND_WIDTH : 0),
    height: SIZE.height - MARGIN.t - MARGIN.b,
  };
  const view = fit(shownView, frame);
  const axis = (title, range, isMuted) => ({
    title: { text: title, font: { color: isMuted ? colors.soft : colors.ink } },
    range: [...range],
  });
  const asImage = points.x.length > MAX_SHAPES;
  const layout = plotLayout(colors, {
    margin: MARGIN,
    showlegend,
    xaxis: axis(titles.x, view.x, muted?.x),
    yaxis: { ...axis(titles.y, view.y, muted?.y), ...(isEqual ? { scaleanchor: "x" } : {}) },
    annotations: arrows
      ? annotations(placeArrows(arrows.entries, arrows.vectors, view, frame, points), view, frame, colors)
      : [],
    images: asImage ? [imageOf({ points, marks: coloring.marks(colors), radius: 3 }, view, colors.surface)] : [],
  });
  return {
    data: [...traces(points, coloring, colors, asImage), ...newPointsTrace(newPoints, colors)],
    layout,
    height: SIZE.height,
  };
}

// The arrows and their labels as Plotly draws them.
function annotations({ arrows }, view, frame, colors) {
  const toData = ({ x, y }) => ({
    x: view.x[0] + (x / frame.width) * (view.x[1] - view.x[0]),
    y: view.y[1] - (y / frame.height) * (view.y[1] - view.y[0]),
    xref: "x",
    yref: "y",
  });
  return arrows.flatMap(({ tip, label }) => [
    {
      ...toData(tip),
      ...{ ax: 0, ay: 0, axref: "x", ayref: "y", text: "" },
      ...{ showarrow: true, arrowhead: 2, arrowsize: 1, arrowwidth: 1.6, arrowcolor: colors.ink },
    },
    {
      ...toData(label),
      showarrow: false,
      text: plotLabel(label.text),
      font: { size: 12, color: colors.ink },
      bgcolor: colors.surface,
      opacity: 0.88,
      borderpad: 1,
    },
  ]);
}

function traces(points, coloring, colors, asImage) {
  const marks = coloring.marks(colors);
  const shown = (index) => !points.shown || points.shown[index];
  if (coloring.kind === "scale") {
    const bar = { len: 0.6, thickness: 12, outlinewidth: 0, tickvals: [0, marks.length - 2], ticktext: coloring.ends };
    const marker = {
      color: asImage ? [0, marks.length - 2] : Array.from(coloring.markIndex),
      colorscale: scaleColors(colors),
      cmin: 0,
      cmax: marks.length - 2,
      colorbar: bar,
      opacity: asImage ? 0 : 0.82,
      size: 7,
    };
    return [
      {
        type: "scatter",
        mode: "markers",
        showlegend: false,
        x: asImage ? twice(points.x[0]) : Array.from(points.x),
        y: asImage ? twice(points.y[0]) : Array.from(points.y),
        marker,
      },
    ];
  }
  return marks.map((mark, index) => {
    const members = asImage ? [] : Array.from(points.x.keys()).filter((at) => points.markIndex[at] === index);
    return {
      type: "scatter",
      mode: "markers",
      name: plotLabel(coloring.names[index]),
      visible: shown(index),
      showlegend: true,
      x: asImage ? [null] : members.map((at) => points.x[at]),
      y: asImage ? [null] : members.map((at) => points.y[at]),
      marker: {
        color: mark.color,
        symbol: mark.shape,
        size: 7,
        opacity: asImage ? 1 : members.map((at) => (points.selected && !points.selected[at] ? 0.2 : 0.82)),
      },
    };
  });
}

// Coordinates of two invisible points, which make Plotly draw the color bar.
function twice(value) {
  return [value, value];
}

function newPointsTrace(newPoints, colors) {
  if (!newPoints) return [];
  const marker = { color: colors.ink, symbol: "diamond", size: 9 };
  return [
    {
      type: "scatter",
      mode: "markers",
      name: "new rows",
      x: Array.from(newPoints.x),
      y: Array.from(newPoints.y),
      marker,
    },
  ];
}

function imageOf(layer, view, background) {
  const canvas = document.createElement("canvas");
  drawPoints(canvas, { width: 2 * SIZE.width, height: 2 * SIZE.height }, [layer], view, background);
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
