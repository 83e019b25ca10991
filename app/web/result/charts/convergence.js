// How the result was reached: the eigenvalues with the gap behind them, and the traces of the iteration.

import { get } from "../../api.js";
import { h } from "../../dom.js";
import { figure } from "./figure.js";
import { number } from "../format.js";

export async function iterationsSection(source, signal) {
  const trace = await get(`/jobs/${source.job.id}/trace?format=json`, { signal });
  return h(
    "section",
    {},
    h("h2", {}, "How it was reached"),
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
  const beyond = eigengap === null || eigengap === undefined ? null : Math.min(...values) - eigengap;
  const names = values.map((_, place) => String(place + 1));
  const all = beyond === null ? values : [...values, beyond];
  return figure(
    {
      title: "Eigenvalues and the gap",
      name: `spectrum-${job.id}`,
      height: 260,
      note:
        beyond === null
          ? "How much each axis contributes."
          : `How much each axis contributes, and the next one that was left out. The gap is ${number(eigengap)}: the larger, the clearer where to stop.`,
      described: `Eigenvalues ${values.map((value) => number(value)).join(", ")}${beyond === null ? "" : `; the first left out ${number(beyond)}`}`,
      draw: ({ series, soft, ink }) => ({
        data: [
          {
            type: "bar",
            x: beyond === null ? names : [...names, "left out"],
            y: all,
            marker: { color: all.map((_, place) => (place < values.length ? series[0] : soft)) },
            hoverinfo: "y",
          },
        ],
        layout: {
          xaxis: { type: "category", title: { text: "axis" } },
          shapes:
            beyond === null
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
            beyond === null
              ? []
              : [
                  {
                    xref: "x",
                    yref: "paper",
                    x: values.length - 0.5,
                    y: 1,
                    text: "gap",
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

// Rows of the ascent, or of all there is; the columns by name.
function ascent({ columns, rows }) {
  const at = (name) => columns.indexOf(name);
  const climbing = rows.filter((row) => row[at("stage")] === "ascent");
  const kept = climbing.length ? climbing : rows;
  return { of: (name) => kept.map((row) => row[at(name)]), rounds: kept.map((row) => row[at("round")]), columns };
}

// Clusterings begin a new objective with each round, so its line is broken there.
function broken(steps, name) {
  const [x, y] = [[], []];
  const [iteration, values] = [steps.of("iteration"), steps.of(name)];
  values.forEach((value, place) => {
    if (place && steps.rounds[place] !== steps.rounds[place - 1]) {
      x.push(null);
      y.push(null);
    }
    x.push(iteration[place]);
    y.push(value);
  });
  return { x, y };
}

// A line that moves by less than can be read off is drawn level.
function level(values) {
  const finite = values.filter(Number.isFinite);
  const [low, high] = [Math.min(...finite), Math.max(...finite)];
  const size = Math.max(Math.abs(low), Math.abs(high));
  return finite.length && high - low <= 1e-4 * size ? { range: [low - 0.02 * size, high + 0.02 * size] } : {};
}

function axes(steps, values) {
  const last = steps.of("iteration").at(-1);
  return {
    margin: { l: 12, r: 12, t: 8, b: 44 },
    xaxis: { title: { text: "iteration" }, ...(last <= 10 ? { dtick: 1 } : {}) },
    yaxis: { automargin: true, nticks: 6, ...level(values) },
  };
}

function objective({ job }, trace, signal) {
  const steps = ascent(trace);
  const values = steps.of("objective");
  return figure(
    {
      title: "Objective",
      name: `objective-${job.id}`,
      height: 260,
      note: "What is maximized, at each iteration. With a fixed aim it never falls; clusterings set a new aim each round.",
      described: `The objective went from ${number(values[0])} to ${number(values.at(-1))} in ${values.length} iterations.`,
      draw: ({ series }) => ({
        data: [
          {
            type: "scatter",
            mode: "lines+markers",
            ...broken(steps, "objective"),
            line: { color: series[0] },
            marker: { size: values.length > 60 ? 3 : 6 },
            hoverinfo: "x+y",
          },
        ],
        layout: axes(steps, values),
      }),
    },
    signal,
  );
}

function eigenvalues({ job, result }, trace, signal) {
  const steps = ascent(trace);
  const names = trace.columns.filter((name) => /^eigenvalue\d+$/.test(name));
  return figure(
    {
      title: "Eigenvalues on the way",
      name: `eigenvalues-${job.id}`,
      height: 260,
      note: "One line for each axis. When they stand still, the axes do.",
      described: `The eigenvalues ended at ${result.eigenvalues.map((value) => number(value)).join(", ")}.`,
      draw: ({ series }) => ({
        data: names.map((name, place) => ({
          type: "scatter",
          mode: "lines+markers",
          marker: { size: 3 },
          name: `axis ${place + 1}`,
          ...broken(steps, name),
          line: { color: series[place % 8], dash: place < 8 ? "solid" : "dot" },
          hoverinfo: "x+y+name",
        })),
        layout: {
          ...axes(steps, []),
          showlegend: names.length > 1 && names.length <= 8,
          legend: { orientation: "h", y: 1.15 },
        },
      }),
    },
    signal,
  );
}
