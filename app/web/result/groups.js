// The groups of a result, classes or clusters: their sizes, what sets each apart, and how they go with other columns.

import { h, newId, replace } from "../dom.js";
import { counted, percent, signed, table } from "./format.js";
import { compared } from "./explorer/selection.js";
import { groupKind, groupTitle, isClasses, membersOf } from "./data.js";

const NAMED = 3;
const MOST_LEVELS = 30;

// Null where there are no groups, or too many. `profile` is what the API says of each group against the rest.
export async function groupsSection(source) {
  const members = membersOf(source);
  if (!members) return null;
  const clusters = groupKind(source) === "clusters";
  const profile = source.dataset ? await compared(source, [...members.values()]) : [];
  const { target, reference, clustering, scores } = source.job.spec;
  const given = new Set([target, reference, clustering, scores].flat());
  const rows = [...members].map(([name, rowsOf], place) => {
    const differences = (profile[place]?.differences ?? []).filter(
      ({ difference, column }) => difference !== null && !given.has(column),
    );
    const sentence = (some) =>
      some
        .slice(0, NAMED)
        .map(
          ({ column, level, difference }) =>
            `${level === null ? column : `${column} is ${level}`} (${signed(difference, 1)})`,
        )
        .join(", ") || "–";
    return [
      name,
      rowsOf.length.toLocaleString("en"),
      percent(rowsOf.length / source.rows.length),
      sentence(differences.filter(({ difference }) => difference > 0)),
      sentence(differences.filter(({ difference }) => difference < 0)),
    ];
  });
  const title = clusters ? "The clusters" : `The classes of ${groupTitle(source)}`;
  const heads = [clusters ? "Cluster" : "Class", { number: "Rows" }, { number: "Share" }, "High in", "Low in"];
  const section = h(
    "section",
    {},
    h("h2", {}, title),
    h(
      "div",
      { class: "card" },
      h("p", { class: "hint" }, "What each has more and less of than all other rows, in standard deviations."),
      table(heads, rows, title),
    ),
  );
  if (clusters && source.dataset) section.append(await contingency(source));
  return { section, members, profile };
}

async function contingency(source) {
  const { spec } = source.job;
  const columns = source.dataset.columns
    .filter((column) => isClasses(column) && (column.distinct ?? Infinity) <= MOST_LEVELS)
    .map(({ name }) => name);
  const given = [spec.reference, spec.clustering, spec.scores].flat().find((name) => columns.includes(name));
  if (!columns.length) return "";
  const place = h("div", {});
  const id = newId("against");
  const choice = h(
    "select",
    { id, onchange: () => draw(choice.value) },
    columns.map((name) => h("option", { value: name, selected: name === given }, name)),
  );

  async function draw(name) {
    try {
      const [values] = await source.columns([name]);
      if (choice.value === name) replace(place, crossed(source.group, values, name));
    } catch (error) {
      replace(place, h("p", { class: "error" }, error.detail ?? error.message));
    }
  }

  await draw(choice.value);
  return h(
    "div",
    { class: "card contingency" },
    h(
      "div",
      { class: "row" },
      h("h3", {}, "Clusters against"),
      h("label", { htmlFor: id, class: "visually-hidden" }, "Column to compare the clusters with"),
      choice,
    ),
    place,
  );
}

// How many rows each pair of a cluster and a level has; the darker, the larger its share of the cluster.
function crossed(clusters, values, title) {
  const counts = new Map();
  clusters.forEach((cluster, row) => {
    const key = `${cluster}\u0000${values[row] ?? "missing"}`;
    counts.set(key, (counts.get(key) ?? 0) + 1);
  });
  const sorted = (some) =>
    [...new Set(some)].sort((one, other) => String(one).localeCompare(String(other), "en", { numeric: true }));
  const names = sorted(clusters);
  const levels = sorted(values.map((value) => value ?? "missing"));
  const row = (cluster) => {
    const cells = levels.map((level) => counts.get(`${cluster}\u0000${level}`) ?? 0);
    const sum = cells.reduce((total, count) => total + count, 0);
    return [`cluster ${cluster}`, ...cells.map((count) => shaded(count, count / sum)), sum.toLocaleString("en")];
  };
  const heads = ["", ...levels.map((level) => ({ number: String(level) })), { number: "rows" }];
  return table(heads, names.map(row), `${counted(names.length, "cluster")} against ${title}`);
}

function shaded(count, share) {
  const background = `color-mix(in srgb, var(--accent) ${Math.round(40 * share)}%, transparent)`;
  return h("span", { class: "shade", title: percent(share), style: { background } }, count.toLocaleString("en"));
}
