// Jobs in a table, the best first, and how much each relies on each feature.

import { h } from "../dom.js";
import { kernelName, STATES } from "../jobs/labels.js";
import { number, percent, table } from "../result/format.js";

const MEASURES = {
  accuracy: ["Accuracy", percent],
  r2: ["R²", (value) => number(value, 3)],
  nmi_reference: ["NMI", (value) => number(value, 3)],
  novelty: ["Novelty", (value) => number(value, 3)],
  silhouette: ["Silhouette", (value) => number(value, 3)],
  hsic_normalized: ["Dependence", (value) => number(value, 3)],
};
const FEATURES = 12;

export function comparisonTable(jobs, results) {
  const measures = Object.keys(MEASURES).filter((name) => jobs.some((job) => Number.isFinite(job.metrics?.[name])));
  const score = (job) => job.metrics?.[measures[0]] ?? -Infinity;
  const best = Math.max(...jobs.map(score));
  const rows = [...jobs]
    .sort((one, other) => score(other) - score(one))
    .map((job) => [
      h("a", { href: `#/jobs/${job.id}` }, title(job, jobs)),
      h("span", { class: `badge ${job.state}` }, STATES[job.state]),
      ...measures.map((name) => measured(job, name, name === measures[0] && score(job) === best)),
      job.metrics ? number(job.metrics.iterations) : "–",
      results.has(job.id) ? (results.get(job.id).converged ? "yes" : "no") : "–",
      job.metrics ? `${number(job.metrics.seconds_total, 2)} s` : "–",
      job.error ? h("span", { class: "error" }, job.error.detail) : strongest(results.get(job.id)),
    ]);
  return h(
    "section",
    { class: "card compared" },
    table(
      [
        "Job",
        "State",
        ...measures.map((name) => ({ number: MEASURES[name][0] })),
        { number: "Iterations" },
        "Converged",
        { number: "Time" },
        "Made mostly of",
      ],
      rows,
      "Jobs compared, the best first",
    ),
  );
}

function measured(job, name, best) {
  const value = job.metrics?.[name];
  if (!Number.isFinite(value)) return "–";
  return best ? h("strong", { class: "best", title: "The best" }, MEASURES[name][1](value)) : MEASURES[name][1](value);
}

// What tells a job apart from the others: its label, or the settings that differ.
export function title(job, jobs) {
  const { spec } = job;
  const differs = (read) => new Set(jobs.map((other) => JSON.stringify(read(other)))).size > 1;
  const parts = [kernelName(spec.kernel)];
  if (typeof spec.kernel === "object" && differs(({ spec: { kernel } }) => kernel) && spec.kernel.name)
    parts[0] += ` ${Object.entries(spec.kernel)
      .filter(([name]) => name !== "name")
      .map(([name, value]) => `${name} ${value}`)
      .join(", ")}`;
  for (const name of ["paradigm", "q", "clusters", "mu", "delta", "seed", "scale", "precision"]) {
    if (spec[name] !== undefined && spec[name] !== null && differs((other) => other.spec[name]))
      parts.push(`${name.replace("_", " ")} ${spec[name]}`);
  }
  return [differs((other) => other.label) || jobs.length === 1 ? job.label : null, parts.join(", ")]
    .filter(Boolean)
    .join(" · ");
}

function strongest(result) {
  if (!result) return "–";
  const order = result.importance
    .map((share, place) => [share, result.features[place]])
    .sort(([one], [other]) => other - one);
  return order
    .slice(0, 3)
    .map(([share, name]) => `${name} (${Math.round(100 * share)} %)`)
    .join(", ");
}

export function importanceTable(jobs, results) {
  const done = jobs.filter((job) => results.has(job.id));
  if (done.length < 2) return null;
  const shares = new Map();
  for (const job of done) {
    const { features, importance } = results.get(job.id);
    features.forEach((name, place) => shares.set(name, [...(shares.get(name) ?? []), [job.id, importance[place]]]));
  }
  const most = (pairs) => Math.max(...pairs.map(([, share]) => share));
  const kept = [...shares].sort(([, one], [, other]) => most(other) - most(one)).slice(0, FEATURES);
  const top = most(kept.flatMap(([, pairs]) => pairs)) || 1;
  const rows = kept.map(([name, pairs]) => [
    name,
    ...done.map((job) => {
      const share = new Map(pairs).get(job.id);
      return share === undefined
        ? "–"
        : h(
            "span",
            { class: "meter" },
            h("span", {}, h("span", { style: { width: `${(100 * share) / top}%` } })),
            h("small", {}, percent(share)),
          );
    }),
  ]);
  return h(
    "section",
    { class: "card" },
    h("h2", {}, "What each relies on"),
    h(
      "p",
      { class: "hint" },
      "The share of the strongest features in the axes of each job. What all agree on can be trusted more.",
    ),
    table(["Feature", ...done.map((job) => title(job, jobs))], rows, "Importance of features by job"),
  );
}
