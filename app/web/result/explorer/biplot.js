// The biplot: features as arrows over the points, each as long as it weighs in the two axes shown.

import { label } from "../../plotly.js";

// Annotations for plotly; `first` and `second` are the places of the axes.
export function arrowsOf({ features, W }, first, second, reach, narrow) {
  const most = narrow ? 5 : 9;
  const length = (row) => Math.hypot(row[first], row[second]);
  const strongest = W.map((row, place) => [place, length(row)]).sort(([, one], [, other]) => other - one);
  const longest = strongest[0]?.[1] || 1;
  const near = (one, other) =>
    Math.hypot(W[one][first] - W[other][first], W[one][second] - W[other][second]) < 0.12 * longest;
  const kept = [];
  for (const [place, size] of strongest) {
    if (kept.length < most && size > 0.08 * longest && !kept.some((stronger) => near(place, stronger)))
      kept.push(place);
  }
  const inwards = (x) => narrow && Math.abs(x) > 0.4 * reach.x; // or its name would be cut off
  return (colors) =>
    kept.flatMap((place) => {
      const x = (reach.x * W[place][first]) / longest;
      const y = (reach.y * W[place][second]) / longest;
      const at = { xref: "x", yref: "y" };
      return [
        {
          ...at,
          x,
          y,
          ax: 0,
          ay: 0,
          axref: "x",
          ayref: "y",
          showarrow: true,
          arrowhead: 2,
          arrowsize: 1,
          arrowwidth: 1.6,
          arrowcolor: colors.ink,
          text: "",
        },
        {
          ...at,
          x,
          y,
          showarrow: false,
          text: label(features[place], narrow ? 16 : 22),
          font: { size: 12, color: colors.ink },
          bgcolor: colors.surface,
          opacity: 0.88,
          borderpad: 1,
          xanchor: x < 0 === inwards(x) ? "left" : "right",
          yanchor: y < 0 ? "top" : "bottom",
        },
      ];
    });
}

// How far arrows may reach: to most of the way to the outermost points on either side.
export function reachOf(x, y) {
  const far = (values) => 0.8 * values.reduce((most, value) => Math.max(most, Math.abs(value)), 0) || 1;
  return { x: far(x), y: far(y) };
}
