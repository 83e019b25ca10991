// The row under the hand: its number, its class, and its values in the columns that matter.

import { h, replace } from "../../dom.js";
import { cell } from "../format.js";

const MOST_COLUMNS = 14;

// The columns that a row is shown by: all of a narrow table, else those that weigh most, and texts.
export function tipColumns({ dataset, job, result }) {
  if (!dataset) return [];
  const names = dataset.columns.map(({ name }) => name);
  if (names.length <= MOST_COLUMNS) return names;
  const known = new Set(names);
  const given = [job.spec.target, job.spec.reference, job.spec.scores, job.spec.clustering]
    .flat()
    .filter((name) => known.has(name));
  const texts = dataset.columns
    .filter(({ kind }) => kind === "text")
    .map(({ name }) => name)
    .slice(0, 3);
  const strongest = result.importance
    .map((share, place) => [share, result.features[place]])
    .sort(([one], [other]) => other - one)
    .map(([, name]) => name)
    .filter((name) => known.has(name));
  return [...new Set([...given, ...texts, ...strongest])].slice(0, 8);
}

export function tip(source) {
  const element = h("div", { class: "tip", hidden: true });
  const names = tipColumns(source);
  let wanted = null;

  function place(at) {
    element.hidden = false;
    const { clientWidth: width, clientHeight: height } = element.parentElement;
    const left = at.left + 16 + element.offsetWidth > width ? at.left - element.offsetWidth - 16 : at.left + 16;
    Object.assign(element.style, {
      left: `${Math.max(0, left)}px`,
      top: `${Math.max(0, Math.min(at.top - 20, height - element.offsetHeight))}px`,
    });
  }

  async function show(row, title, at) {
    wanted = row;
    const lines = (values) =>
      names.map((name, column) => [h("dt", {}, name), h("dd", {}, cell(values[column][row.place]))]);
    replace(element, h("strong", {}, title));
    place(at);
    if (!names.length || row.isNew) return;
    try {
      const values = await source.columns(names);
      if (wanted !== row) return;
      replace(element, h("strong", {}, title), h("dl", {}, lines(values)));
      place(at);
    } catch {
      // the row's number is shown; its values are not to be had now
    }
  }

  return {
    element,
    show,
    hide() {
      wanted = null;
      element.hidden = true;
    },
  };
}
