// Converts between the state of the form and the job spec, which is the JSON body of POST /jobs.

// Parameters whose value is the name of a column; such a column is not a feature.
export const COLUMN_PARAMETERS = ["target", "scores", "clustering", "reference"];

// Leaves out values that are the API's defaults, so that the JSON is short enough to read.
export function specOf(state, dataset, catalogue) {
  const spec = { dataset: dataset.id, paradigm: state.paradigm };
  for (const parameter of parametersOf(state.paradigm, catalogue)) {
    const value = state.values[parameter.name];
    if (value === undefined || value === parameter.default) continue;
    spec[parameter.name] = value;
  }
  spec.kernel = kernelSpec(state.kernel, catalogue);
  const features = featuresOf(state, dataset, catalogue);
  if (features) spec.features = features;
  if (state.values.image) spec.metadata = { ...spec.metadata, image: state.values.image };
  return spec;
}

export function parametersOf(paradigm, catalogue) {
  return catalogue.paradigms.find((entry) => entry.name === paradigm)?.parameters ?? [];
}

// The state of the form that gives this spec, to edit a job and run it again.
export function stateOf(spec, dataset) {
  const { paradigm, kernel, features, metadata, dataset: _, ...values } = spec;
  const isImplied = (name, value) => kernel === "auto" && value === "auto" && (name === "q" || name === "scale");
  const given = Object.entries(values).filter(([name, value]) => value !== null && !isImplied(name, value));
  const { image, ...otherMetadata } = metadata ?? {};
  const state = { paradigm, kernel: kernelState(kernel), values: Object.fromEntries(given) };
  if (image) state.values.image = image;
  if (Object.keys(otherMetadata).length) state.values.metadata = otherMetadata;
  return { ...state, features: new Set(namedFeatures(features, dataset)) };
}

// The role of each column that is named by a parameter of the job, as a map of column to parameter.
export function columnRoles({ paradigm, values }, catalogue) {
  const known = new Set(parametersOf(paradigm, catalogue).map(({ name }) => name));
  const roles = new Map();
  for (const parameter of COLUMN_PARAMETERS.filter((name) => known.has(name)))
    for (const column of [values[parameter] ?? []].flat()) if (!roles.has(column)) roles.set(column, parameter);
  return roles;
}

// The columns that may be features.
function freeColumns(state, dataset, catalogue) {
  const roles = columnRoles(state, catalogue);
  return dataset.columns.map(({ name }) => name).filter((name) => !roles.has(name));
}

// The names of the columns that the field "features" of a spec stands for, those with another role included.
function namedFeatures(features, { columns }) {
  if (Array.isArray(features)) return features;
  return columns.filter((column) => features === "all" || column.use === "feature").map(({ name }) => name);
}

// The field "features" of the spec, or null if the chosen features are those that the service would choose.
function featuresOf(state, dataset, catalogue) {
  const free = freeColumns(state, dataset, catalogue);
  const used = free.filter((name) => state.features.has(name));
  const proposed = new Set(namedFeatures("auto", dataset));
  if (free.every((name) => state.features.has(name) === proposed.has(name))) return null;
  return used.length === free.length ? "all" : used;
}

// A combination of kernels is an object with one key, such as {"sum": […]}; the form keeps the key as its name.
function kernelSpec({ name, ...parameters }, catalogue) {
  if (catalogue.kernels.find((kernel) => kernel.name === name)?.form === "combination")
    return { [name]: parameters[name] ?? [] };
  return Object.keys(parameters).length ? { name, ...parameters } : name;
}

function kernelState(kernel) {
  if (typeof kernel === "string") return { name: kernel };
  return kernel.name ? { ...kernel } : { name: Object.keys(kernel)[0], ...kernel };
}
