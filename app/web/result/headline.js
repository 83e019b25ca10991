// The summary of a result: its aim, its quality, its most important features, and warnings.

import { h } from "../dom.js";
import { counted, listed, number, percent } from "../format.js";
import { rankedEntries } from "./data.js";

const MAX_NAMED = 4; // features
const ENOUGH_IMPORTANCE = 0.5; // no more features are named once these reach this share

export function headline({ job, result }) {
  const { features, axes, metrics, converged, stop, warnings } = result;
  const one = axes.length === 1;
  const reduced = `${counted(features.length, "feature was", "features were")} reduced to ${counted(axes.length, "new axis", "new axes")}`;
  return h(
    "section",
    { class: "headline", "aria-label": "Summary" },
    h("p", { class: "claim" }, [`${reduced} ${aim(job.spec, one)}.`, quality(metrics)].filter(Boolean).join(" ")),
    result.baseline ? h("p", { class: "lead" }, result.baseline.sentence) : null,
    h("p", { class: "lead" }, importantFeatures(result), axesForThePicture(result)),
    result.missed && result.missed.advice !== "nothing" ? h("p", { class: "notice" }, result.missed.sentence) : null,
    converged ? null : h("p", { class: "notice" }, stop),
    warnings.length
      ? h(
          "ul",
          { class: "notice plain" },
          warnings.map((warning) => h("li", {}, warning)),
        )
      : null,
  );
}

function aim(spec, one) {
  if (spec.paradigm === "supervised") return `that ${one ? "explains" : "explain"} ${listed([spec.target].flat())}`;
  const clusters = `that ${one ? "shows" : "show"} ${counted(spec.clusters, "cluster")}`;
  if (spec.paradigm === "semi_supervised") return `${clusters} guided by ${listed([spec.scores].flat())}`;
  return spec.paradigm === "alternative" ? `${clusters} other than those of ${spec.clustering}` : clusters;
}

function quality({ accuracy, r2, nmi_reference: nmi, silhouette, novelty }) {
  if (Number.isFinite(accuracy)) return `Cross-validated accuracy: ${percent(accuracy)}.`;
  if (Number.isFinite(r2)) return `Cross-validated R²: ${number(r2, 3)}.`;
  if (Number.isFinite(nmi)) return `Agreement with the known classes (NMI, at most 1): ${number(nmi, 3)}.`;
  if (Number.isFinite(novelty)) return `Difference from the known clustering (1 − NMI): ${number(novelty, 3)}.`;
  return Number.isFinite(silhouette) ? `Silhouette (at most 1): ${number(silhouette, 2)}.` : "";
}

function importantFeatures(result) {
  let sum = 0;
  const names = [];
  for (const { name, importance } of rankedEntries(result).slice(0, MAX_NAMED)) {
    if (!importance) break;
    names.push(name);
    sum += importance;
    if (sum >= ENOUGH_IMPORTANCE) break;
  }
  if (!names.length) return "No feature stands out: the axes tell nothing about rows that were held out.";
  const one = names.length === 1;
  return [
    `The most important ${one ? "feature is" : "features are"} `,
    h("strong", {}, listed(names)),
    `, with ${percent(sum)} of the total importance.`,
  ];
}

// A sentence about the axes that tell nothing about held-out rows; empty if all axes count.
function axesForThePicture({ contributions }) {
  const names = (contributions ?? [])
    .filter((each) => !each.informative)
    .map(({ axis }) => axis.replace("axis", "axis "));
  if (!names.length) return "";
  if (names.length === contributions.length)
    return " No axis tells more about rows that were held out than chance, so this ranking may be noise.";
  const one = names.length === 1;
  const subject = listed(names).replace("axis", "Axis");
  return ` ${subject} ${one ? "adds" : "add"} nothing; ${one ? "it is" : "they are"} there for plots only.`;
}
