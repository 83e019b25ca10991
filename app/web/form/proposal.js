// Proposes settings for a table that was just uploaded, and explains the fields of the form for this table.

import { holdsClasses } from "../result/data.js";

const TARGET_NAMES =
  /^(class|classes|target|label|labels|y|species|diagnosis|outcome|response|survived|status|quality|category|type|group|kind|sales|revenue|price|.*[ ._]price|churn|churned|attrition|default|defaulted|spam|fraud|purchase|purchased|salary|wage|score|rating|yield)$/i;
const MAX_LEVELS = 50; // a text column with more distinct values is not proposed as a target
const LARGE_TABLE = 30_000_000; // cells; choosing a gaussian kernel for more takes too long to be the default
export const DEFAULT_CLUSTERS = 3;

// The first state of the form: {paradigm, kernel, values, features, withheld}; `withheld` is the target if it would be a
// feature otherwise.
export function proposal(dataset) {
  const target = likelyTarget(dataset);
  // Known classes are no feature of a clustering either, unless the user says so.
  const features = dataset.columns.filter((column) => column !== target && column.use === "feature");
  const values = { clusters: DEFAULT_CLUSTERS };
  if (target) Object.assign(values, { target: target.name, scores: target.name, clustering: target.name });
  const isLarge = dataset.rows * features.length > LARGE_TABLE;
  return {
    paradigm: target ? "supervised" : "unsupervised",
    kernel: { name: isLarge ? "linear" : "auto" },
    values,
    features: new Set(features.map((column) => column.name)),
    withheld: target?.use === "feature" ? target.name : null,
  };
}

// The column that the user most likely wants to explain, or null: one with a telling name, else one with two classes at
// an end of the table, else the last one with classes.
function likelyTarget(dataset) {
  const usable = dataset.columns.filter((column) => !column.constant && column.missing < dataset.rows / 2);
  const wellNamed = usable.filter((column) => TARGET_NAMES.test(column.name) && !identifies(column));
  const classes = usable.filter((column) => isClassColumn(column, dataset) && !identifies(column));
  const [first, last] = [dataset.columns.find((column) => !identifies(column)), dataset.columns.at(-1)];
  return (
    wellNamed.find((column) => classes.includes(column)) ??
    wellNamed[0] ??
    [first, last].find((column) => classes.includes(column) && column.distinct === 2) ??
    classes.filter(({ kind }) => kind === "text").at(-1) ??
    (classes.includes(last) ? last : null)
  );
}

// Whether a column holds classes, each of several rows.
export function isClassColumn(column, dataset) {
  const { distinct } = column;
  const hasRepeats = distinct !== null && distinct >= 2 && distinct < dataset.rows / 2;
  return hasRepeats && holdsClasses(column) && distinct <= MAX_LEVELS;
}

// The hints of the fields whose text depends on the table or on other fields.
export function hints(state, dataset) {
  const target = dataset.columns.find(({ name }) => name === state.values.target);
  return {
    target: target ? targetHint(target, dataset) : "The column that the new axes should explain.",
    clusters: "How many clusters to find. Try several numbers and compare the results.",
    q: axesHint(state, target, dataset),
    scores: "A column with scores or labels that guide the clusters. Some values may be missing.",
    clustering: "A column with a clustering that you already know. The new clusters will differ from it.",
    reference:
      "A column of known classes. It is not used to find the clusters; the result reports how well they agree with it.",
  };
}

function targetHint(target, dataset) {
  const aim = isClassColumn(target, dataset) ? `separate its ${target.distinct} classes` : "predict its values";
  return `The new axes will ${aim}. The column itself is not used as a feature.`;
}

function axesHint(state, target, dataset) {
  const hasClasses = state.paradigm === "supervised" && target && isClassColumn(target, dataset);
  const classes = hasClasses ? target.distinct : 0;
  const sentences = [
    "q is the number of new axes.",
    classes > 2
      ? `${classes - 1} axes are usually enough to separate ${classes} classes.`
      : "Two axes can be shown in one scatter plot.",
  ];
  if (state.kernel.name === "auto") sentences.push("Leave it empty to have it chosen from the data.");
  return sentences.join(" ");
}

// Whether a column only numbers or names the rows.
function identifies(column) {
  return column.use === "left_out" && (column.whole || column.kind === "text") && !column.date_format;
}
