// Python code that reproduces a job with the library ism_core, without the service.

import { givenColumns, groupKind, holdsClasses } from "./data.js";

// Optional parameters of the estimators, with their defaults there.
const ESTIMATOR_DEFAULTS = {
  max_iter: 300,
  starts: null,
  scale: "standard",
  precision: "double",
  tolerance: null,
  approximation: null,
  features_per_axis: null,
  balance: false,
  neighbors: false,
  target_kernel: "gaussian",
};
const LINE_LENGTH = 90; // characters of a line of names
const EXTENSIONS = /(\.(csv|tsv|tab|txt|jsonl?|ndjson|xlsx|parquet|feather|arrow|dta|z?sav|np[yz]|gz|zip))+$/i;

// The name of the table's Parquet file, with letters that every file system allows.
export function fileName({ name, id }) {
  const stem = name
    .replace(EXTENSIONS, "")
    .replace(/[^\w-]+/g, "_")
    .replace(/^_+|_+$/g, "");
  return `${stem || id}.parquet`;
}

export function pythonCode(source) {
  const { job, result, dataset } = source;
  const spec = result?.choice?.spec ?? job.spec; // the code repeats the chosen settings, not the choice
  const isText = (name) => dataset.columns.find((column) => column.name === name)?.kind === "text";
  const guides = [spec.target ?? spec.scores ?? spec.clustering ?? []].flat();
  const encoding = encodingOf(source, spec, isText);
  const kernel = kernelCode(spec.kernel);
  const estimator = `${className(spec.paradigm)}ISM`;
  const imports = [...new Set([estimator, ...kernel.imports])].sort();
  return [
    "import numpy as np",
    ...(encoding.some(({ kind }) => isDate(kind)) ? ["import pyarrow.compute as pc"] : []),
    "import pyarrow.parquet as pq",
    "",
    `from ism_core import ${imports.join(", ")}`,
    "",
    `table = pq.read_table(${literal(fileName(dataset))})  # the file "Table" under "Downloads"`,
    ...featureLines(encoding),
    ...(guides.length ? [guideLine(guides, isText)] : []),
    ...missingLines(spec, guides, isText, dataset),
    "",
    `ism = ${estimator}(`,
    ...[kernel.code, ...parameterLines(spec), ...kindLine(source)].map((line) => `    ${line},`),
    guides.length ? ").fit(X, y)" : ").fit(X)",
    "embedding = ism.transform(X)  # the coordinates of each row on the new axes",
    "W = ism.components_.T  # the loadings: a row for each feature, a column for each axis",
    ...(spec.paradigm === "supervised" ? [] : ["labels = ism.labels_  # the cluster of each row"]),
    "print(W)",
    "",
  ].join("\n");
}

const isDate = (kind) => kind === "date" || kind === "date_parts";

// [{name, kind, levels, format, hasMissingLevel}]: how each column became features. Results of earlier versions do not
// state it; they have numbers, and text with a feature for each level.
function encodingOf({ dataset, result }, spec, isText) {
  const stored = result?.encoding;
  if (stored)
    return stored.columns.map((name, place) => ({
      name,
      kind: stored.kinds[place],
      levels: stored.levels[place],
      format: stored.date_formats[place],
      hasMissingLevel: stored.missing_levels[place],
    }));
  const taken = new Set(givenColumns(spec));
  const free = dataset.columns.map(({ name }) => name).filter((name) => !taken.has(name));
  const features = Array.isArray(spec.features) ? spec.features : free;
  return features.map((name) => ({ name, kind: isText(name) ? "onehot" : "number", levels: null }));
}

function featureLines(encoding) {
  const features = `features = ${list(encoding.map(({ name }) => name))}`;
  if (encoding.every(({ kind }) => kind === "number"))
    return [features, "X = np.column_stack([table[name].to_numpy() for name in features])"];
  const lines = [features, "", "", "def encode(name):", '    """The columns of numbers that a feature becomes."""'];
  const parts = encoding.filter(({ kind }) => kind !== "number");
  for (const part of parts) lines.push(`    if name == ${literal(part.name)}:`, ...encodeLines(part));
  return [
    ...lines,
    "    return [table[name].to_numpy()]",
    "",
    "",
    "X = np.column_stack([column for name in features for column in encode(name)])",
  ];
}

function encodeLines({ kind, levels, format, hasMissingLevel }) {
  const indented = (lines) => lines.map((line) => `        ${line}`);
  if (isDate(kind)) {
    const dates = `dates = pc.strptime(table[name], format=${literal(format)}, unit="s", error_is_null=True)`;
    const parts = ["pc.year", "pc.month", "pc.day_of_week", ...(format.includes("%H") ? ["pc.hour"] : [])];
    const numbers = (code) => `${code}.to_numpy().astype(float)`;
    if (kind === "date") return indented([dates, `return [${numbers('dates.cast("int64")')} / 86400]  # days`]);
    return indented([dates, `return [${numbers("part(dates)")} for part in (${parts.join(", ")})]`]);
  }
  const missing = hasMissingLevel ? "False" : "table[name].is_null().to_numpy()";
  const lines = [
    "values = np.array(table[name].to_pylist(), dtype=object)",
    ...(hasMissingLevel ? ['values[table[name].is_null().to_numpy()] = "missing"'] : []),
    levels ? `levels = ${list(kind === "binary" ? levels.slice(1) : levels)}` : "levels = sorted({*values} - {None})",
  ];
  if (kind === "ordinal")
    lines.push("return [np.array([levels.index(value) if value in levels else np.nan for value in values])]");
  else lines.push(`return [np.where(${missing}, np.nan, values == level) for level in levels]`);
  return indented(lines.flatMap((line) => line.split("\n")));
}

function guideLine(guides, isText) {
  if (guides.length > 1) return `y = np.column_stack([table[name].to_numpy() for name in ${list(guides)}])`;
  const column = `table[${literal(guides[0])}]`;
  return `y = ${isText(guides[0]) ? `np.array(${column}.to_pylist(), dtype=object)` : `${column}.to_numpy()`}`;
}

function missingLines(spec, guides, isText, dataset) {
  const lines = [];
  const hasGaps = dataset.columns.some(({ name, missing }) => guides.includes(name) && missing);
  if (spec.paradigm === "supervised" && spec.missing !== "refuse" && hasGaps) {
    const known = isText(guides[0])
      ? "np.array([value is not None for value in y])"
      : "~np.isnan(y.reshape(len(y), -1)).any(axis=1)";
    lines.push(`known = ${known}`, "X, y = X[known], y[known]  # the rows with a target");
  }
  if (spec.missing === "drop") {
    lines.push("complete = ~np.isnan(X).any(axis=1)");
    lines.push(guides.length ? "X, y = X[complete], y[complete]" : "X = X[complete]");
  } else if (spec.missing !== "refuse" && dataset.columns.some(({ missing }) => missing)) {
    const fill = spec.missing === "mean" ? "mean" : "median";
    lines.push(
      `X = np.where(np.isnan(X), np.nan${fill}(X, axis=0), X)  # fill missing values with the column's ${fill}`,
    );
  }
  return lines;
}

function parameterLines(spec) {
  const lines = [`q=${spec.q}`];
  if (spec.clusters) lines.push(`n_clusters=${spec.clusters}`);
  if (spec.mu !== undefined && spec.mu !== null) lines.push(`mu=${literal(spec.mu)}`);
  lines.push(`delta=${spec.delta}`, `random_state=${spec.seed}`);
  for (const [name, usual] of Object.entries(ESTIMATOR_DEFAULTS)) {
    if (spec[name] !== undefined && spec[name] !== usual) lines.push(`${name}=${literal(spec[name])}`);
  }
  return lines;
}

// The kind of the target or the scores. The service decides it from the column's description, which the library lacks.
function kindLine(source) {
  const { job, dataset } = source;
  const { paradigm, target, scores } = job.spec;
  const line = (isClasses) => [`kind="${isClasses ? "classes" : "values"}"`];
  if (paradigm === "supervised") {
    const isTable = Array.isArray(target) && target.length > 1 && job.spec.target_kind === "auto";
    return line(!isTable && groupKind(source) !== "values");
  }
  if (paradigm !== "semi_supervised") return [];
  const names = [scores].flat();
  return line(names.length === 1 && holdsClasses(dataset.columns.find(({ name }) => name === names[0])));
}

// {code, imports}: an expression for a kernel, and the names it needs from ism_core.
function kernelCode(kernel) {
  if (typeof kernel === "string") return kernelCode({ name: kernel });
  if (kernel.sum) {
    const parts = kernel.sum.map(({ weight = 1, kernel: part }) => ({ weight, ...kernelCode(part) }));
    return {
      code: parts.map(({ weight, code }) => `${weight} * ${code}`).join(" + "),
      imports: parts.flatMap(({ imports }) => imports),
    };
  }
  if (kernel.aligned) {
    const parts = kernel.aligned.map(kernelCode);
    return {
      code: `aligned(${parts.map(({ code }) => code).join(", ")})`,
      imports: ["aligned", ...parts.flatMap(({ imports }) => imports)],
    };
  }
  const { name, ...parameters } = kernel;
  const given = Object.entries(parameters).map(([key, value]) => `${key}=${literal(value)}`);
  return { code: `${className(name)}(${given.join(", ")})`, imports: [className(name)] };
}

// The library's class for a name of the API: "relative_gaussian" becomes "RelativeGaussian".
function className(name) {
  return name.replace(/(^|_)([a-z])/g, (_, __, letter) => letter.toUpperCase());
}

function literal(value) {
  if (value === null) return "None";
  return typeof value === "boolean" ? (value ? "True" : "False") : JSON.stringify(value);
}

// A list of strings, on several lines if it is long.
function list(names) {
  const quoted = names.map(literal);
  if (quoted.join(", ").length < LINE_LENGTH - 10) return `[${quoted.join(", ")}]`;
  const lines = [""];
  for (const name of quoted) {
    if (lines.at(-1).length + name.length > LINE_LENGTH) lines.push("");
    lines[lines.length - 1] += `${lines.at(-1) ? " " : ""}${name},`;
  }
  return `[\n${lines.map((line) => `    ${line}`).join("\n")}\n]`;
}
