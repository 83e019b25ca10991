// The groups of a result, which are classes or clusters: sizes, differences from other rows, and a contingency table.

import { h, messageOf, newId, replace } from "../dom.js";
import { compareNames, counted, integer, percent, shadedCells, signed, table } from "../format.js";
import { givenColumns, groupKind, groupMembers, groupTitle, holdsClasses } from "./data.js";
import { isUnclear, loadDifferences } from "./explorer/selection.js";

const NAMED_COLUMNS = 3;
const MAX_LEVELS = 30; // a column with more distinct values makes the contingency table too wide

// {section, members, profiles}, or null if there are no groups or too many. `profiles` has, for each group, the API's
// comparison with all other rows.
// `onPick(name)` is called for a group that is clicked.
export async function groupsSection(source, onPick) {
  const members = groupMembers(source);
  if (!members) return null;
  const isClusters = groupKind(source) === "clusters";
  const profiles = source.dataset ? await loadDifferences(source, [...members.values()]) : [];
  const given = new Set(givenColumns(source.job.spec));
  const row = ([name, rows], index) => {
    const differences = (profiles[index]?.differences ?? []).filter(
      (each) => each.difference !== null && !isUnclear(each) && !given.has(each.column),
    );
    return [
      h(
        "button",
        { type: "button", class: "quiet small", title: "Select these rows", onclick: () => onPick(name) },
        name,
      ),
      integer(rows.length),
      percent(rows.length / source.rows.length),
      namedDifferences(differences.filter(({ difference }) => difference > 0)),
      namedDifferences(differences.filter(({ difference }) => difference < 0)),
    ];
  };
  const title = isClusters ? "Clusters" : `Classes of ${groupTitle(source)}`;
  const heads = [isClusters ? "Cluster" : "Class", { number: "Rows" }, { number: "Share" }, "Higher in", "Lower in"];
  const section = h(
    "section",
    {},
    h("h2", {}, title),
    h(
      "div",
      { class: "card" },
      h(
        "p",
        { class: "hint" },
        "In these columns the group differs most from all other rows. The number is the difference of the means in standard deviations; only differences above two standard errors are listed. Click a name to select its rows.",
      ),
      table(heads, [...members].map(row), title),
    ),
  );
  if (isClusters && source.dataset) section.append(await contingency(source));
  return { section, members, profiles };
}

function namedDifferences(differences) {
  const named = ({ column, level, difference }) =>
    `${level === null ? column : `${column} is ${level}`} (${signed(difference, 1)})`;
  return differences.slice(0, NAMED_COLUMNS).map(named).join(", ") || "–";
}

async function contingency(source) {
  const { spec } = source.job;
  const columns = source.dataset.columns
    .filter((column) => holdsClasses(column) && (column.distinct ?? Infinity) <= MAX_LEVELS)
    .map(({ name }) => name);
  if (!columns.length) return "";
  const given = [spec.reference, spec.clustering, spec.scores].flat().find((name) => columns.includes(name));
  const container = h("div", {});
  const id = newId("contingency");
  const choice = h(
    "select",
    { id, onchange: () => draw(choice.value) },
    columns.map((name) => h("option", { value: name, selected: name === given }, name)),
  );

  async function draw(name) {
    try {
      const [values] = await source.columns([name]);
      if (choice.value === name) replace(container, contingencyTable(source.group, values, name));
    } catch (error) {
      replace(container, h("p", { class: "error" }, messageOf(error)));
    }
  }

  await draw(choice.value);
  return h(
    "div",
    { class: "card contingency" },
    h(
      "div",
      { class: "row" },
      h("h3", {}, "Number of rows by cluster and"),
      h("label", { htmlFor: id, class: "visually-hidden" }, "Column to compare the clusters with"),
      choice,
    ),
    container,
  );
}

// The number of rows of each cluster and level. A darker cell is a larger share of its cluster.
function contingencyTable(clusters, values, title) {
  const counts = new Map();
  const key = (cluster, level) => `${cluster}\u0000${level}`;
  const levelOf = (value) => value ?? "missing";
  clusters.forEach((cluster, row) => {
    const cell = key(cluster, levelOf(values[row]));
    counts.set(cell, (counts.get(cell) ?? 0) + 1);
  });
  const names = [...new Set(clusters)].sort(compareNames);
  const levels = [...new Set(values.map(levelOf))].sort(compareNames);
  const row = (cluster) => {
    const cells = levels.map((level) => counts.get(key(cluster, level)) ?? 0);
    const sum = cells.reduce((total, count) => total + count, 0);
    return [`cluster ${cluster}`, ...shadedCells(cells), integer(sum)];
  };
  const heads = ["", ...levels.map((level) => ({ number: String(level) })), { number: "rows" }];
  return table(heads, names.map(row), `${counted(names.length, "cluster")} by ${title}`);
}
