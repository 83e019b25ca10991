// Between what the form holds and the JSON of POST /jobs.

// Only what differs from the API's defaults is said, so that the JSON stays short enough to read.
export function specOf(state, dataset, catalogue) {
  const spec = { dataset: dataset.id, paradigm: state.paradigm };
  for (const parameter of parametersOf(state.paradigm, catalogue)) {
    const value = state.values[parameter.name];
    if (value === undefined || value === parameter.default) continue;
    spec[parameter.name] = value;
  }
  spec.kernel = kernelOf(state.kernel);
  const features = featuresOf(state, dataset, spec);
  if (features) spec.features = features;
  if (state.values.image) spec.metadata = { ...spec.metadata, image: state.values.image };
  return spec;
}

export function parametersOf(paradigm, catalogue) {
  return catalogue.paradigms.find((entry) => entry.name === paradigm)?.parameters ?? [];
}

// The state that makes this spec: to change a job and run it again.
export function stateOf(spec, dataset) {
  const { paradigm, kernel, features, metadata, dataset: _, ...values } = spec;
  const open = (name, value) => kernel === "auto" && value === "auto" && (name === "q" || name === "scale"); // as the kernel has it
  const given = Object.fromEntries(
    Object.entries(values).filter(([name, value]) => value !== null && !open(name, value)),
  );
  if (metadata?.image) given.image = metadata.image;
  const { image, ...others } = metadata ?? {};
  if (Object.keys(others).length) given.metadata = others;
  const taken = givenColumns(spec);
  const names = features ?? dataset.columns.map((column) => column.name).filter((name) => !taken.has(name));
  return { paradigm, kernel: kernelState(kernel), values: given, features: new Set(names) };
}

// The columns that have another part in the job than being a feature.
export function givenColumns(spec) {
  const fields = {
    supervised: ["target"],
    semi_supervised: ["scores", "reference"],
    alternative: ["clustering", "reference"],
  };
  return new Set((fields[spec.paradigm] ?? ["reference"]).flatMap((field) => spec[field] ?? []));
}

function featuresOf(state, dataset, spec) {
  const taken = givenColumns(spec);
  const free = dataset.columns.map((column) => column.name).filter((name) => !taken.has(name));
  const used = free.filter((name) => state.features.has(name));
  return used.length === free.length ? null : used;
}

function kernelOf({ name, ...parameters }) {
  if (name === "sum" || name === "aligned")
    return parameters[name] === undefined ? { [name]: [] } : { [name]: parameters[name] };
  return Object.keys(parameters).length ? { name, ...parameters } : name;
}

function kernelState(kernel) {
  if (typeof kernel === "string") return { name: kernel };
  if (kernel.sum || kernel.aligned) return { name: kernel.sum ? "sum" : "aligned", ...kernel };
  return { ...kernel };
}
