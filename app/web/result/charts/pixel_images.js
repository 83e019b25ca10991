// If the features are the pixels of an image: the loadings of each axis and the mean of each group as images.

import { h } from "../../dom.js";
import { plotLabel } from "../../plotly.js";
import { isDark } from "../explorer/colors.js";
import { figure } from "./figure.js";

const MIN_PIXELS = 36; // fewer features are not taken for a square image unless the job says so
const MAX_IMAGES = 12;

// [height, width] from the job's metadata ("image": "30x32"), or of a square if the names of all features differ only
// in their numbers; else null.
export function imageShape({ job, result: { features } }) {
  const hint = /^\s*(\d+)\s*[x×]\s*(\d+)\s*$/i.exec(job.metadata?.image ?? "");
  if (hint) return Number(hint[1]) * Number(hint[2]) === features.length ? [Number(hint[1]), Number(hint[2])] : null;
  const side = Math.round(Math.sqrt(features.length));
  if (side * side !== features.length || features.length < MIN_PIXELS) return null;
  const stems = new Set(features.map((name) => name.replace(/\d+/g, "#")));
  return stems.size === 1 && /\d/.test(features[0]) ? [side, side] : null;
}

export function loadingImages(source, shape, signal) {
  const { job, result } = source;
  const cards = result.axes.slice(0, MAX_IMAGES).map((_, axis) => {
    const values = result.W.map((row) => row[axis]);
    const largest = Math.max(...values.map(Math.abs)) || 1;
    return image(
      {
        title: `Axis ${axis + 1}`,
        name: `axis-${axis + 1}-image-${job.id}`,
        values,
        shape,
        range: [-largest, largest],
        scale: diverging,
      },
      signal,
    );
  });
  return h(
    "section",
    {},
    h("h2", {}, "Axes as images"),
    h(
      "p",
      { class: "hint" },
      `Each image shows the loadings of an axis as ${shape[0]} × ${shape[1]} pixels. One color marks positive loadings, the other negative ones.`,
    ),
    h("div", { class: "grid images" }, cards),
  );
}

// `members` and `profiles` are those of groupsSection; the profiles contain the means of each group.
export function meanImages(source, { members, profiles }, shape, signal) {
  const { job, result } = source;
  if (!profiles.length) return null;
  const means = profiles.map(({ differences }) => new Map(differences.map(({ column, group }) => [column, group])));
  const all = means.map((mean) => result.features.map((name) => mean.get(name) ?? 0));
  const range = [
    Math.min(...all.map((values) => Math.min(...values))),
    Math.max(...all.map((values) => Math.max(...values))),
  ];
  const cards = [...members.keys()].slice(0, MAX_IMAGES).map((name, index) =>
    image(
      {
        title: name,
        name: `mean-${index + 1}-${job.id}`,
        values: all[index],
        shape,
        range,
        scale: ({ surface }) =>
          isDark(surface)
            ? [
                [0, "#111"],
                [1, "#fff"],
              ]
            : [
                [0, "#fff"],
                [1, "#111"],
              ],
      },
      signal,
    ),
  );
  return h("section", {}, h("h2", {}, "Mean image of each group"), h("div", { class: "grid images" }, cards));
}

function diverging({ series, surface }) {
  return [
    [0, series[1]],
    [0.5, surface],
    [1, series[0]],
  ];
}

function image({ title, name, values, shape: [height, width], range, scale }, signal) {
  const rows = Array.from({ length: height }, (_, row) => values.slice(row * width, (row + 1) * width));
  return figure(
    {
      title,
      name,
      height: Math.max(120, Math.round((190 * height) / width)),
      description: `${plotLabel(title)} as an image of ${height} × ${width} pixels`,
      draw: (colors) => ({
        data: [
          {
            type: "heatmap",
            z: rows,
            colorscale: scale(colors),
            zmin: range[0],
            zmax: range[1],
            showscale: false,
            hoverinfo: "z",
          },
        ],
        layout: {
          margin: { l: 4, r: 4, t: 4, b: 4 },
          xaxis: { visible: false, constrain: "domain" },
          yaxis: { visible: false, autorange: "reversed", scaleanchor: "x", constrain: "domain" },
        },
      }),
    },
    signal,
  );
}
