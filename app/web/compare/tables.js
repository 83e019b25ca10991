// The tables of a comparison: the metrics of each job, the best first, and the importance of features in each job.

import { h } from "../dom.js";
import { number, percent, table } from "../format.js";
import { kernelName, STATES } from "../jobs/labels.js";
import { rankedFeatures } from "../result/data.js";

const METRICS = {
  accuracy: ["Accuracy", percent],
  r2: ["R²", (value) => number(value, 3)],
  nmi_reference: ["NMI", (value) => number(value, 3)],
  novelty: ["Novelty", (value) => number(value, 3)],
  silhouette: ["Silhouette", (value) => number(value, 3)],
  hsic_normalized: ["Normalized HSIC", (value) => number(value, 3)],
};
const SETTINGS = ["paradigm", "q", "clusters", "mu", "delta", "seed", "scale", "precision"]; // named if they differ
const NAMED_FEATURES = 3;
const MAX_FEATURES = 12; // rows of the importance table

export function comparisonTable(jobs, results) {
  const metrics = Object.keys(METRICS).filter((name) => jobs.some((job) => Number.isFinite(job.metrics?.[name])));
  const score = (job) => job.metrics?.[metrics[0]] ?? -Infinity;
  const best = Math.max(...jobs.map(score));
  const heads = [
    "Job",
    "State",
    ...metrics.map((name) => ({ number: METRICS[name][0] })),
    { number: "Iterations" },
    "Converged",
    { number: "Time" },
    "Most important features",
  ];
  const row = (job) => {
    const result = results.get(job.id);
    return [
      h("a", { href: `#/jobs/${job.id}` }, distinctTitle(job, jobs)),
      h("span", { class: `badge ${job.state}` }, STATES[job.state]),
      ...metrics.map((name) => metricCell(job, name, name === metrics[0] && score(job) === best)),
      job.metrics ? number(job.metrics.iterations) : "–",
      result ? number(result.converged) : "–",
      job.metrics ? `${number(job.metrics.seconds_total, 2)} s` : "–",
      job.error ? h("span", { class: "error" }, job.error.detail) : importantFeatures(result),
    ];
  };
  const rows = [...jobs].sort((a, b) => score(b) - score(a)).map(row);
  return h("section", { class: "card compared" }, table(heads, rows, "Compared jobs, the best first"));
}

function metricCell(job, name, isBest) {
  const value = job.metrics?.[name];
  if (!Number.isFinite(value)) return "–";
  const text = METRICS[name][1](value);
  return isBest ? h("strong", { class: "best", title: "Best value" }, text) : text;
}

// A title that distinguishes a job from the others: its label, and the settings in which they differ.
export function distinctTitle(job, jobs) {
  const { spec } = job;
  const differs = (read) => new Set(jobs.map((other) => JSON.stringify(read(other)))).size > 1;
  const parts = [kernelName(spec.kernel)];
  if (spec.kernel.name && differs((other) => other.spec.kernel)) {
    const parameters = Object.entries(spec.kernel).filter(([parameter]) => parameter !== "name");
    const values = parameters.map(([parameter, value]) => `${parameter} ${value}`);
    parts[0] += ` ${values.join(", ")}`;
  }
  for (const name of SETTINGS) {
    const value = spec[name] ?? null;
    if (value !== null && differs((other) => other.spec[name])) parts.push(`${name} ${value}`);
  }
  const label = differs((other) => other.label) || jobs.length === 1 ? job.label : null;
  return [label, parts.join(", ")].filter(Boolean).join(" · ");
}

function importantFeatures(result) {
  if (!result) return "–";
  const first = rankedFeatures(result).slice(0, NAMED_FEATURES);
  return first.map(([name, share]) => `${name} (${Math.round(100 * share)}\u00a0%)`).join(", ");
}

export function importanceTable(jobs, results) {
  const done = jobs.filter((job) => results.has(job.id));
  if (done.length < 2) return null;
  const shares = new Map(); // feature → job → importance
  for (const job of done) {
    const { features, importance } = results.get(job.id);
    features.forEach((name, index) => {
      if (!shares.has(name)) shares.set(name, new Map());
      shares.get(name).set(job.id, importance[index]);
    });
  }
  const largest = (byJob) => Math.max(...byJob.values());
  const shown = [...shares].sort(([, a], [, b]) => largest(b) - largest(a)).slice(0, MAX_FEATURES);
  const full = largest(shown[0][1]) || 1; // the share that fills a bar
  const cell = (share) => (share === undefined ? "–" : shareBar(share, full));
  const rows = shown.map(([name, byJob]) => [name, ...done.map((job) => cell(byJob.get(job.id)))]);
  return h(
    "section",
    { class: "card" },
    h("h2", {}, "Feature importance by job"),
    h(
      "p",
      { class: "hint" },
      "Each bar is the share of a feature in the axes of a job. A feature that is important in all jobs is a more reliable finding.",
    ),
    table(["Feature", ...done.map((job) => distinctTitle(job, jobs))], rows, "Importance of features by job"),
  );
}

function shareBar(share, full) {
  return h(
    "span",
    { class: "meter" },
    h("span", {}, h("span", { style: { width: `${(100 * share) / full}%` } })),
    h("small", {}, percent(share)),
  );
}
