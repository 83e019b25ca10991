// Which features make the axes: ranked bars, for all axes together and for each.

import { h } from "../../dom.js";
import { label } from "../../plotly.js";
import { figure } from "./figure.js";
import { folded, number, percent, table } from "../format.js";

const BARS = 15;
const FIRST_AXES = 6;

export function importanceFigure({ job, result }, signal) {
  const ranked = ranking(result.importance, (value) => value);
  const rows = () =>
    table(
      ["Feature", { number: "Share" }],
      ranked.map((place) => [result.features[place], percent(result.importance[place])]),
      "Importance of all features",
    );
  return figure(
    {
      title: "Which features matter",
      heading: "h2",
      name: `importance-${job.id}`,
      height: heightOf(ranked.length),
      note: "Each feature's share in all new axes together; the shares add up to 100 %.",
      described: `Shares: ${ranked
        .slice(0, 5)
        .map((place) => `${result.features[place]} ${percent(result.importance[place])}`)
        .join(", ")}`,
      draw: (colors) =>
        bars(
          ranked,
          result.features,
          (place) => 100 * result.importance[place],
          () => colors.series[0],
          "%",
        ),
      table: folded(`All ${result.features.length.toLocaleString("en")} features as a table`, rows),
    },
    signal,
  );
}

export function loadingsSection({ job, result }, signal) {
  const cards = result.axes.map((_, axis) => axisFigure(job, result, axis, signal));
  const grid = h("div", { class: "grid" }, cards.slice(0, FIRST_AXES));
  const more =
    cards.length > FIRST_AXES
      ? h(
          "button",
          {
            type: "button",
            onclick: () => {
              grid.append(...cards.slice(FIRST_AXES));
              more.remove();
            },
          },
          `Show all ${cards.length} axes`,
        )
      : null;
  const { stability } = result;
  const whiskers = stability
    ? ` Whiskers reach a standard error to each side: what the loadings vary by, from ${stability.resamples} halves of the rows.`
    : "";
  return h(
    "section",
    {},
    h("h2", {}, "What each axis is made of"),
    h(
      "p",
      { class: "hint" },
      `A row's place on an axis is the sum of its (standardized) features, each times its loading. Bars to the right push a row up the axis, bars to the left down.${whiskers}`,
    ),
    grid,
    more,
  );
}

function axisFigure(job, { features, W, eigenvalues, stability }, axis, signal) {
  const loading = (place) => W[place][axis];
  const error = stability ? (place) => stability.errors[place][axis] : null;
  const ranked = ranking(W, (row) => Math.abs(row[axis]));
  return figure(
    {
      title: `Axis ${axis + 1}`,
      name: `axis-${axis + 1}-${job.id}`,
      height: heightOf(ranked.length),
      note: `Eigenvalue ${number(eigenvalues[axis])}`,
      described: `Loadings of axis ${axis + 1}: ${ranked
        .slice(0, 5)
        .map((place) => `${features[place]} ${number(loading(place), 2)}`)
        .join(", ")}`,
      draw: ({ series, ink }) =>
        bars(
          ranked,
          features,
          loading,
          (place) => (loading(place) < 0 ? series[1] : series[0]),
          "",
          error && { of: error, ink },
        ),
      table: folded("All loadings as a table", () =>
        table(
          ["Feature", { number: "Loading" }, ...(error ? [{ number: "Standard error" }] : [])],
          ranked.map((place) => [features[place], number(loading(place)), ...(error ? [number(error(place), 2)] : [])]),
          `Loadings of axis ${axis + 1}`,
        ),
      ),
    },
    signal,
  );
}

function ranking(values, size) {
  return values
    .map((value, place) => [size(value), place])
    .sort(([one], [other]) => other - one)
    .map(([, place]) => place);
}

function bars(ranked, features, value, color, unit, whisker = null) {
  const kept = ranked.slice(0, BARS);
  const heights = kept.map((_, place) => -place); // the strongest on top; names may repeat once they are cut, places do not
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
          (place) =>
            `${label(features[place], 60)}: ${number(value(place))}${whisker ? ` ± ${number(whisker.of(place), 2)}` : ""}${unit && ` ${unit}`}`,
        ),
        ...(whisker
          ? { error_x: { type: "data", array: kept.map(whisker.of), color: whisker.ink, thickness: 1.2, width: 3 } }
          : {}),
      },
    ],
    layout: {
      margin: { l: 8, r: 12, t: 4, b: 30 },
      bargap: 0.25,
      xaxis: { ticksuffix: unit && ` ${unit}`, zeroline: true, nticks: 5, tickangle: 0 },
      yaxis: {
        tickvals: heights,
        ticktext: kept.map((place) => label(features[place], 24)),
        automargin: true,
        showgrid: false,
        zeroline: false,
        range: [0.6 - kept.length, 0.6],
      },
    },
  };
}

function heightOf(features) {
  return 46 + 24 * Math.max(2, Math.min(BARS, features));
}
