// The biplot: features as arrows over the points, each as long as it weighs in the two axes shown.

import { label } from "../plotly.js";

// Annotations for plotly; `first` and `second` are the places of the axes.
export function arrowsOf({ features, W }, first, second, reach, most) {
  const length = (row) => Math.hypot(row[first] ?? 0, row[second] ?? 0);
  const strongest = W.map((row, place) => [place, length(row)]).sort(([, one], [, other]) => other - one).slice(0, most);
  const longest = strongest[0]?.[1] || 1;
  const kept = strongest.filter(([, size]) => size > 0.08 * longest);
  return (colours) => kept.flatMap(([place]) => {
    const x = (reach.x * (W[place][first] ?? 0)) / longest;
    const y = (reach.y * (W[place][second] ?? 0)) / longest;
    const at = { xref: "x", yref: "y" };
    return [
      { ...at, x, y, ax: 0, ay: 0, axref: "x", ayref: "y", showarrow: true, arrowhead: 2, arrowsize: 1, arrowwidth: 1.6, arrowcolor: colours.ink, text: "" },
      { ...at, x, y, showarrow: false, text: label(features[place], 22), font: { size: 12, color: colours.ink }, bgcolor: colours.surface, opacity: 0.88, borderpad: 1, xanchor: x < 0 ? "right" : "left", yanchor: y < 0 ? "top" : "bottom" },
    ];
  });
}

// How far arrows may reach: to most of the way to the outermost points on either side.
export function reachOf(x, y) {
  const far = (values) => 0.8 * values.reduce((most, value) => Math.max(most, Math.abs(value)), 0) || 1;
  return { x: far(x), y: far(y) };
}
