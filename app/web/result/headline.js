// What a job found, in two sentences.

import { h } from "../dom.js";
import { counted, listed, number, percent } from "./format.js";

const MOST_NAMED = 4;

export function headline({ job, result }) {
  const { spec } = job;
  const one = result.axes.length === 1;
  const axes = counted(result.axes.length, "new axis", "new axes");
  return h(
    "section",
    { class: "headline", "aria-label": "Summary" },
    h(
      "p",
      { class: "claim" },
      `${counted(result.features.length, "feature")} became ${axes}${purpose(spec, one)}${quality(result.metrics, one)}`,
    ),
    h("p", { class: "lead" }, `${one ? "It is" : "They are"} made mostly of `, strongest(result), "."),
    result.converged ? null : h("p", { class: "notice" }, result.stop),
    result.warnings.length
      ? h(
          "ul",
          { class: "notice plain" },
          result.warnings.map((warning) => h("li", {}, warning)),
        )
      : null,
  );
}

function purpose(spec, one) {
  if (spec.paradigm === "supervised") return ` that ${one ? "goes" : "go"} with ${listed([spec.target].flat())}`;
  const clusters = ` that ${one ? "shows" : "show"} ${counted(spec.clusters, "cluster")}`;
  if (spec.paradigm === "semi_supervised") return `${clusters} in agreement with ${listed([spec.scores].flat())}`;
  return spec.paradigm === "alternative" ? `${clusters} other than those of ${spec.clustering}` : clusters;
}

function quality({ accuracy, r2, nmi_reference: nmi, silhouette, novelty }, one) {
  if (accuracy !== undefined && accuracy !== null)
    return `: ${one ? "it tells" : "they tell"} ${percent(accuracy)} of unseen rows right.`;
  if (r2 !== undefined && r2 !== null)
    return `: ${one ? "it explains" : "they explain"} ${percent(Math.max(0, r2))} of its variation in unseen rows.`;
  if (nmi !== undefined && nmi !== null) return `: the clusters agree with the known classes to ${percent(nmi)} (NMI).`;
  if (novelty !== undefined && novelty !== null) return `: ${percent(novelty)} of it is new.`;
  return silhouette === undefined || silhouette === null
    ? "."
    : ` (silhouette ${number(silhouette, 2)}, of at most 1).`;
}

// The features that weigh most: as many as make up half of the whole, and at most a few.
function strongest({ features, importance }) {
  const order = importance.map((share, place) => [share, features[place]]).sort(([one], [other]) => other - one);
  let sum = 0;
  const named = [];
  for (const [share, name] of order.slice(0, MOST_NAMED)) {
    named.push(name);
    sum += share;
    if (sum >= 0.5) break;
  }
  return h("strong", {}, `${listed(named)} (${percent(sum)})`);
}
