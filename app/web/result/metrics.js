// The quality of a result: each metric with its meaning, and the certificate, which shows whether it is a maximum.

import { h } from "../dom.js";
import { integer, number, percent, shadedCells, table } from "../format.js";

const QUALITY = {
  accuracy: [
    "Accuracy",
    "The cross-validated share of rows that a support vector machine (SVM) on the new axes classifies correctly.",
  ],
  r2: [
    "R²",
    "The cross-validated share of the target's variance that a support vector machine (SVM) on the new axes explains.",
  ],
  nmi_reference: [
    "Agreement with the known classes",
    "Normalized mutual information (NMI) of clusters and classes: 1 if they are the same grouping, 0 if unrelated.",
  ],
  nmi_scores: [
    "Agreement with the scores",
    "Normalized mutual information (NMI) of clusters and scores: 1 if they are the same grouping, 0 if unrelated.",
  ],
  novelty: ["Novelty", "1 − NMI of the new clusters and the known clustering: 1 if they are unrelated, 0 if the same."],
  silhouette: [
    "Silhouette",
    "Compares the distance of rows to their own cluster with that to the nearest other one: 1 is best, below 0 is bad.",
  ],
  association: ["Association", "The share of the total similarity between rows that is within clusters, from 0 to 1."],
  hsic_normalized: [
    "Normalized HSIC",
    "The dependence between the new axes and the classes, values or clusters under the job's kernel, from 0 to 1.",
  ],
};
const DETAILS = {
  hsic: [
    "HSIC",
    "The Hilbert-Schmidt independence criterion before normalization. Compare it only for the same data and kernel.",
  ],
  objective: [
    "Objective (J)",
    "The quantity that was maximized. Compare it only for the same data, kernel and kind of job.",
  ],
  objective_error: [
    "Relative error of the objective",
    "The relative error of J that rounding and approximations cause.",
  ],
  gradient_error: ["Relative error of the gradient", "The same for the gradient of J."],
  iterations: ["Iterations", "The number of optimization steps."],
  seconds_choice: ["Time to choose settings", "The time for all candidates that were tried."],
  seconds_solve: ["Time to optimize the axes", "The time of the optimization alone."],
  seconds_total: ["Total time", "The time of the job, with cross-validation and metrics."],
  peak_memory_bytes: ["Peak memory", "The largest amount of memory that the job used."],
};

const MAX_CONFUSED = 10; // classes whose confusions are shown

export function metricsSection({ result }) {
  const { metrics } = result;
  const present = (meanings) => Object.entries(meanings).filter(([name]) => Number.isFinite(metrics[name]));
  const details = present(DETAILS).map(([name, [title, meaning]]) => definition(title, format(name, metrics), meaning));
  return h(
    "section",
    {},
    h("h2", {}, "Quality of the result"),
    h(
      "div",
      { class: "grid three" },
      present(QUALITY).map(([name, [title, meaning]]) => metricCard(name, title, meaning, metrics)),
    ),
    comparison(result),
    h(
      "div",
      { class: "grid" },
      certificate(result),
      h("div", { class: "card" }, h("h3", {}, "Details"), h("dl", { class: "definitions" }, details)),
    ),
  );
}

// The score beside its baselines, what the axes miss, and each class with its confusions.
function comparison({ baseline, missed }) {
  if (!baseline && !missed) return null;
  const card = (title, ...content) => h("div", { class: "card" }, h("h3", {}, title), ...content);
  return [
    h(
      "div",
      { class: "grid" },
      baseline ? card("Comparison", h("p", {}, baseline.sentence), scores(baseline)) : null,
      missed ? card("What the axes miss", h("p", {}, missed.sentence)) : null,
    ),
    baseline?.classes.length ? h("div", { class: "grid confusion" }, card("Classes", ...confusion(baseline))) : null,
  ];
}

function scores({ measure, score, error, constant, linear, linear_error: linearError }) {
  const written = (value) => (measure === "accuracy" ? percent(value) : number(value, 3));
  const constantTitle = measure === "accuracy" ? "Most frequent class" : "Mean";
  return table(
    ["Prediction by", { number: measure === "accuracy" ? "Accuracy" : "R²" }],
    [
      ["The axes", `${written(score)} ± ${written(error)}`],
      ["Linear model on all features", `${written(linear)} ± ${written(linearError)}`],
      [constantTitle, written(constant)],
    ],
    "Scores of the axes and of the baselines; the number after ± is the standard error",
  );
}

function confusion({ classes, confusion: counts }) {
  const shown = classes.length <= MAX_CONFUSED;
  const share = (value) => (value === null ? "–" : percent(value));
  const heads = ["Class", { number: "Precision" }, { number: "Recall" }, { number: "Rows" }];
  const rows = classes.map((each) => [each.class, share(each.precision), share(each.recall), integer(each.rows)]);
  const predicted = classes.map((each) => ({ number: `as ${each.class}` }));
  return [
    table(
      shown ? [...heads, ...predicted] : heads,
      shown ? rows.map((row, place) => [...row, ...shadedCells(counts[place])]) : rows,
      "Precision, recall and predicted classes of held-out rows",
    ),
    h(
      "p",
      { class: "hint" },
      "Precision: the share of rows predicted as the class that belong to it. Recall: the share of its rows that are found.",
      shown ? " The last columns count the rows of each class by predicted class." : "",
    ),
  ];
}

function metricCard(name, title, meaning, metrics) {
  const deviation = metrics[`${name}_std`];
  const format2 = name === "accuracy" ? percent : (value) => number(value, 2);
  return h(
    "div",
    { class: "card metric-card" },
    h("h3", {}, title),
    h(
      "p",
      { class: "metric-value" },
      format(name, metrics),
      Number.isFinite(deviation)
        ? h("small", { title: "Standard deviation over the folds" }, ` ± ${format2(deviation)}`)
        : null,
    ),
    h("p", { class: "hint" }, meaning),
  );
}

function format(name, metrics) {
  const value = metrics[name];
  if (name === "accuracy") return percent(value);
  if (name.startsWith("seconds")) return `${number(value)} s`;
  return name === "peak_memory_bytes" ? `${number(value / 2 ** 20, 3)} MiB` : number(value);
}

function definition(title, value, meaning) {
  return [h("dt", {}, title, h("span", {}, value)), h("dd", {}, meaning)];
}

function certificate({ converged, stop, certificate: found, method, error }) {
  const lines = [
    [
      "Gradient",
      found.gradient,
      "The norm of the gradient, relative to the size of the problem. It is 0 at a maximum.",
    ],
    [
      "Eigengap",
      found.eigengap,
      "How far the smallest eigenvalue of the axes is above the largest one left out. Above 0, the axes are well defined.",
    ],
    ["Curvature", found.curvature, "The largest second derivative that was found. It is at most 0 at a maximum."],
    [
      "Orthonormality error",
      found.orthonormality,
      "The largest deviation of WᵀW from the identity. It is 0 up to rounding.",
    ],
  ].filter(([, value]) => value !== undefined);
  return h(
    "div",
    { class: "card" },
    h("h3", {}, "Certificate of convergence"),
    h(
      "p",
      {},
      h("span", { class: `badge ${converged ? "succeeded" : "cancelled"}` }, converged ? "Converged" : "Not converged"),
      " ",
      stop,
    ),
    typeof found.second_order === "boolean" ? h("p", {}, secondOrder(found.second_order)) : null,
    h(
      "dl",
      { class: "definitions" },
      lines.map(([title, value, meaning]) => definition(title, number(value, 3), meaning)),
    ),
    error ? h("p", { class: "hint" }, `Computation method: ${method}. ${errorText(error)}`) : null,
  );
}

function secondOrder(holds) {
  return holds
    ? "The check of the second derivatives found no direction in which the objective rises, as expected at a local maximum."
    : "The check of the second derivatives found a direction in which the objective rises. More starts may find a better result.";
}

function errorText({ kind, objective }) {
  const size = number(objective, 2);
  if (kind === "rounding") return "The objective is exact up to rounding errors.";
  if (kind === "bound") return `The relative error of the objective is at most ${size}; this bound is proven.`;
  return `The estimated relative error of the objective is ${size}.`;
}
