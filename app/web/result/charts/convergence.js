// Charts of the optimization: the final eigenvalues with their gap, and the objective and eigenvalues by iteration.

import { get } from "../../api.js";
import { h } from "../../dom.js";
import { number } from "../../format.js";
import { figure } from "./figure.js";

const LEGEND_LINE = 22; // pixels
const LEGEND_ITEMS = 3; // in a line of the legend, about
const POSITIVE_GAP = "A large eigengap means that these axes stand out clearly from the next one.";
const NEGATIVE_GAP =
  "It is negative: an eigenvalue that was left out is larger than one that was kept. This is possible at a maximum too, because the eigenvalues change as the axes turn; the certificate says whether it is one.";

export async function convergenceSection(source, signal) {
  const trace = await get(`/jobs/${source.job.id}/trace?format=json`, { signal });
  return h(
    "section",
    {},
    h("h2", {}, "Convergence"),
    h(
      "div",
      { class: "grid" },
      spectrum(source, signal),
      objective(source, trace, signal),
      eigenvalues(source, trace, signal),
    ),
  );
}

function spectrum({ job, result }, signal) {
  const {
    eigenvalues: values,
    certificate: { eigengap },
  } = result;
  const leftOut = eigengap === null || eigengap === undefined ? null : Math.min(...values) - eigengap;
  const names = values.map((_, index) => String(index + 1));
  const all = leftOut === null ? values : [...values, leftOut];
  return figure(
    {
      title: "Eigenvalues and eigengap",
      name: `spectrum-${job.id}`,
      height: 260,
      note:
        leftOut === null
          ? "The eigenvalue of an axis measures its contribution to the objective."
          : `The eigenvalue of an axis measures its contribution to the objective. The eigengap is ${number(eigengap)}: the distance to the largest eigenvalue that was left out. ${eigengap < 0 ? NEGATIVE_GAP : POSITIVE_GAP}`,
      description: `Eigenvalues ${values.map((value) => number(value)).join(", ")}${leftOut === null ? "" : `; the largest one left out is ${number(leftOut)}`}`,
      draw: ({ series, soft, ink }) => ({
        data: [
          {
            type: "bar",
            x: leftOut === null ? names : [...names, "left out"],
            y: all,
            marker: { color: all.map((_, index) => (index < values.length ? series[0] : soft)) },
            hoverinfo: "y",
          },
        ],
        layout: {
          xaxis: { type: "category", title: { text: "axis" } },
          shapes:
            leftOut === null
              ? []
              : [
                  {
                    type: "line",
                    xref: "x",
                    yref: "paper",
                    x0: values.length - 0.5,
                    x1: values.length - 0.5,
                    y0: 0,
                    y1: 1,
                    line: { color: ink, width: 1, dash: "dot" },
                  },
                ],
          annotations:
            leftOut === null
              ? []
              : [
                  {
                    xref: "x",
                    yref: "paper",
                    x: values.length - 0.5,
                    y: 1,
                    text: "eigengap",
                    showarrow: false,
                    xanchor: "left",
                    yanchor: "top",
                    xshift: 4,
                  },
                ],
        },
      }),
    },
    signal,
  );
}

// The columns of the trace, by name: of the ascent if the trace has one, else of all rows.
function ascentSteps({ columns, rows }) {
  const column = (name) => columns.indexOf(name);
  const ascent = rows.filter((row) => row[column("stage")] === "ascent");
  const kept = ascent.length ? ascent : rows;
  return {
    of: (name) => kept.map((row) => row[column(name)]),
    rounds: kept.map((row) => row[column("round")]),
    columns,
  };
}

// The points of a line that is interrupted between rounds: a clustering changes its objective at each round.
function lineByRound(steps, name) {
  const [x, y] = [[], []];
  const [iteration, values] = [steps.of("iteration"), steps.of(name)];
  values.forEach((value, index) => {
    if (index && steps.rounds[index] !== steps.rounds[index - 1]) {
      x.push(null);
      y.push(null);
    }
    x.push(iteration[index]);
    y.push(value);
  });
  return { x, y };
}

// A range that shows changes too small to matter as a flat line.
function flatRange(values) {
  const finite = values.filter(Number.isFinite);
  const [low, high] = [Math.min(...finite), Math.max(...finite)];
  const size = Math.max(Math.abs(low), Math.abs(high));
  return finite.length && high - low <= 1e-4 * size ? { range: [low - 0.02 * size, high + 0.02 * size] } : {};
}

function lineLayout(steps, values) {
  const last = steps.of("iteration").at(-1);
  return {
    margin: { l: 12, r: 12, t: 8, b: 44 },
    xaxis: { title: { text: "iteration" }, ...(last <= 10 ? { dtick: 1 } : {}) },
    yaxis: { automargin: true, nticks: 6, ...flatRange(values) },
  };
}

function objective({ job }, trace, signal) {
  const steps = ascentSteps(trace);
  const values = steps.of("objective");
  return figure(
    {
      title: "Objective by iteration",
      name: `objective-${job.id}`,
      height: 260,
      note: "The objective J is the quantity that is maximized. J never decreases. The exception is clustering: each round changes the clusters, and with them J.",
      description: `The objective went from ${number(values[0])} to ${number(values.at(-1))} in ${values.length} iterations.`,
      draw: ({ series }) => ({
        data: [
          {
            type: "scatter",
            mode: "lines+markers",
            ...lineByRound(steps, "objective"),
            line: { color: series[0] },
            marker: { size: values.length > 60 ? 3 : 6 },
            hoverinfo: "x+y",
          },
        ],
        layout: lineLayout(steps, values),
      }),
    },
    signal,
  );
}

function eigenvalues({ job, result }, trace, signal) {
  const steps = ascentSteps(trace);
  const names = trace.columns.filter((name) => /^eigenvalue\d+$/.test(name));
  const hasLegend = names.length > 1 && names.length <= 8;
  const legendHeight = hasLegend ? LEGEND_LINE * Math.ceil(names.length / LEGEND_ITEMS) : 0;
  return figure(
    {
      title: "Eigenvalues by iteration",
      name: `eigenvalues-${job.id}`,
      height: 260 + legendHeight,
      note: "One line for each axis. The lines become flat when the axes converge.",
      description: `The eigenvalues ended at ${result.eigenvalues.map((value) => number(value)).join(", ")}.`,
      draw: ({ series }) => ({
        data: names.map((name, index) => ({
          type: "scatter",
          mode: "lines+markers",
          marker: { size: 3 },
          name: `axis ${index + 1}`,
          ...lineByRound(steps, name),
          line: { color: series[index % 8], dash: index < 8 ? "solid" : "dot" },
          hoverinfo: "x+y+name",
        })),
        layout: {
          ...lineLayout(steps, []),
          margin: { l: 12, r: 12, t: 8 + legendHeight, b: 44 },
          showlegend: hasLegend,
          legend: { orientation: "h", x: 0, y: 1, yanchor: "bottom" },
        },
      }),
    },
    signal,
  );
}
