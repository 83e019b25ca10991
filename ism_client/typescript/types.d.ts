// Written by `make openapi` from docs/openapi.json; do not edit.

/** A sum of kernels whose weights are found by centered alignment with the target or the scores. */
export type AlignedKernel = {
  /** The kernels to weight. */
  aligned: ("linear" | "squared" | "polynomial" | "gaussian" | "relative_gaussian" | "multiquadratic" | LinearKernel | SquaredKernel | PolynomialKernel | GaussianKernel | RelativeGaussianKernel | MultiquadraticKernel)[];
};

/** Find clusters that differ from a known clustering. One job for each combination of the values listed. */
export type AlternativeGrid = {
  /** {"features": 2048} uses 2,048 random features in place of all pairs of rows, for Gaussian and multiquadratic kernels and very many rows. The result estimates the error. By default none are used. Or a list of the values to try. */
  approximation?: Approximation | (Approximation | null)[] | null;
  /** The number of seconds after which the search for settings ends and keeps the best candidate so far. By default the search ends by itself. */
  budget?: number | null;
  /** What to do with text features: "onehot" makes a 0/1 feature of each level, "refuse" refuses the job. "auto" makes one 0/1 feature of two levels, one feature of ordered levels (low, medium, high), and else a 0/1 feature of each level. Or a list of the values to try. */
  categorical?: "auto" | "onehot" | "refuse" | ("auto" | "onehot" | "refuse")[];
  /** The column with the known clustering. */
  clustering: string;
  /** The number of clusters to find; at most the number of rows. Or a list of the values to try. */
  clusters: number | number[];
  /** The id of an uploaded data set. Or a list of the values to try. */
  dataset: string | string[];
  /** What to do with dates: "number" makes them days since 1970, "parts" year, month, weekday and hour. "auto" makes them numbers if features names them, else it leaves them out. */
  dates?: "auto" | "number" | "parts";
  /** Convergence tolerance: the iteration ends when eigenvalues, subspace and gradient have settled within it. By default 0.01, and 0.1 for supervised jobs that choose the width of their kernel. Or a list of the values to try. */
  delta?: number | null | (number | null)[];
  /** Where to compute: in the "local" worker, or on the "dask" cluster of this service, if it has one. Or a list of the values to try. */
  engine?: "local" | "dask" | ("local" | "dask")[];
  /** The columns to learn from. "all" are those without another role in the job (target, scores, clustering, reference). "auto" leaves out those that number or identify rows, hold dates, are constant or mostly missing, have too many levels, or copy the target; the result's warnings name them. */
  features?: "auto" | "all" | string[] | null;
  /** The largest number of features in each axis. The solver selects the features that keep the objective highest. By default all features are used. Or a list of the values to try. */
  features_per_axis?: number | null | (number | null)[];
  /** The number of folds for cross-validating the accuracy (classes) or R² (values) of supervised jobs; 0 skips it. Other jobs ignore it. By default 5, or 2 of 3 if settings are chosen from a sample of the rows. A choice of settings that used all rows has its own folds. Or a list of the values to try. */
  folds?: number | 0 | null | (number | 0 | null)[];
  /** The similarity of two projected rows: a kernel's name, an object with its parameters, a weighted {"sum": […]}, or {"aligned": […]}, whose weights are found from the target or the scores. "auto" is chosen from the data, and so are q and scale unless they are given. Or a list of the values to try. */
  kernel?: "linear" | "squared" | "polynomial" | "gaussian" | "relative_gaussian" | "multiquadratic" | "auto" | LinearKernel | SquaredKernel | PolynomialKernel | GaussianKernel | RelativeGaussianKernel | MultiquadraticKernel | SumKernel | AlignedKernel | ("linear" | "squared" | "polynomial" | "gaussian" | "relative_gaussian" | "multiquadratic" | "auto" | LinearKernel | SquaredKernel | PolynomialKernel | GaussianKernel | RelativeGaussianKernel | MultiquadraticKernel | SumKernel | AlignedKernel)[];
  /** A name of your own for the job. */
  label?: string | null;
  /** The largest number of iterations. Or a list of the values to try. */
  max_iter?: number | number[];
  /** Other texts to store with the job, by name. */
  metadata?: Record<string, string>;
  /** What to do with missing values in features: fill in the column's "mean" or "median", "drop" the rows, or "refuse" the job. "auto" fills in medians and gives text a level "missing". All but "refuse" drop rows without a target. Or a list of the values to try. */
  missing?: "auto" | "refuse" | "mean" | "median" | "drop" | ("auto" | "refuse" | "mean" | "median" | "drop")[];
  /** The weight with which the known clustering is avoided; 0 ignores it. Or a list of the values to try. */
  mu?: number | number[];
  /** Whom to tell that the job has ended. */
  notify?: Notify | null;
  /** The purpose of the projection. */
  paradigm: "alternative";
  /** "single" evaluates pairs of rows in single precision, up to twice as fast. The objective is then correct to at least five digits. Or a list of the values to try. */
  precision?: "double" | "single" | ("double" | "single")[];
  /** Among the queued jobs of your API key, those with the highest priority run first. It makes no difference to the jobs of other keys. */
  priority?: number;
  /** The number of new features to find; at most the number of features. "auto" is chosen from the data. The default is "auto" if the kernel is "auto", else 2. Or a list of the values to try. */
  q?: number | "auto" | null | (number | "auto" | null)[];
  /** A column of known classes with which the clusters are compared (NMI). It is not learned from. */
  reference?: string | null;
  /** The number of random halves of the rows to solve again, for standard errors of the loadings; 20 are enough for a plot. With 0, ten halves of at most 500 rows are solved. */
  resamples?: number | 0;
  /** Preprocessing. "standard" scales every feature to mean 0 and standard deviation 1. "whiten" then scales all directions to variance 1, within classes if they are given. "auto" chooses between the two. The default is "auto" if the kernel is "auto", else "standard". Or a list of the values to try. */
  scale?: "standard" | "whiten" | "none" | "auto" | ("standard" | "whiten" | "none" | "auto" | null)[] | null;
  /** The seed of all random numbers: the same seed gives the same result. Or a list of the values to try. */
  seed?: number | number[];
  /** The number of starting points. By default 3 for supervised jobs and 1 for the others; 1 is the paper's start. "path" is continuation from a wide kernel to a narrow one, for supervised jobs only; it is the default for a Gaussian narrower than 0.75 times the median distance, and for a width that is chosen. "interactions", also for supervised jobs, starts from products of two features that the target depends on. Or a list of the values to try. */
  starts?: number | "path" | "interactions" | null | (number | "path" | "interactions" | null)[];
  /** Largest relative error of the gradient that truncating the kernel's series may cause; 0 means no truncation. By default 1e-8, or delta/100 if 1e-8 would save no time. Or a list of the values to try. */
  tolerance?: number | null | (number | null)[];
};

/** Find clusters that differ from a known clustering. */
export type AlternativeSpec = {
  /** {"features": 2048} uses 2,048 random features in place of all pairs of rows, for Gaussian and multiquadratic kernels and very many rows. The result estimates the error. By default none are used. */
  approximation?: Approximation | null;
  /** The number of seconds after which the search for settings ends and keeps the best candidate so far. By default the search ends by itself. */
  budget?: number | null;
  /** What to do with text features: "onehot" makes a 0/1 feature of each level, "refuse" refuses the job. "auto" makes one 0/1 feature of two levels, one feature of ordered levels (low, medium, high), and else a 0/1 feature of each level. */
  categorical?: "auto" | "onehot" | "refuse";
  /** The column with the known clustering. */
  clustering: string;
  /** The number of clusters to find; at most the number of rows. */
  clusters: number;
  /** The id of an uploaded data set. */
  dataset: string;
  /** What to do with dates: "number" makes them days since 1970, "parts" year, month, weekday and hour. "auto" makes them numbers if features names them, else it leaves them out. */
  dates?: "auto" | "number" | "parts";
  /** Convergence tolerance: the iteration ends when eigenvalues, subspace and gradient have settled within it. By default 0.01, and 0.1 for supervised jobs that choose the width of their kernel. */
  delta?: number | null;
  /** Where to compute: in the "local" worker, or on the "dask" cluster of this service, if it has one. */
  engine?: "local" | "dask";
  /** The columns to learn from. "all" are those without another role in the job (target, scores, clustering, reference). "auto" leaves out those that number or identify rows, hold dates, are constant or mostly missing, have too many levels, or copy the target; the result's warnings name them. */
  features?: "auto" | "all" | string[] | null;
  /** The largest number of features in each axis. The solver selects the features that keep the objective highest. By default all features are used. */
  features_per_axis?: number | null;
  /** The number of folds for cross-validating the accuracy (classes) or R² (values) of supervised jobs; 0 skips it. Other jobs ignore it. By default 5, or 2 of 3 if settings are chosen from a sample of the rows. A choice of settings that used all rows has its own folds. */
  folds?: number | 0 | null;
  /** The similarity of two projected rows: a kernel's name, an object with its parameters, a weighted {"sum": […]}, or {"aligned": […]}, whose weights are found from the target or the scores. "auto" is chosen from the data, and so are q and scale unless they are given. */
  kernel?: "linear" | "squared" | "polynomial" | "gaussian" | "relative_gaussian" | "multiquadratic" | "auto" | LinearKernel | SquaredKernel | PolynomialKernel | GaussianKernel | RelativeGaussianKernel | MultiquadraticKernel | SumKernel | AlignedKernel;
  /** A name of your own for the job. */
  label?: string | null;
  /** The largest number of iterations. */
  max_iter?: number;
  /** Other texts to store with the job, by name. */
  metadata?: Record<string, string>;
  /** What to do with missing values in features: fill in the column's "mean" or "median", "drop" the rows, or "refuse" the job. "auto" fills in medians and gives text a level "missing". All but "refuse" drop rows without a target. */
  missing?: "auto" | "refuse" | "mean" | "median" | "drop";
  /** The weight with which the known clustering is avoided; 0 ignores it. */
  mu?: number;
  /** Whom to tell that the job has ended. */
  notify?: Notify | null;
  /** The purpose of the projection. */
  paradigm: "alternative";
  /** "single" evaluates pairs of rows in single precision, up to twice as fast. The objective is then correct to at least five digits. */
  precision?: "double" | "single";
  /** Among the queued jobs of your API key, those with the highest priority run first. It makes no difference to the jobs of other keys. */
  priority?: number;
  /** The number of new features to find; at most the number of features. "auto" is chosen from the data. The default is "auto" if the kernel is "auto", else 2. */
  q?: number | "auto" | null;
  /** A column of known classes with which the clusters are compared (NMI). It is not learned from. */
  reference?: string | null;
  /** The number of random halves of the rows to solve again, for standard errors of the loadings; 20 are enough for a plot. With 0, ten halves of at most 500 rows are solved. */
  resamples?: number | 0;
  /** Preprocessing. "standard" scales every feature to mean 0 and standard deviation 1. "whiten" then scales all directions to variance 1, within classes if they are given. "auto" chooses between the two. The default is "auto" if the kernel is "auto", else "standard". */
  scale?: "standard" | "whiten" | "none" | "auto" | null;
  /** The seed of all random numbers: the same seed gives the same result. */
  seed?: number;
  /** The number of starting points. By default 3 for supervised jobs and 1 for the others; 1 is the paper's start. "path" is continuation from a wide kernel to a narrow one, for supervised jobs only; it is the default for a Gaussian narrower than 0.75 times the median distance, and for a width that is chosen. "interactions", also for supervised jobs, starts from products of two features that the target depends on. */
  starts?: number | "path" | "interactions" | null;
  /** Largest relative error of the gradient that truncating the kernel's series may cause; 0 means no truncation. By default 1e-8, or delta/100 if 1e-8 would save no time. */
  tolerance?: number | null;
};

/** Random features in place of all pairs of rows: the time is linear in the rows, not quadratic. */
export type Approximation = {
  /** The number m of random features; the error is proportional to 1/√m. */
  features: number;
};

/** The validated score of the axes beside those of a constant prediction and of a linear model on all features. */
export type BaselineView = {
  /** Each class; empty for values and for more than 50 classes. */
  classes: ClassScoreView[];
  /** The number of held-out rows by class (rows) and predicted class (columns), in the same order. */
  confusion: number[][];
  /** The share of the most frequent class; 0, the R² of the mean, for values. */
  constant: number;
  /** Its standard error. */
  error: number;
  /** The cross-validated score of a linear model on all features. */
  linear: number;
  /** Its standard error. */
  linear_error: number;
  /** The score. */
  measure: "accuracy" | "r2";
  /** The validated score of the axes. */
  score: number;
  /** The verdict in a sentence. */
  sentence: string;
  /** How the axes compare. A difference counts from two standard errors. */
  verdict: "better_than_linear" | "keeps" | "below_linear" | "no_better_than_constant";
};

/** A batch without its jobs. */
export type BatchItem = {
  /** The time at which the batch was posted. */
  created: string;
  /** The id of the batch. */
  id: string;
  /** The label given when the batch was posted. */
  label: string | null;
  /** Paths of related resources. */
  links: Record<string, string>;
  /** The number of jobs in each state. */
  states: Record<string, number>;
};

/** All jobs of a batch have ended. */
export type BatchMessage = {
  data: EndedBatch;
  /** The time of what happened. */
  timestamp: string;
  type: "batch.ended";
};

/** One page of batches, newest first. */
export type BatchPage = {
  /** The batches of this page. */
  items: BatchItem[];
  /** Paths of this page, and of the next one if there is one. */
  links?: Record<string, string>;
  /** The cursor of the next page; null on the last page. */
  next: string | null;
};

/** Jobs, with what belongs to all of them together. */
export type BatchRequest = {
  /** A grid, or a list of jobs and grids. */
  jobs: SupervisedGrid | UnsupervisedGrid | SemiSupervisedGrid | AlternativeGrid | (SupervisedGrid | UnsupervisedGrid | SemiSupervisedGrid | AlternativeGrid)[];
  /** A name for the batch. */
  label?: string | null;
  /** Whom to tell that all jobs of the batch have ended. */
  notify?: Notify | null;
};

/** One job of a batch. */
export type BatchRow = {
  /** The name of the data set; null if the data set is gone. */
  dataset_name: string | null;
  /** The reason why the job failed. */
  error: string | null;
  /** The id of the job. */
  id: string;
  /** The label given when the job was posted. */
  label: string | null;
  /** The metrics of the job; empty until it has succeeded. */
  metrics: Record<string, number | null>;
  /** The settings that the job was posted with. */
  settings: JobSettings;
  /** The width of a single Gaussian kernel that the job used; null until then. */
  sigma: number | null;
  /** The state of the job. */
  state: State;
  /** The target columns of a supervised job. */
  target: string | string[] | null;
};

/** The jobs of a batch, best first. */
export type BatchView = {
  /** The time at which the batch was posted. */
  created: string;
  /** The id of the batch. */
  id: string;
  /** The jobs, sorted by the metric. */
  jobs: BatchRow[];
  /** The label given when the batch was posted. */
  label: string | null;
  /** Paths of related resources. */
  links: Record<string, string>;
  /** The metric that the jobs are sorted by; null until a job has succeeded. */
  metric: string | null;
  /** The number of jobs in each state. */
  states: Record<string, number>;
};

/** The best candidate so far of a job that chooses its settings, or the axes so far. */
export type BestView = {
  /** The kernel, with the width that it has for the rows that were tried. */
  kernel: Kernel | null;
  /** The number of its picture; each better candidate has a larger one. */
  number: number;
  /** The path of its picture. */
  picture: string;
  /** The number of axes. */
  q: number;
  /** Preprocessing of the rows. */
  scale: string | null;
  /** Its cross-validated accuracy or R², or consensus of a clustering; null if there is none yet. */
  score: number | null;
};

/** One combination of settings that was tried. */
export type CandidateView = {
  /** The weights of the features, features × axes, that it learned from some of the rows; only of the best candidates whose axes differ. `POST /jobs/{id}/project` shows the rows in these axes. */
  W?: number[][] | null;
  /** Whether this combination was chosen. */
  chosen: boolean;
  /** The standard error of the score, if known. */
  error: number | null;
  /** Whether the ascent starts from products of two features that the target depends on. */
  interactions?: boolean;
  /** The kernel with its parameters. */
  kernel: Kernel;
  /** Whether the objective is how well its neighbors predict each row's class or values. */
  neighbors?: boolean;
  /** The number of axes. */
  q: number;
  /** How the features were scaled. */
  scale: string;
  /** The score, higher is better; null if it could not be computed. */
  score: number | null;
  /** The time it took in all folds, in seconds. */
  seconds: number;
};

/** Checks of W. A value is null if its check was not made, as for sparse axes. */
export type CertificateView = {
  /** The largest second derivative of J that was found, relative to 2‖Φ‖; at most 0 at a maximum. */
  curvature?: number | null;
  /** The smallest eigenvalue of Φ in W less the largest one outside; null if nothing is outside. */
  eigengap?: number | null;
  /** The norm of the gradient at W relative to Φ; 0 at a maximum. */
  gradient?: number | null;
  /** The largest entry of |WᵀW − I|. */
  orthonormality?: number | null;
  /** Whether the second-order condition of a maximum holds. */
  second_order?: boolean | null;
};

/** Settings were chosen. */
export type ChoiceEvent = {
  data: ChosenView;
  event: "choice";
  /** The id of the event, for Last-Event-ID. */
  id: string;
};

/** The settings that were chosen automatically, and the candidates they were chosen from. */
export type ChoiceView = {
  /** All candidates in the order in which they were tried. Their scores come from the search; the score in `validation` is corrected for the choice of the best. */
  candidates: CandidateView[];
  /** The score that candidates are compared by. */
  criterion: string;
  /** Whether the search ended on request, before all candidates were tried. */
  cut_short?: boolean;
  /** Of a table by reference: the score on rows that the choice never saw. */
  final_check?: FinalCheckView | null;
  /** Why this candidate was chosen. */
  reason: string;
  /** The number of rows that candidates were tried on; 0 if there were too few rows to choose. */
  rows: number;
  /** The time that the choice took, in seconds. */
  seconds: number;
  /** The job with the chosen settings; posting it repeats the result without a choice. */
  spec: PostedJob;
};

/** The settings that were chosen. */
export type ChosenView = {
  /** The score that candidates were compared by. */
  criterion: string;
  /** Whether the search ended on request. */
  cut_short?: boolean;
  /** Seconds since the job began. */
  elapsed_seconds: number;
  /** Why this candidate was chosen. */
  reason: string;
  /** Estimated seconds left; null while there is no estimate. */
  remaining_seconds: number | null;
  /** The number of rows that candidates were tried on. */
  rows: number;
  /** The time that the choice took, in seconds. */
  seconds: number;
  /** The job with the chosen settings. */
  spec: PostedJob;
};

/** How well one class is predicted on held-out rows. */
export type ClassScoreView = {
  /** The class. */
  class: string;
  /** The share of rows predicted as this class that belong to it; null if there are none. */
  precision: number | null;
  /** The share of rows of this class that are predicted as it. */
  recall: number | null;
  /** The number of held-out rows of this class. */
  rows: number;
};

/** One column of a data set, and what a job makes of it unless the job says otherwise. */
export type ColumnView = {
  /** Whether there is at most one distinct value, not counting missing ones. */
  constant: boolean;
  /** "rows" if each number is one more than the number before it; "blocks" if that holds but the count starts again some times; "groups" if numbers repeat before the next follows. */
  counter?: "rows" | "blocks" | "groups" | null;
  /** The format of its dates, as in strptime, if all of its texts are dates. */
  date_format?: string | null;
  /** The number of distinct values, not counting missing ones; null beyond 10,000 texts or 1,000 numbers. */
  distinct?: number | null;
  /** Whether its values are numbers or text. */
  kind: "number" | "text";
  /** The most frequent texts, at most 20; null if too many are distinct to be counted. */
  levels?: string[] | null;
  /** The largest number. */
  maximum?: number | null;
  /** The mean of the numbers, without missing values. */
  mean?: number | null;
  /** The smallest number. */
  minimum?: number | null;
  /** The number of missing values. */
  missing: number;
  name: string;
  /** Why it is left out. */
  reason: string | null;
  /** Whether a job with features = "auto" learns from it. A column with another role is no feature. */
  use: "feature" | "left_out";
  /** Whether every number is whole. */
  whole?: boolean | null;
};

/** What is lost without one axis, on rows that were held out. */
export type ContributionView = {
  /** The name of the axis. */
  axis: string;
  /** The standard error of `objective`; null if nothing was held out. */
  error: number | null;
  /** Whether the axis tells about the target; else it is for plots only. */
  informative: boolean;
  /** The share of the objective J that is lost without the axis. */
  objective: number;
  /** The explained variance of the target that is lost without the axis; null if nothing was held out. */
  score: number | null;
  /** The weight of the axis in the importance; the shares add up to 1. */
  share: number;
};

/** A data set in a list. */
export type DatasetItem = {
  /** The number of columns. */
  columns: number;
  /** The time of the upload. */
  created: string;
  /** The id of the data set. */
  id: string;
  /** The name to show. */
  name: string;
  /** The number of rows. */
  rows: number;
};

/** One page of data sets, newest first. */
export type DatasetPage = {
  /** The data sets of this page. */
  items: DatasetItem[];
  /** Paths of this page, and of the next one if there is one. */
  links?: Record<string, string>;
  /** The cursor of the next page; null on the last page. */
  next: string | null;
};

/** A data set: its columns with types, missing values, ranges or levels, and its first rows. */
export type DatasetView = {
  /** The size of the uploaded file, or of all files of a table by reference, in bytes. */
  bytes: number;
  /** The columns, in the order of the table. */
  columns: ColumnView[];
  /** The time of the upload. */
  created: string;
  /** The format of the uploaded file. */
  format: string;
  /** A hash of the content and its owner. Uploading the same table again gives the same id. */
  id: string;
  /** Paths of related resources. */
  links: Record<string, string>;
  /** The name to show, by default the name of the uploaded file. */
  name: string;
  /** Assumptions that were made while reading the file. */
  notes: string[];
  /** The first rows. */
  preview: ((number | string | null)[])[];
  /** The number of rows. */
  rows: number;
  /** The number of rows that the columns are described by; null if it is all of them. */
  sampled?: number | null;
  /** Where the rows of a data set by reference stay; null if they were uploaded. */
  uri?: string | null;
};

/** One page of deliveries, newest first. */
export type DeliveryPage = {
  /** The deliveries of this page. */
  items: DeliveryView[];
  /** Paths of this page, and of the next one if there is one. */
  links?: Record<string, string>;
  /** The cursor of the next page; null on the last page. */
  next: string | null;
};

/** A message to a webhook, and what became of it. */
export type DeliveryView = {
  /** What it is about. */
  about: string;
  /** The body as it is sent and signed. */
  body: string;
  /** The time at which the message was made. */
  created: string;
  /** Why the last try has failed. */
  error: string | null;
  /** The id of the message; the receiver gets it as webhook-id in every try. */
  id: string;
  /** The time of the next try of a pending message. */
  next_try: string | null;
  /** failed means that the last try has failed. */
  state: "pending" | "delivered" | "failed";
  /** The HTTP status of the last answer. */
  status: number | null;
  /** How often it was sent. */
  tries: number;
  /** The URL that is called. */
  url: string;
};

/** One column in a group of rows, compared with all other rows. */
export type DifferenceView = {
  /** The name of the column. */
  column: string;
  /** Group minus rest, in standard deviations of the whole column; null if it cannot be computed. */
  difference: number | null;
  /** The standard error of the difference; null if a side has fewer than two values. */
  error: number | null;
  /** The mean, or the share of the level, in the group; null if all its values are missing. */
  group: number | null;
  /** For a text column, the level whose share differs most; null for a numeric column. */
  level: string | null;
  /** The mean, or the share of the level, in all other rows. */
  rest: number | null;
};

/** How each group of rows differs from all other rows of the table. */
export type DifferencesView = {
  /** One entry per group, in the order of the request. */
  groups: app__schemas__datasets__GroupView[];
};

/** How columns of the table became features. All lists are in the order of the columns. */
export type EncodingView = {
  /** The columns that were used. */
  columns: string[];
  /** The format of a column of dates; null for other columns. */
  date_formats?: (string | null)[];
  /** How each column was encoded. */
  kinds?: string[];
  /** The levels of a column of text; null for other columns. */
  levels: (string[] | null)[];
  /** Whether a missing text is a level of its own, "missing". */
  missing_levels?: boolean[];
};

/** A batch whose jobs have all ended. */
export type EndedBatch = {
  /** The time at which the last job ended. */
  ended: string;
  /** The id of the batch. */
  id: string;
  /** The label given when the batch was posted. */
  label: string | null;
  /** The number of jobs in each state. */
  states: Record<string, number>;
};

/** A job that has ended. */
export type EndedJob = {
  /** How many times a worker has started the job. */
  attempt: number;
  /** The id of its batch, if any. */
  batch: string | null;
  /** The id of the data set. */
  dataset: string;
  /** The time at which the job ended. */
  ended: string;
  /** The reason why the job failed. */
  error: string | null;
  /** The id of the job. */
  id: string;
  /** The label given when the job was posted. */
  label: string | null;
  /** The metadata given when the job was posted. */
  metadata: Record<string, string>;
  /** How it has ended. */
  state: State;
};

/** The relative error that the method of computing Φ introduces. */
export type ErrorView = {
  /** The relative error of ΦW. */
  gradient: number | null;
  /** Rounding error only, a proven bound, or an estimate from exactly evaluated pairs of rows. */
  kind: "rounding" | "bound" | "estimate";
  /** The relative error of the objective J. */
  objective: number | null;
};

/** What similar jobs took: the same paradigm, kernel and q, on a table of up to four times or a quarter the size. */
export type EstimateView = {
  /** The number of similar jobs among your latest 200 that have succeeded. */
  jobs: number;
  /** The median of their memory, in bytes; null if it is not known. */
  memory_bytes: number | null;
  /** The median of their time, in seconds, without the time in the queue. */
  seconds: number;
};

/** The error of one field. */
export type FieldProblem = {
  /** The path of the field, such as kernel.sigma, or a column. */
  field: string;
  /** What is wrong with the field and how to fix it. */
  message: string;
  /** Where the field is in the JSON body: a JSON pointer (RFC 6901) as a URI fragment. Absent or null if the field is not part of a JSON body. */
  pointer?: string | null;
};

/** How well the axes of all rows predict rows that the choice never saw. */
export type FinalCheckView = {
  /** Its standard error. */
  error: number;
  /** The number of rows that were predicted. */
  rows: number;
  /** The score of these rows: accuracy or R², as of a candidate. */
  score: number;
};

/** A random half of the rows was solved, or a fold was scored. */
export type FoldEvent = {
  data: FoldView;
  event: "resample" | "validation";
  /** The id of the event, for Last-Event-ID. */
  id: string;
};

/** Halves of the rows, or folds, that are done. */
export type FoldView = {
  /** Seconds since the job began. */
  elapsed_seconds: number;
  /** The number that is done. */
  fold: number | null;
  /** The number in all. */
  folds: number | null;
  /** Estimated seconds left; null while there is no estimate. */
  remaining_seconds: number | null;
};

/** f = exp(−β/2σ²). Two rows are similar if they are near each other. Try this kernel first. */
export type GaussianKernel = {
  /** The kernel's name. */
  name: "gaussian";
  /** The width. "median" is the median distance between rows, by all features; "auto" chooses a width of at most that from the data. */
  sigma?: "median" | "auto" | number;
};

/** Groups of rows to compare with the rest of the table. Rows are numbered from 0. */
export type Groups = {
  /** The columns to compare; all by default. */
  columns?: string[] | null;
  /** The row numbers of each group. */
  groups?: number[][] | null;
  /** The rows of each group as bits in base64, instead of `groups`: a bit for each row of the table, the first row in the lowest bit of the first byte. They are short if the table is long. */
  masks?: string[] | null;
};

/** The process answers requests. */
export type Health = {
  /** Always ok. */
  status?: string;
};

export type JobEvent = StateEvent | StepEvent | TrialEvent | ChoiceEvent | FoldEvent | PictureEvent;

/** A job has ended. */
export type JobMessage = {
  data: EndedJob;
  /** The time of what happened. */
  timestamp: string;
  type: "job.succeeded" | "job.failed" | "job.cancelled";
};

/** One page of jobs, newest first. */
export type JobPage = {
  /** The jobs of this page. */
  items: JobView[];
  /** Paths of this page, and of the next one if there is one. */
  links?: Record<string, string>;
  /** The cursor of the next page; null on the last page. */
  next: string | null;
};

/** What one job would do. */
export type JobPlan = {
  /** Probable time and memory, from earlier jobs; null if there were no similar ones. */
  estimate?: EstimateView | null;
  /** The number of features after text is encoded. */
  features: number;
  /** The number of rows that the job would learn from. */
  rows: number;
  /** The number of rows that it would leave out, such as those without a target. */
  rows_dropped: number;
  /** The job with defaults filled in. */
  spec: PostedJob;
  /** The bytes of these rows and features as numbers. A job needs a multiple of that. */
  table_bytes: number;
  /** Columns and rows that would be left out, values that would be filled in. */
  warnings: string[];
};

/** The settings in which jobs may differ, as far as the job has them. */
export type JobSettings = {
  /** {"features": 2048} uses 2,048 random features in place of all pairs of rows, for Gaussian and multiquadratic kernels and very many rows. The result estimates the error. By default none are used. */
  approximation?: Approximation | null;
  /** What to do with text features: "onehot" makes a 0/1 feature of each level, "refuse" refuses the job. "auto" makes one 0/1 feature of two levels, one feature of ordered levels (low, medium, high), and else a 0/1 feature of each level. */
  categorical?: "auto" | "onehot" | "refuse";
  /** The number of clusters to find; at most the number of rows. */
  clusters?: number;
  /** The id of an uploaded data set. */
  dataset?: string;
  /** Convergence tolerance: the iteration ends when eigenvalues, subspace and gradient have settled within it. By default 0.01, and 0.1 for supervised jobs that choose the width of their kernel. */
  delta?: number | null;
  /** Where to compute: in the "local" worker, or on the "dask" cluster of this service, if it has one. */
  engine?: "local" | "dask";
  /** The largest number of features in each axis. The solver selects the features that keep the objective highest. By default all features are used. */
  features_per_axis?: number | null;
  /** The number of folds for cross-validating the accuracy (classes) or R² (values) of supervised jobs; 0 skips it. Other jobs ignore it. By default 5, or 2 of 3 if settings are chosen from a sample of the rows. A choice of settings that used all rows has its own folds. */
  folds?: number | 0 | null;
  /** The similarity of two projected rows: a kernel's name, an object with its parameters, a weighted {"sum": […]}, or {"aligned": […]}, whose weights are found from the target or the scores. "auto" is chosen from the data, and so are q and scale unless they are given. */
  kernel?: "linear" | "squared" | "polynomial" | "gaussian" | "relative_gaussian" | "multiquadratic" | "auto" | LinearKernel | SquaredKernel | PolynomialKernel | GaussianKernel | RelativeGaussianKernel | MultiquadraticKernel | SumKernel | AlignedKernel;
  /** The largest number of iterations. */
  max_iter?: number;
  /** What to do with missing values in features: fill in the column's "mean" or "median", "drop" the rows, or "refuse" the job. "auto" fills in medians and gives text a level "missing". All but "refuse" drop rows without a target. */
  missing?: "auto" | "refuse" | "mean" | "median" | "drop";
  /** The weight of the scores against the structure of the data. "auto" is 50 for classes and 5 for numbers, divided by the share of rows with a score; rows with a class then stay in the cluster of that class. With 0, they still do, but the axes ignore the scores. If settings are chosen, mu is 0 unless guided axes predict withheld classes better. For pairs of rows "auto" is 50 divided by the share of rows in a pair. */
  mu?: "auto" | number;
  paradigm?: string;
  /** "single" evaluates pairs of rows in single precision, up to twice as fast. The objective is then correct to at least five digits. */
  precision?: "double" | "single";
  /** The number of new features to find; at most the number of features. "auto" is chosen from the data. The default is "auto" if the kernel is "auto", else 2. */
  q?: number | "auto" | null;
  /** Preprocessing. "standard" scales every feature to mean 0 and standard deviation 1. "whiten" then scales all directions to variance 1, within classes if they are given. "auto" chooses between the two. The default is "auto" if the kernel is "auto", else "standard". */
  scale?: "standard" | "whiten" | "none" | "auto" | null;
  /** The seed of all random numbers: the same seed gives the same result. */
  seed?: number;
  /** The number of starting points. By default 3 for supervised jobs and 1 for the others; 1 is the paper's start. "path" is continuation from a wide kernel to a narrow one, for supervised jobs only; it is the default for a Gaussian narrower than 0.75 times the median distance, and for a width that is chosen. "interactions", also for supervised jobs, starts from products of two features that the target depends on. */
  starts?: number | "path" | "interactions" | null;
  /** Largest relative error of the gradient that truncating the kernel's series may cause; 0 means no truncation. By default 1e-8, or delta/100 if 1e-8 would save no time. */
  tolerance?: number | null;
};

/** A job and its current state. */
export type JobView = {
  /** How many times a worker has started the job. */
  attempt: number;
  /** The id of the batch that the job belongs to, if any. */
  batch: string | null;
  /** The best candidate so far; null until there is one. */
  best: BestView | null;
  /** Whether the job is running and has been asked to stop. */
  cancel_requested: boolean;
  /** The time at which the job was posted. */
  created: string;
  /** The id of the data set. */
  dataset: string;
  /** The reason why the job failed. */
  error: ProblemView | null;
  /** The time at which the job ended. */
  finished: string | null;
  /** The id of the job. */
  id: string;
  /** The label given when the job was posted. */
  label: string | null;
  /** Paths of related resources; they depend on the state. */
  links: Record<string, string>;
  /** The metadata given when the job was posted. */
  metadata: Record<string, string>;
  /** The metrics of a job that has succeeded. */
  metrics: Record<string, number | null> | null;
  /** How many jobs would start before it if no others came; null once it has started, and in lists. */
  position: number | null;
  /** The progress of a running job. */
  progress: ProgressView | null;
  /** The job as it was posted, with defaults filled in. */
  spec: PostedJob;
  /** The time at which a worker started the job. */
  started: string | null;
  /** The state of the job. */
  state: State;
};

export type Kernel = "linear" | "squared" | "polynomial" | "gaussian" | "relative_gaussian" | "multiquadratic" | "auto" | LinearKernel | SquaredKernel | PolynomialKernel | GaussianKernel | RelativeGaussianKernel | MultiquadraticKernel | SumKernel | AlignedKernel;

/** A kernel, or a combination of kernels. */
export type KernelEntry = {
  description: string;
  /** A value of the field kernel. */
  example: unknown;
  /** How β is computed from two projected rows p: pi·pj (product) or ‖pi − pj‖² (difference). */
  form: "product" | "difference" | "combination";
  formula: string;
  name: string;
  parameters: Parameter[];
  title: string;
};

/** All kernels. */
export type Kernels = {
  /** The kernels. */
  items: KernelEntry[];
};

/** f = β. Finds linear boundaries between classes, much as linear discriminant analysis does. It is fast. */
export type LinearKernel = {
  /** The kernel's name. */
  name: "linear";
};

/** The test whether the target depends on the features beyond the axes. */
export type MissedView = {
  /** What would show the rest. */
  advice: "more_axes" | "another_kernel" | "nothing";
  /** The feature, or the two features together, with the strongest dependence; may be empty. */
  features: string[];
  /** The p-value; at most 0.05 if the axes miss something. */
  p_value: number;
  /** The number of rows that were tested. */
  rows: number;
  /** The outcome in a sentence or two. */
  sentence: string;
};

/** f = −√(β + c²). The distance itself, not its square: distant rows count less than with the squared distance. */
export type MultiquadraticKernel = {
  /** Distances well below c count as equal. "auto" is chosen from the data. */
  c?: "auto" | number;
  /** The kernel's name. */
  name: "multiquadratic";
};

/** Whom to tell that a job or batch has ended. */
export type Notify = {
  /** The URL that gets a signed POST, without a user name, password or fragment. */
  url: string;
};

/** Axes to project the rows of a job onto. */
export type OtherAxes = {
  /** A row for each feature of the job and a column for each axis. */
  W: number[][];
};

/** The Parquet file with the embedding of all rows of a table by reference. */
export type OutputView = {
  /** The number of its rows. */
  rows: number;
  /** Where it is. */
  uri: string;
};

/** A paradigm: the purpose of a projection. */
export type ParadigmEntry = {
  description: string;
  /** A job. */
  example: PostedJob;
  name: string;
  parameters: Parameter[];
  title: string;
};

/** All paradigms. */
export type Paradigms = {
  /** The paradigms. */
  items: ParadigmEntry[];
};

/** A parameter: its type, range and default. */
export type Parameter = {
  /** The words allowed, or the words allowed besides numbers in the range. */
  choices?: (string | number)[] | null;
  /** Whether every paradigm has it. */
  common?: boolean;
  /** The value if none is given; null if there is no default. */
  default: unknown;
  description: string;
  /** The number that the value must exceed. */
  exclusive_minimum?: number | null;
  /** The largest number allowed. */
  maximum?: number | null;
  /** The smallest number allowed. */
  minimum?: number | null;
  name: string;
  required: boolean;
  /** The JSON type of its value; if it may be a number or a word, that of the number. */
  type: "integer" | "number" | "string" | "boolean" | "array" | "object" | "null";
  /** All JSON types that its value may have. */
  types: ("integer" | "number" | "string" | "boolean" | "array" | "object" | "null")[];
};

/** The check of the importance on held-out rows. */
export type PermutationView = {
  /** The explained variance that is lost if the feature is permuted, together with its group. */
  drop: number[];
  /** The standard errors of the drops. */
  error: number[];
  /** The number of rows in each permutation. */
  rows: number;
};

/** A better candidate; only the latest picture is sent. */
export type PictureEvent = {
  data: PictureView;
  event: "picture";
  /** The id of the event, for Last-Event-ID. */
  id: string;
};

/** Some rows in two axes of the best candidate so far. */
export type PictureView = {
  /** For each of these features, its weights in the axes shown. */
  W: number[][];
  /** The axes that are shown. "picture" is a direction of large variance beside the only axis. */
  axes: string[];
  /** For each of these rows, its coordinates. */
  coordinates: number[][];
  /** The features with the largest importance, at most 200. */
  features: string[];
  /** For each of these rows, its target or cluster. */
  group: (string | number | boolean | null)[] | null;
  /** For each of these features, its share of the squared weights. */
  importance: number[];
  /** Its kernel. */
  kernel: Kernel | null;
  /** The number of the picture; each better candidate has a larger one. */
  number: number;
  /** The number of axes of the candidate. */
  q: number;
  /** The numbers of at most 2,000 rows of the table. */
  rows: number[];
  /** Preprocessing of the rows. */
  scale: string | null;
  /** The score of the candidate; null if there is none yet. */
  score: number | null;
};

/** What a request would do. Nothing was stored. */
export type PlanView = {
  /** The number of jobs that the request would make. */
  count: number;
  /** The jobs, in the order of the request. */
  jobs: JobPlan[];
  /** The bytes of memory that one job may use. */
  memory_per_job: number;
};

/** f = (γβ + c)^degree. Uses products of up to `degree` features. It is fast. */
export type PolynomialKernel = {
  /** The number added before the power is taken; 0 leaves out all lower powers. */
  c?: number;
  /** The power. */
  degree?: number;
  /** The factor γ of the inner product. "1/d" is 1 over the number of features that vary; "auto" chooses a value of at least that from the data. */
  gamma?: "1/d" | "auto" | number;
  /** The kernel's name. */
  name: "polynomial";
};

export type PostedJob = SupervisedSpec | UnsupervisedSpec | SemiSupervisedSpec | AlternativeSpec;

export type PostedJobs = SupervisedGrid | UnsupervisedGrid | SemiSupervisedGrid | AlternativeGrid | (SupervisedGrid | UnsupervisedGrid | SemiSupervisedGrid | AlternativeGrid)[] | BatchRequest;

/** The reason why a request was refused or a job failed (RFC 9457). */
export type ProblemView = {
  /** What is wrong and how to fix it. */
  detail: string;
  /** One entry for each invalid field. */
  errors?: FieldProblem[];
  /** The id of the request, as in the header X-Request-ID; null for a job that failed. */
  instance?: string | null;
  /** The HTTP status code. */
  status: number;
  /** The kind of problem in a few words. */
  title: string;
  /** A URI that identifies the kind of problem. */
  type: string;
};

/** The progress of a running job. */
export type ProgressView = {
  /** The angle in radians by which the subspace turned in the last iteration. */
  angle: number | null;
  /** The relative change of the eigenvalues in the last iteration. */
  change: number | null;
  /** Seconds since the job began. */
  elapsed_seconds: number;
  /** The number of cross-validation folds or resamples done. */
  fold?: number | null;
  /** The number of cross-validation folds or resamples in all. */
  folds?: number | null;
  /** The number of iterations so far. */
  iteration: number;
  /** The largest number of iterations. */
  max_iter: number;
  /** The objective J after the last iteration. */
  objective: number | null;
  /** Estimated share of the time that has passed, in per cent. */
  percent?: number | null;
  /** Estimated seconds left; null while there is no estimate. */
  remaining_seconds: number | null;
  /** The current stage: preparing, choosing, search, ascent, sparsity, stability, validation, measuring or writing. */
  stage: string;
  /** While settings are chosen: the current scale and q, how many were tried, the best score. */
  trying?: TryingView | null;
};

/** How much of something your API key uses, and how much it may use. */
export type Quota = {
  /** The most that may be used; null if there is no limit. */
  limit: number | null;
  /** How much is used now. */
  used: number;
};

/** What your API key uses. Without API keys, what all callers use together. */
export type Quotas = {
  /** Queued and running jobs. At the limit, new jobs get a 429. */
  open_jobs: Quota;
  /** Running jobs. At the limit, queued jobs wait. */
  running_jobs: Quota;
  /** Bytes of data sets and jobs. At the limit, uploads and jobs get a 507. */
  stored_bytes: Quota;
};

/** Redis answers and at least one worker is running. */
export type Readiness = {
  /** Always ready; otherwise the response is a problem with status 503. */
  status?: string;
  /** The number of running workers. */
  workers: number;
};

/** f = exp(−β/2σiσj). A Gaussian with a width for each row, for data that are dense in some regions and sparse in others. */
export type RelativeGaussianKernel = {
  /** The kernel's name. */
  name: "relative_gaussian";
  /** σi is the distance from row i to its neighbor of this rank. */
  neighbors?: number;
};

/** The result of a job, without its large tables. */
export type ResultView = {
  /** The weight of each feature in each axis, features × axes. */
  W: number[][];
  /** The names of the columns of W. */
  axes: string[];
  /** The score beside baselines; null if there was no validation. */
  baseline?: BaselineView | null;
  /** Checks of the result that need no second solve. */
  certificate: CertificateView;
  /** Present if settings were chosen automatically. */
  choice?: ChoiceView | null;
  /** The number of rows in each cluster. */
  cluster_sizes?: number[] | null;
  /** What each axis contributes. */
  contributions?: ContributionView[] | null;
  /** Whether the iteration converged within the tolerance. */
  converged: boolean;
  /** The eigenvalues of Φ that belong to the axes. */
  eigenvalues: number[];
  /** How columns of the table became features: the columns, their kinds, and the levels of text. Null for jobs that are older than this field. */
  encoding?: EncodingView | null;
  /** The error of that method; null for jobs that are older than this field. */
  error?: ErrorView | null;
  /** The names of the rows of W. */
  features: string[];
  /** Groups of two or more collinear features. */
  groups?: app__schemas__results__GroupView[];
  /** The share of each feature in the informative axes; the shares add up to 1. */
  importance: number[];
  /** The standard errors of the importance. */
  importance_errors?: number[] | null;
  /** The job. */
  job: JobView;
  /** The kernel with the parameters that were found; it can be posted again. */
  kernel: Kernel;
  /** Paths of related resources. */
  links: Record<string, string>;
  /** How Φ was computed: over all pairs of rows (tiles), by features, or by random features. */
  method: string;
  /** The metrics, by name. */
  metrics: Record<string, number | null>;
  /** What the axes miss; null for clusterings and if there are too few rows. */
  missed?: MissedView | null;
  /** The objective J. */
  objective: number;
  /** The file with the embedding of all rows, if it was wanted. */
  output?: OutputView | null;
  /** The check of the importance by permutation. */
  permutation?: PermutationView | null;
  /** For one axis: the weights of a second axis that is drawn but not ranked. */
  picture?: number[] | null;
  /** The number of rows that were used. */
  rows: number;
  /** Of a table by reference: the number of rows, drawn at random, that settings, accuracy, interpretation and embedding come from. W comes from all rows. */
  sample_rows?: number | null;
  /** Present if features_per_axis was given. */
  sparsity?: SparsityView | null;
  /** Absent if the table has few rows. */
  stability?: StabilityView | null;
  /** Why the iteration ended. */
  stop: string;
  /** The correlation of each feature with each axis, features × axes. */
  structure?: number[][] | null;
  /** The features whose importance is within two standard errors of 0. */
  unclear?: string[];
  /** Present if a supervised job was validated. */
  validation?: ValidationView | null;
  /** The versions that computed the result; null for jobs that are older than this field. */
  versions?: Record<string, string> | null;
  /** Notes about the data and the result. */
  warnings: string[];
};

/** Find clusters that agree with expert scores, and the projection that separates them best. One job for each combination of the values listed. */
export type SemiSupervisedGrid = {
  /** {"features": 2048} uses 2,048 random features in place of all pairs of rows, for Gaussian and multiquadratic kernels and very many rows. The result estimates the error. By default none are used. Or a list of the values to try. */
  approximation?: Approximation | (Approximation | null)[] | null;
  /** The number of seconds after which the search for settings ends and keeps the best candidate so far. By default the search ends by itself. */
  budget?: number | null;
  /** Pairs of rows, numbered from 0, that belong to different clusters. */
  cannot_link?: number[][] | null;
  /** What to do with text features: "onehot" makes a 0/1 feature of each level, "refuse" refuses the job. "auto" makes one 0/1 feature of two levels, one feature of ordered levels (low, medium, high), and else a 0/1 feature of each level. Or a list of the values to try. */
  categorical?: "auto" | "onehot" | "refuse" | ("auto" | "onehot" | "refuse")[];
  /** The number of clusters to find; at most the number of rows. Or a list of the values to try. */
  clusters: number | number[];
  /** The id of an uploaded data set. Or a list of the values to try. */
  dataset: string | string[];
  /** What to do with dates: "number" makes them days since 1970, "parts" year, month, weekday and hour. "auto" makes them numbers if features names them, else it leaves them out. */
  dates?: "auto" | "number" | "parts";
  /** Convergence tolerance: the iteration ends when eigenvalues, subspace and gradient have settled within it. By default 0.01, and 0.1 for supervised jobs that choose the width of their kernel. Or a list of the values to try. */
  delta?: number | null | (number | null)[];
  /** Where to compute: in the "local" worker, or on the "dask" cluster of this service, if it has one. Or a list of the values to try. */
  engine?: "local" | "dask" | ("local" | "dask")[];
  /** The columns to learn from. "all" are those without another role in the job (target, scores, clustering, reference). "auto" leaves out those that number or identify rows, hold dates, are constant or mostly missing, have too many levels, or copy the target; the result's warnings name them. */
  features?: "auto" | "all" | string[] | null;
  /** The largest number of features in each axis. The solver selects the features that keep the objective highest. By default all features are used. Or a list of the values to try. */
  features_per_axis?: number | null | (number | null)[];
  /** The number of folds for cross-validating the accuracy (classes) or R² (values) of supervised jobs; 0 skips it. Other jobs ignore it. By default 5, or 2 of 3 if settings are chosen from a sample of the rows. A choice of settings that used all rows has its own folds. Or a list of the values to try. */
  folds?: number | 0 | null | (number | 0 | null)[];
  /** The similarity of two projected rows: a kernel's name, an object with its parameters, a weighted {"sum": […]}, or {"aligned": […]}, whose weights are found from the target or the scores. "auto" is chosen from the data, and so are q and scale unless they are given. Or a list of the values to try. */
  kernel?: "linear" | "squared" | "polynomial" | "gaussian" | "relative_gaussian" | "multiquadratic" | "auto" | LinearKernel | SquaredKernel | PolynomialKernel | GaussianKernel | RelativeGaussianKernel | MultiquadraticKernel | SumKernel | AlignedKernel | ("linear" | "squared" | "polynomial" | "gaussian" | "relative_gaussian" | "multiquadratic" | "auto" | LinearKernel | SquaredKernel | PolynomialKernel | GaussianKernel | RelativeGaussianKernel | MultiquadraticKernel | SumKernel | AlignedKernel)[];
  /** A name of your own for the job. */
  label?: string | null;
  /** The largest number of iterations. Or a list of the values to try. */
  max_iter?: number | number[];
  /** Other texts to store with the job, by name. */
  metadata?: Record<string, string>;
  /** What to do with missing values in features: fill in the column's "mean" or "median", "drop" the rows, or "refuse" the job. "auto" fills in medians and gives text a level "missing". All but "refuse" drop rows without a target. Or a list of the values to try. */
  missing?: "auto" | "refuse" | "mean" | "median" | "drop" | ("auto" | "refuse" | "mean" | "median" | "drop")[];
  /** The weight of the scores against the structure of the data. "auto" is 50 for classes and 5 for numbers, divided by the share of rows with a score; rows with a class then stay in the cluster of that class. With 0, they still do, but the axes ignore the scores. If settings are chosen, mu is 0 unless guided axes predict withheld classes better. For pairs of rows "auto" is 50 divided by the share of rows in a pair. Or a list of the values to try. */
  mu?: "auto" | number | ("auto" | number)[];
  /** Pairs of rows, numbered from 0, that belong to the same cluster. They, or cannot_link, take the place of scores. */
  must_link?: number[][] | null;
  /** Whom to tell that the job has ended. */
  notify?: Notify | null;
  /** The purpose of the projection. */
  paradigm: "semi_supervised";
  /** "single" evaluates pairs of rows in single precision, up to twice as fast. The objective is then correct to at least five digits. Or a list of the values to try. */
  precision?: "double" | "single" | ("double" | "single")[];
  /** Among the queued jobs of your API key, those with the highest priority run first. It makes no difference to the jobs of other keys. */
  priority?: number;
  /** The number of new features to find; at most the number of features. "auto" is chosen from the data. The default is "auto" if the kernel is "auto", else 2. Or a list of the values to try. */
  q?: number | "auto" | null | (number | "auto" | null)[];
  /** A column of known classes with which the clusters are compared (NMI). It is not learned from. */
  reference?: string | null;
  /** The number of random halves of the rows to solve again, for standard errors of the loadings; 20 are enough for a plot. With 0, ten halves of at most 500 rows are solved. */
  resamples?: number | 0;
  /** Preprocessing. "standard" scales every feature to mean 0 and standard deviation 1. "whiten" then scales all directions to variance 1, within classes if they are given. "auto" chooses between the two. The default is "auto" if the kernel is "auto", else "standard". Or a list of the values to try. */
  scale?: "standard" | "whiten" | "none" | "auto" | ("standard" | "whiten" | "none" | "auto" | null)[] | null;
  /** The column with the scores or classes that guide the clusters, or a list of columns of numbers. Rows without a score are clustered without guidance. Required without must_link and cannot_link. */
  scores?: string | string[] | null;
  /** The seed of all random numbers: the same seed gives the same result. Or a list of the values to try. */
  seed?: number | number[];
  /** The number of starting points. By default 3 for supervised jobs and 1 for the others; 1 is the paper's start. "path" is continuation from a wide kernel to a narrow one, for supervised jobs only; it is the default for a Gaussian narrower than 0.75 times the median distance, and for a width that is chosen. "interactions", also for supervised jobs, starts from products of two features that the target depends on. Or a list of the values to try. */
  starts?: number | "path" | "interactions" | null | (number | "path" | "interactions" | null)[];
  /** Largest relative error of the gradient that truncating the kernel's series may cause; 0 means no truncation. By default 1e-8, or delta/100 if 1e-8 would save no time. Or a list of the values to try. */
  tolerance?: number | null | (number | null)[];
};

/** Find clusters that agree with expert scores, and the projection that separates them best. */
export type SemiSupervisedSpec = {
  /** {"features": 2048} uses 2,048 random features in place of all pairs of rows, for Gaussian and multiquadratic kernels and very many rows. The result estimates the error. By default none are used. */
  approximation?: Approximation | null;
  /** The number of seconds after which the search for settings ends and keeps the best candidate so far. By default the search ends by itself. */
  budget?: number | null;
  /** Pairs of rows, numbered from 0, that belong to different clusters. */
  cannot_link?: number[][] | null;
  /** What to do with text features: "onehot" makes a 0/1 feature of each level, "refuse" refuses the job. "auto" makes one 0/1 feature of two levels, one feature of ordered levels (low, medium, high), and else a 0/1 feature of each level. */
  categorical?: "auto" | "onehot" | "refuse";
  /** The number of clusters to find; at most the number of rows. */
  clusters: number;
  /** The id of an uploaded data set. */
  dataset: string;
  /** What to do with dates: "number" makes them days since 1970, "parts" year, month, weekday and hour. "auto" makes them numbers if features names them, else it leaves them out. */
  dates?: "auto" | "number" | "parts";
  /** Convergence tolerance: the iteration ends when eigenvalues, subspace and gradient have settled within it. By default 0.01, and 0.1 for supervised jobs that choose the width of their kernel. */
  delta?: number | null;
  /** Where to compute: in the "local" worker, or on the "dask" cluster of this service, if it has one. */
  engine?: "local" | "dask";
  /** The columns to learn from. "all" are those without another role in the job (target, scores, clustering, reference). "auto" leaves out those that number or identify rows, hold dates, are constant or mostly missing, have too many levels, or copy the target; the result's warnings name them. */
  features?: "auto" | "all" | string[] | null;
  /** The largest number of features in each axis. The solver selects the features that keep the objective highest. By default all features are used. */
  features_per_axis?: number | null;
  /** The number of folds for cross-validating the accuracy (classes) or R² (values) of supervised jobs; 0 skips it. Other jobs ignore it. By default 5, or 2 of 3 if settings are chosen from a sample of the rows. A choice of settings that used all rows has its own folds. */
  folds?: number | 0 | null;
  /** The similarity of two projected rows: a kernel's name, an object with its parameters, a weighted {"sum": […]}, or {"aligned": […]}, whose weights are found from the target or the scores. "auto" is chosen from the data, and so are q and scale unless they are given. */
  kernel?: "linear" | "squared" | "polynomial" | "gaussian" | "relative_gaussian" | "multiquadratic" | "auto" | LinearKernel | SquaredKernel | PolynomialKernel | GaussianKernel | RelativeGaussianKernel | MultiquadraticKernel | SumKernel | AlignedKernel;
  /** A name of your own for the job. */
  label?: string | null;
  /** The largest number of iterations. */
  max_iter?: number;
  /** Other texts to store with the job, by name. */
  metadata?: Record<string, string>;
  /** What to do with missing values in features: fill in the column's "mean" or "median", "drop" the rows, or "refuse" the job. "auto" fills in medians and gives text a level "missing". All but "refuse" drop rows without a target. */
  missing?: "auto" | "refuse" | "mean" | "median" | "drop";
  /** The weight of the scores against the structure of the data. "auto" is 50 for classes and 5 for numbers, divided by the share of rows with a score; rows with a class then stay in the cluster of that class. With 0, they still do, but the axes ignore the scores. If settings are chosen, mu is 0 unless guided axes predict withheld classes better. For pairs of rows "auto" is 50 divided by the share of rows in a pair. */
  mu?: "auto" | number;
  /** Pairs of rows, numbered from 0, that belong to the same cluster. They, or cannot_link, take the place of scores. */
  must_link?: number[][] | null;
  /** Whom to tell that the job has ended. */
  notify?: Notify | null;
  /** The purpose of the projection. */
  paradigm: "semi_supervised";
  /** "single" evaluates pairs of rows in single precision, up to twice as fast. The objective is then correct to at least five digits. */
  precision?: "double" | "single";
  /** Among the queued jobs of your API key, those with the highest priority run first. It makes no difference to the jobs of other keys. */
  priority?: number;
  /** The number of new features to find; at most the number of features. "auto" is chosen from the data. The default is "auto" if the kernel is "auto", else 2. */
  q?: number | "auto" | null;
  /** A column of known classes with which the clusters are compared (NMI). It is not learned from. */
  reference?: string | null;
  /** The number of random halves of the rows to solve again, for standard errors of the loadings; 20 are enough for a plot. With 0, ten halves of at most 500 rows are solved. */
  resamples?: number | 0;
  /** Preprocessing. "standard" scales every feature to mean 0 and standard deviation 1. "whiten" then scales all directions to variance 1, within classes if they are given. "auto" chooses between the two. The default is "auto" if the kernel is "auto", else "standard". */
  scale?: "standard" | "whiten" | "none" | "auto" | null;
  /** The column with the scores or classes that guide the clusters, or a list of columns of numbers. Rows without a score are clustered without guidance. Required without must_link and cannot_link. */
  scores?: string | string[] | null;
  /** The seed of all random numbers: the same seed gives the same result. */
  seed?: number;
  /** The number of starting points. By default 3 for supervised jobs and 1 for the others; 1 is the paper's start. "path" is continuation from a wide kernel to a narrow one, for supervised jobs only; it is the default for a Gaussian narrower than 0.75 times the median distance, and for a width that is chosen. "interactions", also for supervised jobs, starts from products of two features that the target depends on. */
  starts?: number | "path" | "interactions" | null;
  /** Largest relative error of the gradient that truncating the kernel's series may cause; 0 means no truncation. By default 1e-8, or delta/100 if 1e-8 would save no time. */
  tolerance?: number | null;
};

/** The cost of limiting the number of features per axis. */
export type SparsityView = {
  /** The objective reached with all features. */
  dense_objective: number;
  /** The largest number of features in each axis. */
  features_per_axis: number;
  /** The share of that objective that was lost; null if the objective is not positive. */
  loss: number | null;
};

/** f = −β. Moves class means apart and rows of a class together. It is fast. */
export type SquaredKernel = {
  /** The kernel's name. */
  name: "squared";
};

/** How much the loadings vary between random halves of the rows. */
export type StabilityView = {
  /** The median angle in radians between the axes of a half and those of all rows. */
  angle: number;
  /** The standard error of each entry of W, features × axes. */
  errors: number[][];
  /** The number of random halves. */
  resamples: number;
  /** The number of rows in each half. */
  rows: number;
};

/** The state of a job. */
export type State = "queued" | "running" | "succeeded" | "failed" | "cancelled";

/** The job has changed its state. The stream ends after the last one. */
export type StateEvent = {
  data: JobView;
  event: "state";
  /** The id of the event, for Last-Event-ID. */
  id: string;
};

/** An iteration. */
export type StepEvent = {
  data: StepView;
  event: "step";
  /** The id of the event, for Last-Event-ID. */
  id: string;
};

/** One iteration. */
export type StepView = {
  /** The angle in radians by which the subspace turned. */
  angle: number | null;
  /** The relative change of the eigenvalues; null in the first iteration. */
  change: number | null;
  /** The eigenvalues of Φ that belong to the axes. */
  eigenvalues: number[];
  /** Seconds since the job began. */
  elapsed_seconds: number;
  /** The norm of the gradient relative to Φ. */
  gradient: number | null;
  /** The number of the iteration. */
  iteration: number;
  /** The objective J. */
  objective: number;
  /** Estimated seconds left; null while there is no estimate. */
  remaining_seconds: number | null;
  /** The number of the clustering that it belongs to; 0 for supervised jobs. */
  round: number;
  /** search while starts are compared, then ascent; sparsity while features_per_axis selects features. */
  stage: "search" | "ascent" | "sparsity";
};

/** Σ weight · kernel, with given weights. */
export type SumKernel = {
  /** The kernels and their weights. */
  sum: WeightedKernel[];
};

/** Find the projection that separates known classes, or that explains measured values. One job for each combination of the values listed. */
export type SupervisedGrid = {
  /** {"features": 2048} uses 2,048 random features in place of all pairs of rows, for Gaussian and multiquadratic kernels and very many rows. The result estimates the error. By default none are used. Or a list of the values to try. */
  approximation?: Approximation | (Approximation | null)[] | null;
  /** Whether rare classes get the same weight as frequent ones. */
  balance?: boolean;
  /** The number of seconds after which the search for settings ends and keeps the best candidate so far. By default the search ends by itself. */
  budget?: number | null;
  /** What to do with text features: "onehot" makes a 0/1 feature of each level, "refuse" refuses the job. "auto" makes one 0/1 feature of two levels, one feature of ordered levels (low, medium, high), and else a 0/1 feature of each level. Or a list of the values to try. */
  categorical?: "auto" | "onehot" | "refuse" | ("auto" | "onehot" | "refuse")[];
  /** The id of an uploaded data set. Or a list of the values to try. */
  dataset: string | string[];
  /** What to do with dates: "number" makes them days since 1970, "parts" year, month, weekday and hour. "auto" makes them numbers if features names them, else it leaves them out. */
  dates?: "auto" | "number" | "parts";
  /** Convergence tolerance: the iteration ends when eigenvalues, subspace and gradient have settled within it. By default 0.01, and 0.1 for supervised jobs that choose the width of their kernel. Or a list of the values to try. */
  delta?: number | null | (number | null)[];
  /** Where to compute: in the "local" worker, or on the "dask" cluster of this service, if it has one. Or a list of the values to try. */
  engine?: "local" | "dask" | ("local" | "dask")[];
  /** The columns to learn from. "all" are those without another role in the job (target, scores, clustering, reference). "auto" leaves out those that number or identify rows, hold dates, are constant or mostly missing, have too many levels, or copy the target; the result's warnings name them. */
  features?: "auto" | "all" | string[] | null;
  /** The largest number of features in each axis. The solver selects the features that keep the objective highest. By default all features are used. Or a list of the values to try. */
  features_per_axis?: number | null | (number | null)[];
  /** The number of folds for cross-validating the accuracy (classes) or R² (values) of supervised jobs; 0 skips it. Other jobs ignore it. By default 5, or 2 of 3 if settings are chosen from a sample of the rows. A choice of settings that used all rows has its own folds. Or a list of the values to try. */
  folds?: number | 0 | null | (number | 0 | null)[];
  /** The similarity of two projected rows: a kernel's name, an object with its parameters, a weighted {"sum": […]}, or {"aligned": […]}, whose weights are found from the target or the scores. "auto" is chosen from the data, and so are q and scale unless they are given. Or a list of the values to try. */
  kernel?: "linear" | "squared" | "polynomial" | "gaussian" | "relative_gaussian" | "multiquadratic" | "auto" | LinearKernel | SquaredKernel | PolynomialKernel | GaussianKernel | RelativeGaussianKernel | MultiquadraticKernel | SumKernel | AlignedKernel | ("linear" | "squared" | "polynomial" | "gaussian" | "relative_gaussian" | "multiquadratic" | "auto" | LinearKernel | SquaredKernel | PolynomialKernel | GaussianKernel | RelativeGaussianKernel | MultiquadraticKernel | SumKernel | AlignedKernel)[];
  /** A name of your own for the job. */
  label?: string | null;
  /** The largest number of iterations. Or a list of the values to try. */
  max_iter?: number | number[];
  /** Other texts to store with the job, by name. */
  metadata?: Record<string, string>;
  /** What to do with missing values in features: fill in the column's "mean" or "median", "drop" the rows, or "refuse" the job. "auto" fills in medians and gives text a level "missing". All but "refuse" drop rows without a target. Or a list of the values to try. */
  missing?: "auto" | "refuse" | "mean" | "median" | "drop" | ("auto" | "refuse" | "mean" | "median" | "drop")[];
  /** Whether neighbors predict each row: J is the share of each row's own class among its neighbors, or for values the variance that the mean of its neighbors explains. For Gaussian kernels; computes all pairs of rows. */
  neighbors?: boolean;
  /** Whom to tell that the job has ended. */
  notify?: Notify | null;
  /** The Parquet file into which the embedding of all rows is written, for a data set by reference: a path or a URI inside a place that the service allows. */
  output?: string | null;
  /** The purpose of the projection. */
  paradigm: "supervised";
  /** "single" evaluates pairs of rows in single precision, up to twice as fast. The objective is then correct to at least five digits. Or a list of the values to try. */
  precision?: "double" | "single" | ("double" | "single")[];
  /** Among the queued jobs of your API key, those with the highest priority run first. It makes no difference to the jobs of other keys. */
  priority?: number;
  /** The number of new features to find; at most the number of features. "auto" is chosen from the data. The default is "auto" if the kernel is "auto", else 2. Or a list of the values to try. */
  q?: number | "auto" | null | (number | "auto" | null)[];
  /** The number of random halves of the rows to solve again, for standard errors of the loadings; 20 are enough for a plot. With 0, ten halves of at most 500 rows are solved. */
  resamples?: number | 0;
  /** Preprocessing. "standard" scales every feature to mean 0 and standard deviation 1. "whiten" then scales all directions to variance 1, within classes if they are given. "auto" chooses between the two. The default is "auto" if the kernel is "auto", else "standard". Or a list of the values to try. */
  scale?: "standard" | "whiten" | "none" | "auto" | ("standard" | "whiten" | "none" | "auto" | null)[] | null;
  /** The seed of all random numbers: the same seed gives the same result. Or a list of the values to try. */
  seed?: number | number[];
  /** The number of starting points. By default 3 for supervised jobs and 1 for the others; 1 is the paper's start. "path" is continuation from a wide kernel to a narrow one, for supervised jobs only; it is the default for a Gaussian narrower than 0.75 times the median distance, and for a width that is chosen. "interactions", also for supervised jobs, starts from products of two features that the target depends on. Or a list of the values to try. */
  starts?: number | "path" | "interactions" | null | (number | "path" | "interactions" | null)[];
  /** The column with the classes or values to explain, or a list of columns of numbers. */
  target: string | string[];
  /** The kernel between measured values. With a linear one, and a linear or squared kernel, the first axis of each target is that of a linear regression, and the others are those of largest variance. */
  target_kernel?: "gaussian" | "linear";
  /** Whether the target holds "classes" or measured "values". "auto" decides: text, and whole numbers with at most 20 distinct values, are classes; other numbers, and several columns, are values. */
  target_kind?: "auto" | "classes" | "values";
  /** Largest relative error of the gradient that truncating the kernel's series may cause; 0 means no truncation. By default 1e-8, or delta/100 if 1e-8 would save no time. Or a list of the values to try. */
  tolerance?: number | null | (number | null)[];
  /** How the score of chosen settings is made honest. "auto" corrects the scores of the choice by a bootstrap. "nested" is nested cross-validation: each fold chooses its own settings, which takes much longer. */
  validation?: "auto" | "nested";
};

/** Find the projection that separates known classes, or that explains measured values. */
export type SupervisedSpec = {
  /** {"features": 2048} uses 2,048 random features in place of all pairs of rows, for Gaussian and multiquadratic kernels and very many rows. The result estimates the error. By default none are used. */
  approximation?: Approximation | null;
  /** Whether rare classes get the same weight as frequent ones. */
  balance?: boolean;
  /** The number of seconds after which the search for settings ends and keeps the best candidate so far. By default the search ends by itself. */
  budget?: number | null;
  /** What to do with text features: "onehot" makes a 0/1 feature of each level, "refuse" refuses the job. "auto" makes one 0/1 feature of two levels, one feature of ordered levels (low, medium, high), and else a 0/1 feature of each level. */
  categorical?: "auto" | "onehot" | "refuse";
  /** The id of an uploaded data set. */
  dataset: string;
  /** What to do with dates: "number" makes them days since 1970, "parts" year, month, weekday and hour. "auto" makes them numbers if features names them, else it leaves them out. */
  dates?: "auto" | "number" | "parts";
  /** Convergence tolerance: the iteration ends when eigenvalues, subspace and gradient have settled within it. By default 0.01, and 0.1 for supervised jobs that choose the width of their kernel. */
  delta?: number | null;
  /** Where to compute: in the "local" worker, or on the "dask" cluster of this service, if it has one. */
  engine?: "local" | "dask";
  /** The columns to learn from. "all" are those without another role in the job (target, scores, clustering, reference). "auto" leaves out those that number or identify rows, hold dates, are constant or mostly missing, have too many levels, or copy the target; the result's warnings name them. */
  features?: "auto" | "all" | string[] | null;
  /** The largest number of features in each axis. The solver selects the features that keep the objective highest. By default all features are used. */
  features_per_axis?: number | null;
  /** The number of folds for cross-validating the accuracy (classes) or R² (values) of supervised jobs; 0 skips it. Other jobs ignore it. By default 5, or 2 of 3 if settings are chosen from a sample of the rows. A choice of settings that used all rows has its own folds. */
  folds?: number | 0 | null;
  /** The similarity of two projected rows: a kernel's name, an object with its parameters, a weighted {"sum": […]}, or {"aligned": […]}, whose weights are found from the target or the scores. "auto" is chosen from the data, and so are q and scale unless they are given. */
  kernel?: "linear" | "squared" | "polynomial" | "gaussian" | "relative_gaussian" | "multiquadratic" | "auto" | LinearKernel | SquaredKernel | PolynomialKernel | GaussianKernel | RelativeGaussianKernel | MultiquadraticKernel | SumKernel | AlignedKernel;
  /** A name of your own for the job. */
  label?: string | null;
  /** The largest number of iterations. */
  max_iter?: number;
  /** Other texts to store with the job, by name. */
  metadata?: Record<string, string>;
  /** What to do with missing values in features: fill in the column's "mean" or "median", "drop" the rows, or "refuse" the job. "auto" fills in medians and gives text a level "missing". All but "refuse" drop rows without a target. */
  missing?: "auto" | "refuse" | "mean" | "median" | "drop";
  /** Whether neighbors predict each row: J is the share of each row's own class among its neighbors, or for values the variance that the mean of its neighbors explains. For Gaussian kernels; computes all pairs of rows. */
  neighbors?: boolean;
  /** Whom to tell that the job has ended. */
  notify?: Notify | null;
  /** The Parquet file into which the embedding of all rows is written, for a data set by reference: a path or a URI inside a place that the service allows. */
  output?: string | null;
  /** The purpose of the projection. */
  paradigm: "supervised";
  /** "single" evaluates pairs of rows in single precision, up to twice as fast. The objective is then correct to at least five digits. */
  precision?: "double" | "single";
  /** Among the queued jobs of your API key, those with the highest priority run first. It makes no difference to the jobs of other keys. */
  priority?: number;
  /** The number of new features to find; at most the number of features. "auto" is chosen from the data. The default is "auto" if the kernel is "auto", else 2. */
  q?: number | "auto" | null;
  /** The number of random halves of the rows to solve again, for standard errors of the loadings; 20 are enough for a plot. With 0, ten halves of at most 500 rows are solved. */
  resamples?: number | 0;
  /** Preprocessing. "standard" scales every feature to mean 0 and standard deviation 1. "whiten" then scales all directions to variance 1, within classes if they are given. "auto" chooses between the two. The default is "auto" if the kernel is "auto", else "standard". */
  scale?: "standard" | "whiten" | "none" | "auto" | null;
  /** The seed of all random numbers: the same seed gives the same result. */
  seed?: number;
  /** The number of starting points. By default 3 for supervised jobs and 1 for the others; 1 is the paper's start. "path" is continuation from a wide kernel to a narrow one, for supervised jobs only; it is the default for a Gaussian narrower than 0.75 times the median distance, and for a width that is chosen. "interactions", also for supervised jobs, starts from products of two features that the target depends on. */
  starts?: number | "path" | "interactions" | null;
  /** The column with the classes or values to explain, or a list of columns of numbers. */
  target: string | string[];
  /** The kernel between measured values. With a linear one, and a linear or squared kernel, the first axis of each target is that of a linear regression, and the others are those of largest variance. */
  target_kernel?: "gaussian" | "linear";
  /** Whether the target holds "classes" or measured "values". "auto" decides: text, and whole numbers with at most 20 distinct values, are classes; other numbers, and several columns, are values. */
  target_kind?: "auto" | "classes" | "values";
  /** Largest relative error of the gradient that truncating the kernel's series may cause; 0 means no truncation. By default 1e-8, or delta/100 if 1e-8 would save no time. */
  tolerance?: number | null;
  /** How the score of chosen settings is made honest. "auto" corrects the scores of the choice by a bootstrap. "nested" is nested cross-validation: each fold chooses its own settings, which takes much longer. */
  validation?: "auto" | "nested";
};

/** A table whose rows stay where they are: Parquet or CSV files on a mounted path, in an object store or on the web. The service reads the footers of the files and a sample of the rows. Jobs read the rows part by part. */
export type TableReference = {
  /** A name to show; by default the last part of the URI. */
  name?: string | null;
  /** A file, a folder, or the files of a folder by a pattern such as *.csv; inside a place that the service allows (ISM_TABLE_ROOTS). */
  uri: string;
};

/** A test. */
export type TestData = {
  /** The id of the test. */
  id: string;
};

/** The message that POST /webhooks/test sends. */
export type TestMessage = {
  data: TestData;
  /** The time of what happened. */
  timestamp: string;
  type: "test";
};

/** A candidate was tried. */
export type TrialEvent = {
  data: TrialView;
  event: "trial";
  /** The id of the event, for Last-Event-ID. */
  id: string;
};

/** A candidate that was tried while settings are chosen. */
export type TrialView = {
  /** The best score so far; null while there is none. */
  best: number | null;
  /** Seconds since the job began. */
  elapsed_seconds: number;
  /** The number of folds that are done; of a clustering, its number. */
  fold: number | null;
  /** The number of folds in all. */
  folds: number | null;
  /** The number of axes. */
  q: number | null;
  /** Estimated seconds left; null while there is no estimate. */
  remaining_seconds: number | null;
  /** Preprocessing of the rows. */
  scale: string | null;
  /** The number of candidates that were tried so far, in all folds. */
  tried: number;
};

/** The candidate that is being tried while settings are chosen. */
export type TryingView = {
  /** The best score so far; null while there is none. */
  best: number | null;
  /** The number of axes. */
  q: number | null;
  /** Preprocessing of the rows. */
  scale: string | null;
  /** The number of candidates that were tried so far, in all folds. */
  tried: number;
};

/** Find clusters, and the projection that separates them best. One job for each combination of the values listed. */
export type UnsupervisedGrid = {
  /** {"features": 2048} uses 2,048 random features in place of all pairs of rows, for Gaussian and multiquadratic kernels and very many rows. The result estimates the error. By default none are used. Or a list of the values to try. */
  approximation?: Approximation | (Approximation | null)[] | null;
  /** The number of seconds after which the search for settings ends and keeps the best candidate so far. By default the search ends by itself. */
  budget?: number | null;
  /** What to do with text features: "onehot" makes a 0/1 feature of each level, "refuse" refuses the job. "auto" makes one 0/1 feature of two levels, one feature of ordered levels (low, medium, high), and else a 0/1 feature of each level. Or a list of the values to try. */
  categorical?: "auto" | "onehot" | "refuse" | ("auto" | "onehot" | "refuse")[];
  /** The number of clusters to find; at most the number of rows. Or a list of the values to try. */
  clusters: number | number[];
  /** The id of an uploaded data set. Or a list of the values to try. */
  dataset: string | string[];
  /** What to do with dates: "number" makes them days since 1970, "parts" year, month, weekday and hour. "auto" makes them numbers if features names them, else it leaves them out. */
  dates?: "auto" | "number" | "parts";
  /** Convergence tolerance: the iteration ends when eigenvalues, subspace and gradient have settled within it. By default 0.01, and 0.1 for supervised jobs that choose the width of their kernel. Or a list of the values to try. */
  delta?: number | null | (number | null)[];
  /** Where to compute: in the "local" worker, or on the "dask" cluster of this service, if it has one. Or a list of the values to try. */
  engine?: "local" | "dask" | ("local" | "dask")[];
  /** The columns to learn from. "all" are those without another role in the job (target, scores, clustering, reference). "auto" leaves out those that number or identify rows, hold dates, are constant or mostly missing, have too many levels, or copy the target; the result's warnings name them. */
  features?: "auto" | "all" | string[] | null;
  /** The largest number of features in each axis. The solver selects the features that keep the objective highest. By default all features are used. Or a list of the values to try. */
  features_per_axis?: number | null | (number | null)[];
  /** The number of folds for cross-validating the accuracy (classes) or R² (values) of supervised jobs; 0 skips it. Other jobs ignore it. By default 5, or 2 of 3 if settings are chosen from a sample of the rows. A choice of settings that used all rows has its own folds. Or a list of the values to try. */
  folds?: number | 0 | null | (number | 0 | null)[];
  /** The similarity of two projected rows: a kernel's name, an object with its parameters, a weighted {"sum": […]}, or {"aligned": […]}, whose weights are found from the target or the scores. "auto" is chosen from the data, and so are q and scale unless they are given. Or a list of the values to try. */
  kernel?: "linear" | "squared" | "polynomial" | "gaussian" | "relative_gaussian" | "multiquadratic" | "auto" | LinearKernel | SquaredKernel | PolynomialKernel | GaussianKernel | RelativeGaussianKernel | MultiquadraticKernel | SumKernel | AlignedKernel | ("linear" | "squared" | "polynomial" | "gaussian" | "relative_gaussian" | "multiquadratic" | "auto" | LinearKernel | SquaredKernel | PolynomialKernel | GaussianKernel | RelativeGaussianKernel | MultiquadraticKernel | SumKernel | AlignedKernel)[];
  /** A name of your own for the job. */
  label?: string | null;
  /** The largest number of iterations. Or a list of the values to try. */
  max_iter?: number | number[];
  /** Other texts to store with the job, by name. */
  metadata?: Record<string, string>;
  /** What to do with missing values in features: fill in the column's "mean" or "median", "drop" the rows, or "refuse" the job. "auto" fills in medians and gives text a level "missing". All but "refuse" drop rows without a target. Or a list of the values to try. */
  missing?: "auto" | "refuse" | "mean" | "median" | "drop" | ("auto" | "refuse" | "mean" | "median" | "drop")[];
  /** Whom to tell that the job has ended. */
  notify?: Notify | null;
  /** The purpose of the projection. */
  paradigm: "unsupervised";
  /** "single" evaluates pairs of rows in single precision, up to twice as fast. The objective is then correct to at least five digits. Or a list of the values to try. */
  precision?: "double" | "single" | ("double" | "single")[];
  /** Among the queued jobs of your API key, those with the highest priority run first. It makes no difference to the jobs of other keys. */
  priority?: number;
  /** The number of new features to find; at most the number of features. "auto" is chosen from the data. The default is "auto" if the kernel is "auto", else 2. Or a list of the values to try. */
  q?: number | "auto" | null | (number | "auto" | null)[];
  /** A column of known classes with which the clusters are compared (NMI). It is not learned from. */
  reference?: string | null;
  /** The number of random halves of the rows to solve again, for standard errors of the loadings; 20 are enough for a plot. With 0, ten halves of at most 500 rows are solved. */
  resamples?: number | 0;
  /** Preprocessing. "standard" scales every feature to mean 0 and standard deviation 1. "whiten" then scales all directions to variance 1, within classes if they are given. "auto" chooses between the two. The default is "auto" if the kernel is "auto", else "standard". Or a list of the values to try. */
  scale?: "standard" | "whiten" | "none" | "auto" | ("standard" | "whiten" | "none" | "auto" | null)[] | null;
  /** The seed of all random numbers: the same seed gives the same result. Or a list of the values to try. */
  seed?: number | number[];
  /** The number of starting points. By default 3 for supervised jobs and 1 for the others; 1 is the paper's start. "path" is continuation from a wide kernel to a narrow one, for supervised jobs only; it is the default for a Gaussian narrower than 0.75 times the median distance, and for a width that is chosen. "interactions", also for supervised jobs, starts from products of two features that the target depends on. Or a list of the values to try. */
  starts?: number | "path" | "interactions" | null | (number | "path" | "interactions" | null)[];
  /** Largest relative error of the gradient that truncating the kernel's series may cause; 0 means no truncation. By default 1e-8, or delta/100 if 1e-8 would save no time. Or a list of the values to try. */
  tolerance?: number | null | (number | null)[];
};

/** Find clusters, and the projection that separates them best. */
export type UnsupervisedSpec = {
  /** {"features": 2048} uses 2,048 random features in place of all pairs of rows, for Gaussian and multiquadratic kernels and very many rows. The result estimates the error. By default none are used. */
  approximation?: Approximation | null;
  /** The number of seconds after which the search for settings ends and keeps the best candidate so far. By default the search ends by itself. */
  budget?: number | null;
  /** What to do with text features: "onehot" makes a 0/1 feature of each level, "refuse" refuses the job. "auto" makes one 0/1 feature of two levels, one feature of ordered levels (low, medium, high), and else a 0/1 feature of each level. */
  categorical?: "auto" | "onehot" | "refuse";
  /** The number of clusters to find; at most the number of rows. */
  clusters: number;
  /** The id of an uploaded data set. */
  dataset: string;
  /** What to do with dates: "number" makes them days since 1970, "parts" year, month, weekday and hour. "auto" makes them numbers if features names them, else it leaves them out. */
  dates?: "auto" | "number" | "parts";
  /** Convergence tolerance: the iteration ends when eigenvalues, subspace and gradient have settled within it. By default 0.01, and 0.1 for supervised jobs that choose the width of their kernel. */
  delta?: number | null;
  /** Where to compute: in the "local" worker, or on the "dask" cluster of this service, if it has one. */
  engine?: "local" | "dask";
  /** The columns to learn from. "all" are those without another role in the job (target, scores, clustering, reference). "auto" leaves out those that number or identify rows, hold dates, are constant or mostly missing, have too many levels, or copy the target; the result's warnings name them. */
  features?: "auto" | "all" | string[] | null;
  /** The largest number of features in each axis. The solver selects the features that keep the objective highest. By default all features are used. */
  features_per_axis?: number | null;
  /** The number of folds for cross-validating the accuracy (classes) or R² (values) of supervised jobs; 0 skips it. Other jobs ignore it. By default 5, or 2 of 3 if settings are chosen from a sample of the rows. A choice of settings that used all rows has its own folds. */
  folds?: number | 0 | null;
  /** The similarity of two projected rows: a kernel's name, an object with its parameters, a weighted {"sum": […]}, or {"aligned": […]}, whose weights are found from the target or the scores. "auto" is chosen from the data, and so are q and scale unless they are given. */
  kernel?: "linear" | "squared" | "polynomial" | "gaussian" | "relative_gaussian" | "multiquadratic" | "auto" | LinearKernel | SquaredKernel | PolynomialKernel | GaussianKernel | RelativeGaussianKernel | MultiquadraticKernel | SumKernel | AlignedKernel;
  /** A name of your own for the job. */
  label?: string | null;
  /** The largest number of iterations. */
  max_iter?: number;
  /** Other texts to store with the job, by name. */
  metadata?: Record<string, string>;
  /** What to do with missing values in features: fill in the column's "mean" or "median", "drop" the rows, or "refuse" the job. "auto" fills in medians and gives text a level "missing". All but "refuse" drop rows without a target. */
  missing?: "auto" | "refuse" | "mean" | "median" | "drop";
  /** Whom to tell that the job has ended. */
  notify?: Notify | null;
  /** The purpose of the projection. */
  paradigm: "unsupervised";
  /** "single" evaluates pairs of rows in single precision, up to twice as fast. The objective is then correct to at least five digits. */
  precision?: "double" | "single";
  /** Among the queued jobs of your API key, those with the highest priority run first. It makes no difference to the jobs of other keys. */
  priority?: number;
  /** The number of new features to find; at most the number of features. "auto" is chosen from the data. The default is "auto" if the kernel is "auto", else 2. */
  q?: number | "auto" | null;
  /** A column of known classes with which the clusters are compared (NMI). It is not learned from. */
  reference?: string | null;
  /** The number of random halves of the rows to solve again, for standard errors of the loadings; 20 are enough for a plot. With 0, ten halves of at most 500 rows are solved. */
  resamples?: number | 0;
  /** Preprocessing. "standard" scales every feature to mean 0 and standard deviation 1. "whiten" then scales all directions to variance 1, within classes if they are given. "auto" chooses between the two. The default is "auto" if the kernel is "auto", else "standard". */
  scale?: "standard" | "whiten" | "none" | "auto" | null;
  /** The seed of all random numbers: the same seed gives the same result. */
  seed?: number;
  /** The number of starting points. By default 3 for supervised jobs and 1 for the others; 1 is the paper's start. "path" is continuation from a wide kernel to a narrow one, for supervised jobs only; it is the default for a Gaussian narrower than 0.75 times the median distance, and for a width that is chosen. "interactions", also for supervised jobs, starts from products of two features that the target depends on. */
  starts?: number | "path" | "interactions" | null;
  /** Largest relative error of the gradient that truncating the kernel's series may cause; 0 means no truncation. By default 1e-8, or delta/100 if 1e-8 would save no time. */
  tolerance?: number | null;
};

/** The score for rows that W has not learned from. */
export type ValidationView = {
  /** The standard error of the score. */
  error: number | null;
  /** The number of folds. */
  folds: number;
  /** The share of correct classes, or R² of values. */
  measure: "accuracy" | "r2";
  /** bootstrap: cross-validation of all candidates, corrected for the choice of the best. nested: each fold chose its own settings. cross_validation: the settings were given. */
  method: "bootstrap" | "nested" | "cross_validation";
  /** The score of an SVM on the axes; it is among the metrics too. */
  score: number | null;
};

export type WebhookMessage = JobMessage | BatchMessage | TestMessage;

/** The key that signs your messages. */
export type WebhookSecret = {
  /** The key, in the form of Standard Webhooks: whsec_ and base64. */
  secret: string;
};

/** Where to send a test message. */
export type WebhookTest = {
  /** The URL to call. */
  url: string;
};

/** A kernel and its weight in a sum. */
export type WeightedKernel = {
  /** A kernel's name, or an object with its parameters. */
  kernel: "linear" | "squared" | "polynomial" | "gaussian" | "relative_gaussian" | "multiquadratic" | LinearKernel | SquaredKernel | PolynomialKernel | GaussianKernel | RelativeGaussianKernel | MultiquadraticKernel;
  /** The factor of this kernel. */
  weight?: number;
};

/** A group of rows compared with all other rows. */
export type app__schemas__datasets__GroupView = {
  /** One entry per column, largest difference first. */
  differences: DifferenceView[];
  /** The number of rows in the group. */
  rows: number;
};

/** Collinear features: chains of correlations above 0.95. */
export type app__schemas__results__GroupView = {
  /** The names of the features. */
  features: string[];
  /** The sum of their importance. */
  importance: number;
};
