// Bar charts of the importance of features over all axes, and of their loadings on each axis.

import { h } from "../../dom.js";
import { expandable, integer, number, percent, table } from "../../format.js";
import { plotLabel } from "../../plotly.js";
import { contributionText, rankedEntries, ranking } from "../data.js";
import { figure } from "./figure.js";

const MAX_BARS = 15; // features in a chart; the table below has all
const SHOWN_AT_FIRST = 6; // axes

export function importanceFigure({ job, result }, signal) {
  const entries = rankedEntries(result);
  const places = entries.map((_, index) => index);
  const names = entries.map(({ name }) => name);
  const hasErrors = Boolean(result.importance_errors);
  const drops = result.permutation ? entries.map(({ index }) => result.permutation.drop[index]) : null;
  const dropErrors = drops && entries.map(({ index }) => result.permutation.error[index]);
  const notes = [
    "The importance of a feature is its share of the axes that count. The shares add up to 100 %.",
    ...(result.groups?.length ? ["Collinear features are one bar."] : []),
    ...(hasErrors ? ["Gray: within two standard errors of 0. The error bars are one standard error."] : []),
    ...(drops
      ? ["Diamonds (upper scale): how much explained variance held-out rows lose if the feature is shuffled."]
      : []),
  ];
  return figure(
    {
      title: "Which features matter",
      heading: "h2",
      name: `importance-${job.id}`,
      height: heightOf(entries.length) + (drops ? 40 : 0),
      note: notes.join(" "),
      description: `Importance: ${entries
        .slice(0, 5)
        .map(({ name, importance }) => `${name} ${percent(importance)}`)
        .join(", ")}`,
      draw: ({ series, soft, ink, surface }) => {
        const drawn = bars(
          places,
          names,
          (index) => 100 * entries[index].importance,
          (index) => (entries[index].unclear ? soft : series[0]),
          "%",
          hasErrors ? { of: (index) => 100 * entries[index].error, ink } : null,
        );
        return drops ? withDiamonds(drawn, drops, dropErrors, { color: series[1], surface }) : drawn;
      },
      table: expandable(`All ${integer(result.features.length)} features as a table`, () => importanceTable(result)),
    },
    signal,
  );
}

// Adds a diamond with its standard error to each bar, on a scale of its own above the chart.
function withDiamonds({ data, layout }, values, errors, { color, surface }) {
  const count = data[0].y.length;
  const diamonds = {
    type: "scatter",
    mode: "markers",
    xaxis: "x2",
    x: values.slice(0, count),
    y: data[0].y,
    cliponaxis: false,
    marker: { symbol: "diamond", size: 9, color, line: { color: surface, width: 1 } },
    error_x: { type: "data", array: errors.slice(0, count), color, thickness: 1.2, width: 3 },
    hoverinfo: "text",
    hovertext: values.map((value, index) => `lost if shuffled: ${number(value, 2)} ± ${number(errors[index], 1)}`),
  };
  const range = (trace) => {
    const ends = trace.x.map((value, index) => value + (trace.error_x?.array[index] ?? 0));
    return { range: [0, 1.08 * Math.max(...ends, 1e-9)] };
  };
  const scale = { overlaying: "x", side: "top", showgrid: false, zeroline: false, fixedrange: true, tickangle: 0 };
  return {
    data: [...data, diamonds],
    layout: {
      ...layout,
      margin: { ...layout.margin, t: 44 },
      xaxis: { ...layout.xaxis, ...range(data[0]) },
      xaxis2: {
        ...scale,
        ...range(diamonds),
        tickmode: "auto",
        nticks: 4,
        tickfont: { color },
        title: { text: "lost if shuffled", font: { color, size: 12 }, standoff: 4 },
      },
    },
  };
}

function importanceTable({ features, importance, importance_errors: errors, unclear = [], permutation }) {
  const heads = ["Feature", { number: "Share" }];
  if (errors) heads.push({ number: "Standard error" }, "");
  if (permutation) heads.push({ number: "Drop if permuted" });
  const rows = ranking(importance).map((index) => [
    features[index],
    percent(importance[index]),
    ...(errors ? [percent(errors[index]), unclear.includes(features[index]) ? "unclear" : ""] : []),
    ...(permutation ? [`${number(permutation.drop[index], 2)} ± ${number(permutation.error[index], 1)}`] : []),
  ]);
  return table(heads, rows, "Importance of all features");
}

export function loadingsSection({ job, result }, signal) {
  const cards = result.axes.map((_, axis) => axisFigure(job, result, axis, signal));
  const grid = h("div", { class: "grid" }, cards.slice(0, SHOWN_AT_FIRST));
  const more =
    cards.length > SHOWN_AT_FIRST
      ? h(
          "button",
          {
            type: "button",
            onclick: () => {
              grid.append(...cards.slice(SHOWN_AT_FIRST));
              more.remove();
            },
          },
          `Show all ${cards.length} axes`,
        )
      : null;
  const { stability } = result;
  const errorBars = stability
    ? ` The error bars are one standard error to each side, estimated from ${stability.resamples} random halves of the rows.`
    : "";
  return h(
    "section",
    {},
    h("h2", {}, "Loadings of each axis"),
    h(
      "p",
      { class: "hint" },
      `A row's coordinate on an axis is the sum of its standardized features, each multiplied by its loading. The contribution of an axis is its share of what held-out rows would lose without an axis.${errorBars}`,
    ),
    grid,
    more,
  );
}

function axisFigure(job, result, axis, signal) {
  const { features, W, eigenvalues, stability } = result;
  const contribution = contributionText(result, axis);
  const loading = (index) => W[index][axis];
  const error = stability ? (index) => stability.errors[index][axis] : null;
  const ranked = ranking(W, (row) => Math.abs(row[axis]));
  return figure(
    {
      title: `Axis ${axis + 1}`,
      name: `axis-${axis + 1}-${job.id}`,
      height: heightOf(ranked.length),
      note: [contribution && `Contribution: ${contribution}`, `Eigenvalue ${number(eigenvalues[axis])}`]
        .filter(Boolean)
        .join(" · "),
      description: `Loadings of axis ${axis + 1}: ${ranked
        .slice(0, 5)
        .map((index) => `${features[index]} ${number(loading(index), 2)}`)
        .join(", ")}`,
      draw: ({ series, ink }) =>
        bars(
          ranked,
          features,
          loading,
          (index) => (loading(index) < 0 ? series[1] : series[0]),
          "",
          error && { of: error, ink },
        ),
      table: expandable("All loadings as a table", () =>
        table(
          ["Feature", { number: "Loading" }, ...(error ? [{ number: "Standard error" }] : [])],
          ranked.map((index) => [features[index], number(loading(index)), ...(error ? [number(error(index), 2)] : [])]),
          `Loadings of axis ${axis + 1}`,
        ),
      ),
    },
    signal,
  );
}

function bars(ranked, features, value, color, unit, errorBar = null) {
  const kept = ranked.slice(0, MAX_BARS);
  const heights = kept.map((_, index) => -index); // the largest on top; by number, because shortened names may be equal
  return {
    data: [
      {
        type: "bar",
        orientation: "h",
        x: kept.map(value),
        y: heights,
        marker: { color: kept.map(color) },
        hoverinfo: "text",
        textposition: "none",
        hovertext: kept.map(
          (index) =>
            `${plotLabel(features[index], 60)}: ${number(value(index))}${errorBar ? ` ± ${number(errorBar.of(index), 2)}` : ""}${unit && ` ${unit}`}`,
        ),
        ...(errorBar
          ? { error_x: { type: "data", array: kept.map(errorBar.of), color: errorBar.ink, thickness: 1.2, width: 3 } }
          : {}),
      },
    ],
    layout: {
      margin: { l: 8, r: 12, t: 4, b: 30 },
      bargap: 0.25,
      xaxis: { ticksuffix: unit && ` ${unit}`, showticksuffix: "last", zeroline: true, nticks: 5, tickangle: 0 },
      yaxis: {
        tickvals: heights,
        ticktext: kept.map((index) => plotLabel(features[index], 24)),
        automargin: true,
        showgrid: false,
        zeroline: false,
        range: [0.6 - kept.length, 0.6],
      },
    },
  };
}

function heightOf(features) {
  return 46 + 24 * Math.max(2, Math.min(MAX_BARS, features));
}
