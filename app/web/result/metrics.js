// How good a result is, each figure with what it means, and the certificate: has it converged, and why did it stop?

import { h } from "../dom.js";
import { number, percent } from "./format.js";

const MEANING = {
  accuracy: [
    "Accuracy",
    "Share of rows that a classifier on the new axes gets right, among rows it has not seen (cross-validated).",
  ],
  r2: [
    "R²",
    "Share of the target's variation that the new axes explain, in rows not seen (cross-validated). 1 is all, 0 none.",
  ],
  nmi_reference: [
    "Agreement with the known classes",
    "Normalized mutual information of clusters and classes: 1 is the same grouping, 0 unrelated.",
  ],
  nmi_scores: [
    "Agreement with the scores",
    "Normalized mutual information of clusters and the given scores: 1 is the same grouping, 0 unrelated.",
  ],
  novelty: ["Novelty", "How little the clusters repeat the clustering that was given: 1 is entirely new, 0 the same."],
  silhouette: [
    "Silhouette",
    "How well rows fit their own cluster rather than the next: 1 is perfect, 0 on the border, negative misplaced.",
  ],
  association: ["Association", "Share of the likeness between rows that stays within clusters: 1 is all of it."],
  hsic_normalized: [
    "Dependence, normalized",
    "How strongly the new axes depend on what was given, by the job's kernel: 0 not at all, 1 entirely.",
  ],
  hsic: ["Dependence (HSIC)", "The same, not normalized: comparable between jobs on the same data and kernel only."],
  objective: ["Objective", "What was maximized. Comparable between jobs with the same data, kernel and aim only."],
  objective_error: ["Error of the objective", "How far the way it was computed may have led off, relatively."],
  gradient_error: ["Error of the gradient", "The same for the direction of ascent."],
  iterations: ["Iterations", "Steps until it stopped."],
  seconds_choice: ["Seconds to choose", "Time for trying settings."],
  seconds_solve: ["Seconds to solve", "Time for the axes alone."],
  seconds_total: ["Seconds in all", "With validation and measuring."],
  peak_memory_bytes: ["Memory", "The most that the job held at once."],
};
const SHARES = new Set(["accuracy"]);
const SECONDARY = new Set([
  "hsic",
  "objective_error",
  "gradient_error",
  "seconds_choice",
  "seconds_solve",
  "seconds_total",
  "peak_memory_bytes",
  "iterations",
  "objective",
]);

export function metricsSection({ result }) {
  const { metrics } = result;
  const known = Object.keys(MEANING).filter((name) => metrics[name] !== undefined && metrics[name] !== null);
  const first = known.filter((name) => !SECONDARY.has(name));
  return h(
    "section",
    {},
    h("h2", {}, "How good it is"),
    h(
      "div",
      { class: "grid three" },
      first.map((name) => fact(name, metrics)),
    ),
    h(
      "div",
      { class: "grid" },
      certificate(result),
      h(
        "div",
        { class: "card" },
        h("h3", {}, "Figures"),
        h(
          "dl",
          { class: "meanings" },
          known
            .filter((name) => SECONDARY.has(name))
            .map((name) => [
              h("dt", {}, MEANING[name][0], h("span", {}, value(name, metrics[name]))),
              h("dd", {}, MEANING[name][1]),
            ]),
        ),
      ),
    ),
  );
}

function fact(name, metrics) {
  const spread = metrics[`${name}_std`];
  return h(
    "div",
    { class: "card fact" },
    h("h3", {}, MEANING[name][0]),
    h(
      "p",
      { class: "big" },
      value(name, metrics[name]),
      spread === undefined || spread === null
        ? null
        : h("small", {}, ` ± ${SHARES.has(name) ? percent(spread) : number(spread, 2)}`),
    ),
    h("p", { class: "hint" }, MEANING[name][1]),
  );
}

function value(name, found) {
  if (SHARES.has(name)) return percent(found);
  return name === "peak_memory_bytes" ? `${number(found / 2 ** 20, 3)} MiB` : number(found);
}

function certificate({ converged, stop, certificate: found, method, error }) {
  const lines = [
    ["Still to climb", found.gradient, "The gradient that is left, relative to the problem's size: 0 at a maximum."],
    [
      "Eigengap",
      found.eigengap,
      "How far the axes stand out from the best direction left out. Above 0 they are settled.",
    ],
    ["Curvature", found.curvature, "The largest second derivative found: not above 0 at a maximum."],
    [
      "Orthonormality",
      found.orthonormality,
      "How far the axes are from being at right angles and of length 1: rounding only.",
    ],
  ].filter(([, figure]) => figure !== undefined);
  const exact =
    error &&
    {
      rounding: "exact but for rounding",
      bound: `right to ${number(error.objective, 2)} of its size, by a proven bound`,
      estimate: `right to about ${number(error.objective, 2)} of its size, by estimate`,
    }[error.kind];
  return h(
    "div",
    { class: "card" },
    h("h3", {}, "Certificate"),
    h(
      "p",
      {},
      h("span", { class: `badge ${converged ? "succeeded" : "cancelled"}` }, converged ? "Converged" : "Not converged"),
      " ",
      stop,
    ),
    found.second_order === undefined || found.second_order === null
      ? null
      : h(
          "p",
          {},
          found.second_order
            ? "No direction was found in which the objective still rises: a maximum, as far as can be told."
            : "A direction was found in which the objective still rises; more starts may lead higher.",
        ),
    h(
      "dl",
      { class: "meanings" },
      lines.map(([title, figure, meaning]) => [
        h("dt", {}, title, h("span", {}, number(figure, 3))),
        h("dd", {}, meaning),
      ]),
    ),
    exact ? h("p", { class: "hint" }, `Computed by ${method}: the objective is ${exact}.`) : null,
  );
}
