// Plain words for the parameters of the API's catalogue: labels, hints, and the options of menus. What is not listed is
// shown as the catalogue has it.

// Labels of parameters whose names in the API are short. The label of any other parameter is its name.
export const LABELS = {
  target: "Column to explain",
  target_kind: "Classes or values",
  clusters: "Number of clusters",
  scores: "Guiding column",
  clustering: "Known clustering",
  reference: "Compare with",
  q: "New axes (q)",
  mu: "Weight of the guidance (μ)",
  balance: "Balance the classes",
  target_kernel: "Kernel between values",
  features_per_axis: "Features per axis",
  delta: "Convergence tolerance (δ)",
  max_iter: "Maximum number of iterations",
  starts: "Number of starts",
  seed: "Random seed",
  folds: "Cross-validation folds",
  budget: "Seconds to search for settings",
  validation: "Validation of chosen settings",
  resamples: "Resamples for standard errors",
  missing: "Missing values",
  categorical: "Text features",
  dates: "Dates",
  tolerance: "Allowed error of the gradient",
  label: "Name of the job",
};

// The words of options, by parameter and value.
export const OPTIONS = {
  target_kind: { auto: "decide from the column", classes: "classes", values: "measured values" },
  missing: {
    auto: "fill with the median, or a level “missing”",
    mean: "fill with the mean",
    median: "fill with the median",
    drop: "leave out rows",
    refuse: "do not run the job",
  },
  categorical: {
    auto: "decide for each column",
    onehot: "a 0/1 feature for each level",
    refuse: "do not run the job",
  },
  dates: {
    auto: "days, if the column is chosen",
    number: "days since 1970",
    parts: "year, month, weekday and hour",
  },
  scale: {
    auto: "decide by comparing scores",
    standard: "standardize each feature",
    whiten: "whiten: also remove correlations",
    none: "use the values as they are",
  },
  validation: { auto: "correct the score by a bootstrap", nested: "nested cross-validation (slow)" },
  precision: { double: "double", single: "single (faster)" },
  engine: { local: "the worker's machine", dask: "the Dask cluster" },
};

// Hints of parameters whose description in the API names its values.
export const HINTS = {
  target_kind: "Text, and whole numbers with at most 20 distinct values, are classes; other numbers are values.",
  missing: "Rows without a target value are left out, unless incomplete rows stop the job.",
  categorical: "Two levels become one 0/1 feature, and ordered levels (low, medium, high) one number.",
  dates: "A date becomes one number, or a number for each of its parts.",
  scale: "Standardized features have mean 0 and standard deviation 1.",
  validation: "Nested cross-validation lets each fold choose its own settings.",
};
