// Features that are the pixels of an image: loadings and the means of groups shown as pictures.

import { h } from "../../dom.js";
import { label } from "../../plotly.js";
import { isDark } from "../explorer/colors.js";
import { figure } from "./figure.js";

const SMALLEST = 36; // pixels of an image that is taken for one without being told
const MOST = 12;

// [height, width] by the job's metadata ("image": "30x32"), or of a square of columns that are all named alike; or null.
export function imageShape({ job, result: { features } }) {
  const hint = /^\s*(\d+)\s*[x×]\s*(\d+)\s*$/i.exec(job.metadata?.image ?? "");
  if (hint) return Number(hint[1]) * Number(hint[2]) === features.length ? [Number(hint[1]), Number(hint[2])] : null;
  const side = Math.round(Math.sqrt(features.length));
  if (side * side !== features.length || features.length < SMALLEST) return null;
  const stems = new Set(features.map((name) => name.replace(/\d+/g, "#")));
  return stems.size === 1 && /\d/.test(features[0]) ? [side, side] : null;
}

export function loadingPictures(source, shape, signal) {
  const { job, result } = source;
  const cards = result.axes.slice(0, MOST).map((_, axis) => {
    const values = result.W.map((row) => row[axis]);
    const most = Math.max(...values.map(Math.abs)) || 1;
    return picture(
      {
        title: `Axis ${axis + 1}`,
        name: `axis-${axis + 1}-image-${job.id}`,
        values,
        shape,
        range: [-most, most],
        scale: diverging,
        note: null,
      },
      signal,
    );
  });
  return h(
    "section",
    {},
    h("h2", {}, "The axes as pictures"),
    h(
      "p",
      { class: "hint" },
      `Each feature is a pixel of ${shape[0]} × ${shape[1]}. One color pushes a row up the axis, the other down.`,
    ),
    h("div", { class: "grid pictures" }, cards),
  );
}

// `groups` has members by name and, for each, the differences that hold its means.
export function meanPictures(source, { members, profile }, shape, signal) {
  const { job, result } = source;
  if (!profile.length) return null;
  const means = profile.map(({ differences }) => new Map(differences.map(({ column, group }) => [column, group])));
  const all = means.map((mean) => result.features.map((name) => mean.get(name) ?? 0));
  const range = [
    Math.min(...all.map((values) => Math.min(...values))),
    Math.max(...all.map((values) => Math.max(...values))),
  ];
  const cards = [...members.keys()].slice(0, MOST).map((name, place) =>
    picture(
      {
        title: name,
        name: `mean-${place + 1}-${job.id}`,
        values: all[place],
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
  return h(
    "section",
    {},
    h("h2", {}, "The mean of each group as a picture"),
    h("div", { class: "grid pictures" }, cards),
  );
}

function diverging({ series, surface }) {
  return [
    [0, series[1]],
    [0.5, surface],
    [1, series[0]],
  ];
}

function picture({ title, name, values, shape: [height, width], range, scale }, signal) {
  const rows = Array.from({ length: height }, (_, row) => values.slice(row * width, (row + 1) * width));
  return figure(
    {
      title,
      name,
      height: Math.max(120, Math.round((190 * height) / width)),
      described: `${label(title)} as a picture of ${height} × ${width} pixels`,
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
