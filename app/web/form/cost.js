// How long a job will take, roughly. The numbers are CPU seconds of jobs that choose their settings, on generated tables of
// 150 to 10,000 rows and 4 to 100 features; twelve such jobs took 0.7 to 1.3 times the estimate.

import { counted } from "../format.js";
import { isClassColumn } from "./proposal.js";

const BASE = 0.45; // seconds of a table with one row and TYPICAL_FEATURES
const TYPICAL_FEATURES = 10;
const [ROW_POWER, FEATURE_POWER] = [0.28, 0.2];
const OF_VALUES = 1.5; // how much longer a job takes if the column to explain holds values instead of classes
const MAX_LEVELS = 50; // of a text column that becomes a feature for each level
const STEPS = [2, 3, 5, 10, 15, 20, 30, 45, 60]; // seconds that are named

// "178 rows × 13 features: about 5 s on a free core"; without a time if it is not known for such jobs.
export function costText(state, dataset, roles) {
  const used = dataset.columns.filter(({ name }) => state.features.has(name) && !roles.has(name));
  const features = used.reduce((sum, column) => sum + width(column), 0);
  if (!features) return "";
  const size = `${counted(dataset.rows, "row")} × ${counted(features, "feature")}`;
  const target = dataset.columns.find(({ name }) => name === state.values.target);
  if (state.kernel.name !== "auto" || state.paradigm !== "supervised" || !target) return size;
  const seconds =
    BASE *
    dataset.rows ** ROW_POWER *
    (features / TYPICAL_FEATURES) ** FEATURE_POWER *
    (isClassColumn(target, dataset) ? 1 : OF_VALUES);
  return `${size}: about ${STEPS.find((step) => step >= seconds) ?? Math.ceil(seconds / 30) * 30} s on a free core`;
}

function width({ kind, distinct, date_format: date }) {
  return kind === "number" || date || !distinct || distinct <= 2 ? 1 : Math.min(distinct, MAX_LEVELS);
}
