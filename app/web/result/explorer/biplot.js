// The arrows of a biplot: one for each feature, as long as its loadings on the two axes shown.

import { plotLabel } from "../../plotly.js";

const MAX_ARROWS = 9;
const MAX_ARROWS_NARROW = 5;
const MIN_LENGTH = 0.08; // of the longest arrow; shorter ones are left out
const MIN_DISTANCE = 0.12; // between two tips, of the longest arrow; closer arrows would hide each other's names

// A function of the theme's colors that returns Plotly annotations. `first` and `second` are the indices of the axes;
// `reach` is the length of the longest arrow along each.
export function biplotArrows({ features, W }, first, second, reach, isNarrow) {
  const most = isNarrow ? MAX_ARROWS_NARROW : MAX_ARROWS;
  const length = (row) => Math.hypot(row[first], row[second]);
  const strongest = W.map((row, index) => [index, length(row)]).sort(([, a], [, b]) => b - a);
  const longest = strongest[0]?.[1] || 1;
  const isNear = (a, b) => Math.hypot(W[a][first] - W[b][first], W[a][second] - W[b][second]) < MIN_DISTANCE * longest;
  const kept = [];
  for (const [index, size] of strongest) {
    if (kept.length < most && size > MIN_LENGTH * longest && !kept.some((stronger) => isNear(index, stronger)))
      kept.push(index);
  }
  const pointsInward = (x) => isNarrow && Math.abs(x) > 0.4 * reach.x; // the name would be cut off at the edge
  return (colors) =>
    kept.flatMap((index) => {
      const x = (reach.x * W[index][first]) / longest;
      const y = (reach.y * W[index][second]) / longest;
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
          text: plotLabel(features[index], isNarrow ? 16 : 22),
          font: { size: 12, color: colors.ink },
          bgcolor: colors.surface,
          opacity: 0.88,
          borderpad: 1,
          xanchor: x < 0 === pointsInward(x) ? "left" : "right",
          yanchor: y < 0 ? "top" : "bottom",
        },
      ];
    });
}

// The length of the longest arrow along each axis: most of the way to the outermost points.
export function arrowReach(x, y) {
  const most = (values) => 0.8 * values.reduce((largest, value) => Math.max(largest, Math.abs(value)), 0) || 1;
  return { x: most(x), y: most(y) };
}
