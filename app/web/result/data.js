// Loads the data of a result once: result, embedding and table, and the table's columns when they are needed.

import { get, getColumns } from "../api.js";
import { compareNames } from "../format.js";

const MAX_CLASS_VALUES = 20; // integers with more distinct values are measurements; the service has the same rule
const MAX_LOADED = 50_000; // rows up to which a tooltip loads whole columns
const PAUSE = 120; // milliseconds at a point of a larger table before its row is loaded
const MAX_GROUPS = 20; // more groups are too many to show one by one

// {job, result, dataset, described, rows, axes, picture, group, columns(names), cells(index, names, isWanted)}; `dataset` is
// null if the service has not got the rows, because the table has been deleted or stays where it is (`described`).
export async function loadResult(job, { signal }) {
  const [result, table, described] = await Promise.all([
    get(`/jobs/${job.id}/result`, { signal }),
    getColumns(`/jobs/${job.id}/embedding?format=npz`, { signal }),
    get(`/datasets/${job.dataset}`, { signal }).catch((error) => (error.status === 404 ? null : Promise.reject(error))),
  ]);
  const dataset = described?.uri ? null : described;
  const embedding = parseEmbedding(table);
  const columns = columnLoader(dataset, embedding.rows, signal);
  const cells = cellLoader(dataset, embedding.rows, columns, signal);
  return { job, result, dataset, described, ...embedding, columns, cells };
}

// The row numbers, an array for each axis, the class, value or cluster of each row (null if there is none), and the
// second coordinate for a plot of a single axis (null if there are more axes).
export function parseEmbedding(columns) {
  const group = columns.get("group");
  return {
    rows: new Int32Array(columns.get("row")),
    axes: [...columns.keys()].filter((name) => /^axis\d+$/.test(name)).map((name) => columns.get(name)),
    picture: columns.get("picture") ?? null,
    group: group ? cellsOf(group) : null,
  };
}

// The values of a column, with null for missing ones.
function cellsOf(values) {
  return Array.isArray(values) ? values : Array.from(values, (value) => (Number.isNaN(value) ? null : value));
}

// A function that loads columns of the table, with one value for each row of the embedding.
function columnLoader(dataset, rows, signal) {
  const loaded = new Map();
  return async (names) => {
    const missing = names.filter((name) => !loaded.has(name));
    if (missing.length) {
      const query = missing.map((name) => `column=${encodeURIComponent(name)}`).join("&");
      const table = getColumns(`/datasets/${dataset.id}/rows?${query}&format=npz`, { signal });
      for (const name of missing) {
        const values = table.then((found) => {
          const cells = cellsOf(found.get(name));
          return Array.from(rows, (row) => cells[row]);
        });
        loaded.set(name, values);
      }
      table.catch(() => {
        for (const name of missing) loaded.delete(name);
      });
    }
    return Promise.all(names.map((name) => loaded.get(name)));
  };
}

// A function that loads the cells of one row, from whole columns or, for a large table, alone. It rejects if the row is
// no longer wanted.
function cellLoader(dataset, rows, columns, signal) {
  return async (index, names, isWanted) => {
    if (rows.length <= MAX_LOADED) return (await columns(names)).map((values) => values[index]);
    await new Promise((resolve) => setTimeout(resolve, PAUSE));
    if (!isWanted()) throw new DOMException("Aborted", "AbortError");
    const query = names.map((name) => `column=${encodeURIComponent(name)}`).join("&");
    const table = await get(`/datasets/${dataset.id}/rows?${query}&offset=${rows[index]}&limit=1`, { signal });
    return names.map((name) => table.rows[0][table.columns.indexOf(name)]);
  };
}

// Whether a column holds classes rather than measurements.
export function holdsClasses(column) {
  return column.kind === "text" || (column.whole && column.distinct !== null && column.distinct <= MAX_CLASS_VALUES);
}

// What the group of a row is: "clusters", "classes" or "values".
export function groupKind({ job, dataset, described = dataset }) {
  if (job.spec.paradigm !== "supervised") return "clusters";
  if (job.spec.target_kind !== "auto") return job.spec.target_kind;
  const column = described?.columns.find(({ name }) => name === job.spec.target);
  return column && !holdsClasses(column) ? "values" : "classes";
}

export function groupTitle({ job }) {
  return job.spec.paradigm === "supervised" ? [job.spec.target].flat().join(", ") : "cluster";
}

// The row numbers of each group by its name, or null if there are no groups or too many.
export function groupMembers(source) {
  if (!source.group || groupKind(source) === "values") return null;
  const members = new Map();
  source.group.forEach((value, index) => {
    if (value === null) return;
    const name = String(value);
    if (!members.has(name)) members.set(name, []);
    members.get(name).push(source.rows[index]);
  });
  if (members.size < 2 || members.size > MAX_GROUPS) return null;
  return new Map([...members].sort(([a], [b]) => compareNames(a, b)));
}

// The columns that the job was given beside its features.
export function givenColumns({ target, scores, clustering, reference }) {
  return [target, scores, clustering, reference].flat().filter((name) => name !== undefined && name !== null);
}

// The indices of values, those of largest size first.
export function ranking(values, size = (value) => value) {
  return values
    .map((value, index) => [size(value), index])
    .sort(([a], [b]) => b - a)
    .map(([, index]) => index);
}

// The features and groups of features as {name, names, index of the first, importance, error, unclear}, the most important
// first. A group of collinear features is one entry.
export function rankedEntries({ features, importance, importance_errors: errors, groups = [], unclear = [] }) {
  const places = new Map(features.map((name, index) => [name, index]));
  const grouped = new Set(groups.flatMap((group) => group.features));
  const entry = (names) => {
    const sum = (values) => names.reduce((total, name) => total + values[places.get(name)], 0);
    return {
      name: names.join(" / "),
      names,
      index: places.get(names[0]),
      importance: sum(importance),
      error: errors ? sum(errors) : null,
      unclear: unclear.includes(names[0]),
    };
  };
  const single = features.filter((name) => !grouped.has(name)).map((name) => [name]);
  const entries = [...groups.map((group) => group.features), ...single].map(entry);
  return ranking(entries, (each) => each.importance).map((index) => entries[index]);
}

// The column that a feature comes from; the feature "color=red" comes from the column "color".
export function columnOf(feature, columns) {
  return columns.includes(feature) ? feature : columns.find((name) => feature.startsWith(`${name}=`));
}

// What an axis contributes: "62 %", or that it is for plots only; empty for results that do not say it.
export function contributionText({ contributions }, axis) {
  const found = contributions?.[axis];
  if (!found) return "";
  return found.informative ? `${Math.round(100 * found.share)} %` : "for plots only";
}

// The two axes that contribute most, in their order; the first two if the result does not say what they contribute.
export function leadingAxes({ axes, contributions }) {
  const share = (axis) => (contributions?.[axis]?.informative ? contributions[axis].share : 0);
  return ranking([...axes.keys()], share)
    .slice(0, 2)
    .sort((a, b) => a - b);
}

// The title of an axis in a plot: its number and what it contributes.
export function axisTitle(result, axis) {
  const found = result.contributions?.[axis];
  if (!found) return `axis ${axis + 1}`;
  if (!found.informative) return `axis ${axis + 1}: adds nothing, for plots only`;
  return `axis ${axis + 1}: contributes ${Math.round(100 * found.share)} %`;
}

// The features as [name, importance], the most important first.
export function rankedFeatures({ features, importance }) {
  return ranking(importance).map((index) => [features[index], importance[index]]);
}
