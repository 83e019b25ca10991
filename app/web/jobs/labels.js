// How jobs are named in words.

export const STATES = {
  queued: "waiting",
  running: "running",
  succeeded: "done",
  failed: "failed",
  cancelled: "cancelled",
};
const PARADIGMS = {
  supervised: "explains",
  unsupervised: "groups",
  semi_supervised: "groups guided by",
  alternative: "groups other than",
};

export function settingsLine(spec) {
  const given = spec.target ?? spec.scores ?? spec.clustering;
  const what = [PARADIGMS[spec.paradigm] ?? spec.paradigm, given ? [given].flat().join(", ") : null]
    .filter(Boolean)
    .join(" ");
  const clusters = spec.clusters ? `${spec.clusters} clusters` : null;
  const axes = spec.q === "auto" ? null : `${spec.q} ${spec.q === 1 ? "axis" : "axes"}`;
  return [what, clusters, spec.kernel === "auto" ? "settings chosen" : `${kernelName(spec.kernel)} kernel`, axes]
    .filter(Boolean)
    .join(" · ");
}

// What was chosen: the kernel with its numbers, the scale and q.
export function settingLine({ kernel, scale, q, neighbors }) {
  return [
    kernelWithNumbers(kernel),
    ...(neighbors ? ["neighbors"] : []),
    SCALES[scale] ?? scale,
    `${q} ${q === 1 ? "axis" : "axes"}`,
  ].join(", ");
}

function kernelWithNumbers(kernel) {
  if (kernel.sum) return kernel.sum.map((part) => kernelWithNumbers(part.kernel)).join(" + ");
  const numbers = Object.entries(kernel).filter(([, value]) => typeof value === "number");
  return [kernelName(kernel), ...numbers.map(([name, value]) => `${name} ${Number(value.toPrecision(3))}`)].join(" ");
}

const SCALES = { standard: "standardized", whiten: "whitened", none: "as it is" };

export function kernelName(kernel) {
  if (kernel === "auto") return "chosen";
  if (typeof kernel === "string") return kernel.replaceAll("_", " ");
  if (kernel.name) return kernel.name.replaceAll("_", " ");
  if (kernel.sum) return kernel.sum.map((part) => kernelName(part.kernel ?? part)).join(" + ");
  return kernel.aligned ? `${kernel.aligned.map(kernelName).join(" + ")} (aligned)` : "own";
}

// The figure that says most about how good a job is, as [name, value], or null.
export function mainMetric(job) {
  const found = [
    ["accuracy", "accuracy"],
    ["r2", "R²"],
    ["nmi_reference", "NMI"],
    ["silhouette", "silhouette"],
  ].find(([name]) => Number.isFinite(job.metrics?.[name]));
  if (!found) return null;
  const value = job.metrics[found[0]];
  return [found[1], found[0] === "accuracy" ? `${(100 * value).toFixed(1)} %` : value.toFixed(3)];
}
