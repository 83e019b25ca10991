// The Python lines that repeat a job with the library, without the service.

import { groupKind, isClasses } from "./data.js";

const KERNELS = {
  linear: "Linear",
  squared: "Squared",
  polynomial: "Polynomial",
  gaussian: "Gaussian",
  relative_gaussian: "RelativeGaussian",
  multiquadratic: "Multiquadratic",
};
const ESTIMATORS = {
  supervised: "SupervisedISM",
  unsupervised: "UnsupervisedISM",
  semi_supervised: "SemiSupervisedISM",
  alternative: "AlternativeISM",
};
const DEFAULTS = {
  max_iter: 300,
  starts: null,
  scale: "standard",
  precision: "double",
  tolerance: null,
  approximation: null,
  features_per_axis: null,
  balance: false,
  neighbors: false,
};

// The job with what was chosen: the lines repeat the result, not the choice.
function settled({ job, result }) {
  return result?.choice?.spec ?? job.spec;
}

function literal(value) {
  return typeof value === "boolean" ? (value ? "True" : "False") : JSON.stringify(value);
}

// A name for the table's file that any system takes.
export function fileName({ name, id }) {
  const stem = name
    .replace(/(\.(csv|tsv|txt|parquet|npy|npz|json|jsonl|ndjson|gz))+$/i, "")
    .replace(/[^\w-]+/g, "_")
    .replace(/^_+|_+$/g, "");
  return `${stem || id}.parquet`;
}

export function pythonLines(source) {
  const { dataset } = source;
  const spec = settled(source);
  const given = [spec.target ?? spec.scores ?? spec.clustering ?? []].flat();
  const taken = new Set([...given, spec.reference ?? []].flat());
  const features = spec.features ?? dataset.columns.map(({ name }) => name).filter((name) => !taken.has(name));
  const kernel = kernelCode(spec.kernel);
  const text = features.some((name) => dataset.columns.find((column) => column.name === name)?.kind === "text");
  const names = [ESTIMATORS[spec.paradigm], ...kernel.names].sort();
  return [
    "import numpy as np",
    "import pyarrow.parquet as pq",
    "",
    `from ism_core import ${[...new Set(names)].join(", ")}`,
    text ? "from ism_jobs.encoding import Encoding" : null,
    "",
    `table = pq.read_table(${JSON.stringify(fileName(dataset))})  # the table as the service keeps it: see "Take away"`,
    `features = ${list(features)}`,
    text
      ? 'X = Encoding.fit(table, features, "onehot").encode(table)  # a column for each text'
      : "X = np.column_stack([table[name].to_numpy() for name in features])",
    given.length ? givenLine(given, dataset) : null,
    ...missingLines(spec, given, dataset),
    "",
    `ism = ${ESTIMATORS[spec.paradigm]}(`,
    ...parameters(source, kernel.code).map((line) => `    ${line},`),
    given.length ? ").fit(X, y)" : ").fit(X)",
    "embedding = ism.transform(X)  # the rows in the new axes",
    "W = ism.components_.T  # a row for each feature, a column for each axis",
    spec.paradigm === "supervised" ? null : "labels = ism.labels_  # each row's cluster",
    "print(W)",
    "",
  ]
    .filter((line) => line !== null)
    .join("\n");
}

function givenLine(given, dataset) {
  const isText = (name) => dataset.columns.find((column) => column.name === name)?.kind === "text";
  const one = (name) =>
    isText(name)
      ? `np.array(table[${JSON.stringify(name)}].to_pylist(), dtype=object)`
      : `table[${JSON.stringify(name)}].to_numpy()`;
  return given.length === 1
    ? `y = ${one(given[0])}`
    : `y = np.column_stack([table[name].to_numpy() for name in ${list(given)}])`;
}

function missingLines(spec, given, dataset) {
  if (spec.missing === "mean")
    return ["X = np.where(np.isnan(X), np.nanmean(X, axis=0), X)  # what is missing becomes the column's mean"];
  if (spec.missing !== "drop") return [];
  const isText = dataset.columns.find((column) => column.name === given[0])?.kind === "text";
  const there = isText
    ? "np.array([value is not None for value in y])"
    : "~np.isnan(y.reshape(len(y), -1)).any(axis=1)";
  const target = spec.paradigm === "supervised" ? ` & ${there}` : "";
  return [
    `complete = ~np.isnan(X).any(axis=1)${target}`,
    given.length ? "X, y = X[complete], y[complete]" : "X = X[complete]",
  ];
}

function parameters(source, kernel) {
  const spec = settled(source);
  const lines = [kernel, `q=${spec.q}`];
  if (spec.clusters) lines.push(`n_clusters=${spec.clusters}`);
  if (spec.mu !== undefined && spec.mu !== null) lines.push(`mu=${spec.mu}`);
  lines.push(`delta=${spec.delta}`, `random_state=${spec.seed}`);
  for (const [name, usual] of Object.entries(DEFAULTS)) {
    if (spec[name] !== undefined && spec[name] !== usual) lines.push(`${name}=${literal(spec[name])}`);
  }
  const kind = kindOf(source);
  if (kind) lines.push(`kind="${kind}"`);
  return lines;
}

// How what is given is read: the service looks at the whole column, the library at the array.
function kindOf(source) {
  const {
    job: { spec },
    dataset,
  } = source;
  if (spec.paradigm === "supervised")
    return Array.isArray(spec.target) && spec.target.length > 1 && spec.target_kind === "auto"
      ? "real"
      : groupKind(source) === "values"
        ? "real"
        : "labels";
  if (spec.paradigm !== "semi_supervised") return null;
  const scores = [spec.scores].flat();
  return scores.length === 1 && isClasses(dataset.columns.find(({ name }) => name === scores[0])) ? "labels" : "real";
}

function kernelCode(kernel) {
  if (typeof kernel === "string") return kernelCode({ name: kernel });
  if (kernel.sum) {
    const parts = kernel.sum.map(({ weight = 1, kernel: part }) => ({ weight, ...kernelCode(part) }));
    return {
      code: parts.map(({ weight, code }) => `${weight} * ${code}`).join(" + "),
      names: parts.flatMap(({ names }) => names),
    };
  }
  if (kernel.aligned) {
    const parts = kernel.aligned.map(kernelCode);
    return {
      code: `aligned(${parts.map(({ code }) => code).join(", ")})`,
      names: ["aligned", ...parts.flatMap(({ names }) => names)],
    };
  }
  const { name, ...given } = kernel;
  return {
    code: `${KERNELS[name]}(${Object.entries(given)
      .map(([key, value]) => `${key}=${JSON.stringify(value)}`)
      .join(", ")})`,
    names: [KERNELS[name]],
  };
}

// Names as a list of Python, in lines that can be read.
function list(names) {
  const quoted = names.map((name) => JSON.stringify(name));
  if (quoted.join(", ").length < 80) return `[${quoted.join(", ")}]`;
  const lines = [""];
  for (const name of quoted) {
    if (lines.at(-1).length + name.length > 90) lines.push("");
    lines[lines.length - 1] += `${lines.at(-1) ? " " : ""}${name},`;
  }
  return `[\n${lines.map((line) => `    ${line}`).join("\n")}\n]`;
}
