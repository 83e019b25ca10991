// What a table looks like it is for: the settings to begin with, each with the reason why.

const ANSWERS =
  /^(class|classes|target|label|labels|y|species|diagnosis|outcome|survived|quality|category|type|group|kind)$/i;
const NAMES = /^(id|index|row|name|unnamed.*|.*_id|uuid|key|no\.?)$/i;
const FEW = 20; // different whole numbers that are still classes, as for the API
const MOST_LEVELS = 50; // of a text column that is proposed as features
const LARGE = 30_000_000; // cells beyond which a gaussian keeps people waiting
export const USUAL_CLUSTERS = 3;

// {paradigm, kernel, values, features}: the start of the form's state.
export function proposal(dataset) {
  const target = likelyTarget(dataset);
  const features = new Set(likelyFeatures(dataset, target).map((column) => column.name));
  const columns = dataset.columns.filter((column) => features.has(column.name));
  const values = { clusters: USUAL_CLUSTERS };
  if (target) Object.assign(values, { target: target.name, scores: target.name, clustering: target.name });
  const gaps = columns.some((column) => column.missing > 0);
  if (target?.missing) values.missing = "drop";
  else if (gaps) values.missing = "mean";
  if (columns.some((column) => column.kind === "text")) values.categorical = "onehot";
  const large = dataset.rows * columns.length > LARGE;
  return {
    paradigm: target ? "supervised" : "unsupervised",
    kernel: { name: large ? "linear" : "auto" },
    values,
    features,
  };
}

// The column that the others most likely are meant to explain, or null.
export function likelyTarget(dataset) {
  const usable = dataset.columns.filter((column) => !column.constant && column.missing < dataset.rows / 2);
  const named = usable.filter((column) => ANSWERS.test(column.name) && !isName(column, dataset));
  const classes = usable.filter((column) => isClasses(column, dataset) && column.kind === "text");
  const last = dataset.columns.at(-1);
  const ends = last && usable.includes(last) && isClasses(last, dataset) ? last : null;
  return named.find((column) => isClasses(column, dataset)) ?? named[0] ?? classes.at(-1) ?? ends;
}

export function isClasses(column, dataset) {
  const few = column.distinct !== null && column.distinct >= 2 && column.distinct < dataset.rows / 2;
  if (column.kind === "text") return few && column.distinct <= MOST_LEVELS;
  return few && column.whole && column.distinct <= FEW;
}

// One line for each field of the form, about what it is set to now.
export function reasons(state, dataset) {
  const column = (name) => dataset.columns.find((one) => one.name === name);
  const target = column(state.values.target);
  const lines = {
    target: target ? described(target, dataset) : "The column that the new axes should explain.",
    clusters: "How many groups to look for. Try a few and compare.",
    q: axesReason(state, target, dataset),
    scores: "A column of scores or labels that should guide the groups; gaps are allowed.",
    clustering: "A column with groups that you know already; the new ones will be different.",
    reference: "A column of known classes to compare the groups with at the end; it is not learnt from.",
    missing: "What happens to empty cells among the features.",
    categorical: "What happens to text among the features: one 0/1 feature for each value.",
  };
  return lines;
}

function described(target, dataset) {
  if (isClasses(target, dataset))
    return `The new axes will tell its ${target.distinct} classes apart. It is not used as a feature.`;
  return "The new axes will follow its values. It is not used as a feature.";
}

function axesReason(state, target, dataset) {
  const classes = state.paradigm === "supervised" && target && isClasses(target, dataset) ? target.distinct : 0;
  const left = state.kernel.name === "auto" ? " Left empty, it is chosen too." : "";
  if (classes > 2)
    return `How many new features to make; ${classes} classes can be told apart along ${classes - 1}.${left}`;
  return `How many new features to make; two make a picture.${left}`;
}

function likelyFeatures(dataset, target) {
  return dataset.columns.filter(
    (column) =>
      column !== target &&
      !isName(column, dataset) &&
      column.missing < dataset.rows / 2 &&
      (column.kind === "number" || isClasses(column, dataset)),
  );
}

// Numbers or names of rows say nothing about them.
function isName(column, dataset) {
  const many = column.distinct === null || column.distinct === dataset.rows;
  const counted = column.whole && many && column.maximum - column.minimum === dataset.rows - 1;
  return counted || (NAMES.test(column.name) && (column.whole || column.kind === "text"));
}
