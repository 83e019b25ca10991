// The summary of a result: its aim, its quality, its most important features, and warnings.

import { run } from "../api.js";
import { actionButton, h } from "../dom.js";
import { counted, listed, number, percent } from "../format.js";
import { columnOf, rankedEntries } from "./data.js";

const MAX_NAMED = 4; // features
const ENOUGH_IMPORTANCE = 0.5; // no more features are named once these reach this share
const MOST_NOTED = 3; // columns that a folded note names
const LONG_NOTE = 100; // characters; a longer one is folded, so that the plot is on the first screen
// Names of columns that hold an event, and the time until the event or the end of the observation.
const EVENT = /^(status|event|cens(or(ed|ing)?)?|death|dead|died|delta)$|[._ ](status|event|death)$/i;
const FOLLOW_UP =
  /^(time|days?|months?|years?|duration|futime|followup|follow[._ ]up|survival|surv|os|pfs|tte)$|[._ ](time|days)$/i;
const DOMINANT = 0.5; // share of the importance from which the page asks when a feature is known

export function headline(source) {
  const { job, result } = source;
  const { features, axes, metrics, converged, stop, warnings } = result;
  const one = axes.length === 1;
  const reduced = `${counted(features.length, "feature was", "features were")} reduced to ${counted(axes.length, "new axis", "new axes")}`;
  return h(
    "section",
    { class: "headline", "aria-label": "Summary" },
    h("p", { class: "claim" }, [`${reduced} ${aim(job.spec, one)}.`, quality(metrics)].filter(Boolean).join(" ")),
    result.baseline ? h("p", { class: "lead" }, result.baseline.sentence) : null,
    h("p", { class: "lead" }, importantFeatures(result), axesForThePicture(result)),
    dominantFeature(source),
    result.missed && result.missed.advice !== "nothing" ? h("p", { class: "notice" }, result.missed.sentence) : null,
    converged || warnings.includes(stop) ? null : h("p", { class: "notice" }, stop),
    warnings.length ? notes(warnings) : null,
  );
}

// The warnings of the result. The beginning of a long one is shown, up to its colon.
function notes(warnings) {
  const note = (text) => {
    const colon = text.indexOf(": ");
    if (text.length <= LONG_NOTE || colon < 0 || colon > LONG_NOTE) return h("li", {}, text);
    const [first, rest] = [text.slice(0, colon), text.slice(colon + 2)];
    const names = rest.match(/"[^"]+"(?= \()/g) ?? [];
    const named = names.length > MOST_NOTED ? counted(names.length, "column") : listed(names);
    return h("li", {}, h("details", {}, h("summary", {}, named ? `${first}: ${named}` : first), rest));
  };
  return h("ul", { class: "notice plain" }, warnings.map(note));
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

// A question about a feature with most of the importance, or about an important follow-up time. The page cannot know
// whether a value is there in time: the days until an event explain the event, but nothing that could be known before.
function dominantFeature({ job, result, dataset }) {
  if (job.spec.paradigm !== "supervised") return null;
  const isEvent = EVENT.test([job.spec.target].flat()[0]);
  const isAsked = ({ name, importance }, place) =>
    (place === 0 && importance >= DOMINANT) || (isEvent && place < MAX_NAMED && FOLLOW_UP.test(name));
  const first = rankedEntries(result).find(isAsked);
  if (!first) return null;
  const used = result.encoding?.columns ?? result.features; // earlier results have no encoding
  const columns = [...new Set(first.names.map((name) => columnOf(name, used) ?? name))];
  const features = used.filter((name) => !columns.includes(name));
  const [names, target] = [listed(columns), listed([job.spec.target].flat())];
  const [is, it] = columns.length === 1 ? ["Is", "it"] : ["Are", "them"];
  const { button, problem } = actionButton(`Run again without ${it}`, () => run({ ...job.spec, features }));
  return h(
    "div",
    { class: "hint row question" },
    h(
      "span",
      {},
      `${is} `,
      h("strong", {}, names),
      ` known before ${target}? What is measured later, or computed from ${target}, explains ${target} but tells nothing new.`,
    ),
    dataset && features.length ? [button, problem] : null,
  );
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
