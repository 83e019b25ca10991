// What a result is made of, fetched once: the result, the embedding, the data set, and columns of it as they are needed.

import { get } from "../api.js";

// `dataset` is null where the table has been deleted since.
export async function sourceOf(job, { signal } = {}) {
  const [result, table, dataset] = await Promise.all([
    get(`/jobs/${job.id}/result`, { signal }),
    get(`/jobs/${job.id}/embedding?format=json`, { signal }),
    get(`/datasets/${job.dataset}`, { signal }).catch((error) => (error.status === 404 ? null : Promise.reject(error))),
  ]);
  const { rows, axes, group } = embedding(table);
  return { job, result, dataset, rows, axes, group, columns: columnsOf(dataset, rows, signal) };
}

// Rows as their numbers in the data set, each axis as an array, and each row's class, value or cluster (or null).
export function embedding({ columns, rows }) {
  const at = (name) => columns.indexOf(name);
  const axes = columns
    .map((name, place) => (/^axis\d+$/.test(name) ? Float64Array.from(rows, (row) => row[place]) : null))
    .filter(Boolean);
  return {
    rows: Int32Array.from(rows, (row) => row[at("row")]),
    axes,
    group: at("group") < 0 ? null : rows.map((row) => row[at("group")]),
  };
}

// Gives columns of the data set as arrays that go with the rows of the embedding.
function columnsOf(dataset, rows, signal) {
  const kept = new Map();
  return async (names) => {
    const missing = names.filter((name) => !kept.has(name));
    if (missing.length) {
      const query = missing.map((name) => `column=${encodeURIComponent(name)}`).join("&");
      const table = get(`/datasets/${dataset.id}/rows?${query}&format=json`, { signal });
      missing.forEach((name, place) =>
        kept.set(
          name,
          table.then((found) => Array.from(rows, (row) => found.rows[row][place])),
        ),
      );
      table.catch(() => missing.forEach((name) => kept.delete(name)));
    }
    return Promise.all(names.map((name) => kept.get(name)));
  };
}

// Whether something holds classes rather than measurements: the service's own rule.
export function isClasses(column) {
  return column.kind === "text" || (column.whole && column.distinct !== null && column.distinct <= 20);
}

// How the group of each row is read: "clusters", "classes" or "values".
export function groupKind({ job, dataset }) {
  if (job.spec.paradigm !== "supervised") return "clusters";
  if (job.spec.target_kind !== "auto") return job.spec.target_kind;
  const column = dataset?.columns.find(({ name }) => name === job.spec.target);
  return column && !isClasses(column) ? "values" : "classes";
}

export function groupTitle({ job }) {
  return job.spec.paradigm === "supervised" ? [job.spec.target].flat().join(", ") : "cluster";
}

// The rows of each group by its name, for groups that are few enough to be told apart.
export function membersOf(source, most = 20) {
  if (!source.group || groupKind(source) === "values") return null;
  const members = new Map();
  source.group.forEach((value, place) => {
    if (value === null) return;
    const name = String(value);
    if (!members.has(name)) members.set(name, []);
    members.get(name).push(source.rows[place]);
  });
  if (members.size < 2 || members.size > most) return null;
  return new Map([...members].sort(([one], [other]) => one.localeCompare(other, "en", { numeric: true })));
}
