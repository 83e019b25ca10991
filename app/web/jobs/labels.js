// Words for jobs: their states and stages, their settings in one line, and their most telling metric.

import { counted, listed, number, percent } from "../format.js";

export const STATES = {
  queued: "queued",
  running: "running",
  succeeded: "done",
  failed: "failed",
  cancelled: "cancelled",
};
export const STAGES = {
  preparing: "Reading the table",
  choosing: "Choosing settings",
  search: "Searching for a starting point",
  ascent: "Optimizing the axes",
  sparsity: "Selecting features for each axis",
  stability: "Estimating standard errors",
  validation: "Cross-validating",
  measuring: "Computing metrics",
};
const SCALES = { standard: "standardized", whiten: "whitened", none: "not scaled" };
const MAIN_METRICS = [
  ["accuracy", "accuracy"],
  ["r2", "R²"],
  ["nmi_reference", "NMI"],
  ["silhouette", "silhouette"],
];
export const DELETED_TABLE = "deleted table";

export function isActive({ state }) {
  return state === "queued" || state === "running";
}

// What the user asked for: "explains class · gaussian kernel · 2 axes"
export function requestLine(spec) {
  const kernel = spec.kernel === "auto" ? "automatic settings" : `${kernelName(spec.kernel)} kernel`;
  const axes = spec.q === "auto" ? [] : [counted(spec.q, "axis", "axes")];
  return [aim(spec), kernel, ...axes].join(" · ");
}

function aim(spec) {
  const columns = (names) => listed([names].flat());
  if (spec.target) return `explains ${columns(spec.target)}`;
  const found = spec.clusters ? `finds ${counted(spec.clusters, "cluster")}` : spec.paradigm;
  if (spec.scores) return `${found} guided by ${columns(spec.scores)}`;
  return spec.clustering ? `${found} other than ${columns(spec.clustering)}` : found;
}

// A setting that was tried or chosen: "gaussian sigma 2.1, standardized, 2 axes"
export function settingLine({ kernel, scale, q, neighbors }) {
  const objective = neighbors ? ["neighbors"] : [];
  return [kernelWithNumbers(kernel), ...objective, SCALES[scale] ?? scale, counted(q, "axis", "axes")].join(", ");
}

function kernelWithNumbers(kernel) {
  if (kernel.sum) return kernel.sum.map((part) => kernelWithNumbers(part.kernel)).join(" + ");
  const numbers = Object.entries(kernel).filter(([, value]) => typeof value === "number");
  return [kernelName(kernel), ...numbers.map(([name, value]) => `${name} ${Number(value.toPrecision(3))}`)].join(" ");
}

// A combination of kernels is an object with one key, such as {"sum": […]} or {"aligned": […]}.
export function kernelName(kernel) {
  if (kernel === "auto") return "automatic";
  const name = typeof kernel === "string" ? kernel : kernel.name;
  if (name) return name.replaceAll("_", " ");
  const [[combination, parts]] = Object.entries(kernel);
  const names = parts.map((part) => kernelName(part.kernel ?? part)).join(" + ");
  return combination === "sum" ? names : `${names} (${combination})`;
}

// The metric that says most about the quality of a job, such as "accuracy 97.2 %", or null.
export function mainMetric({ metrics }) {
  const found = MAIN_METRICS.find(([name]) => Number.isFinite(metrics?.[name]));
  if (!found) return null;
  const [name, title] = found;
  return `${title} ${name === "accuracy" ? percent(metrics[name]) : number(metrics[name], 3)}`;
}
