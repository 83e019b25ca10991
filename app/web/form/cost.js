// How long a job will take, roughly, in CPU seconds of jobs on generated tables of 150 to 100,000 rows and 4 to 100
// features, of clusterings up to 5,000 rows. 27 such jobs took 0.3 to 1.2 times the estimate.

import { counted } from "../format.js";
import { isClassColumn } from "./proposal.js";

const TYPICAL_ROWS = 1_000;
const TYPICAL_FEATURES = 10;
// Of each kind of job: seconds of a typical table, and the powers with which they grow with its rows and its features.
const COSTS = {
  "supervised, chosen": [3.1, 0.28, 0.2],
  supervised: [0.8, 0.5, 0.1],
  "unsupervised, chosen": [1.6, 0.8, 0],
  "semi_supervised, chosen": [8, 0.8, 0],
  "alternative, chosen": [5.2, 0.8, 0],
  clusters: [0.4, 0.9, 0],
};
const OF_VALUES = 1.5; // how much longer a job takes if the column to explain holds values instead of classes
const MAX_LEVELS = 50; // of a text column that becomes a feature for each level
const STEPS = [1, 2, 3, 5, 10, 15, 20, 30, 45, 60]; // seconds that are named

// "178 rows × 13 features: about 5 s on a free core"
export function costText(state, dataset, roles) {
  const used = dataset.columns.filter(({ name }) => state.features.has(name) && !roles.has(name));
  const features = used.reduce((sum, column) => sum + width(column), 0);
  if (!features) return "";
  const size = `${counted(dataset.rows, "row")} × ${counted(features, "feature")}`;
  const isChosen = state.kernel.name === "auto";
  const kind = isChosen ? `${state.paradigm}, chosen` : state.paradigm === "supervised" ? "supervised" : "clusters";
  if (!COSTS[kind]) return size;
  const [base, rowPower, featurePower] = COSTS[kind];
  const target = dataset.columns.find(({ name }) => name === state.values.target);
  const isValues = state.paradigm === "supervised" && target && !isClassColumn(target, dataset);
  const seconds =
    base *
    (dataset.rows / TYPICAL_ROWS) ** rowPower *
    (features / TYPICAL_FEATURES) ** featurePower *
    (isValues ? OF_VALUES : 1);
  return `${size}: about ${STEPS.find((step) => step >= seconds) ?? Math.ceil(seconds / 30) * 30} s on a free core`;
}

function width({ kind, distinct, date_format: date }) {
  return kind === "number" || date || !distinct || distinct <= 2 ? 1 : Math.min(distinct, MAX_LEVELS);
}
