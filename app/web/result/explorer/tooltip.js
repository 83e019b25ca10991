// The tooltip of a point: the row's number and group, and its values in the most important columns.

import { h, replace } from "../../dom.js";
import { cell } from "../../format.js";
import { givenColumns, rankedFeatures } from "../data.js";

const ALL_COLUMNS = 14; // a table with at most this many columns shows all of them
const MAX_COLUMNS = 8; // of any other table
const MAX_TEXT_COLUMNS = 3;
const OFFSET = 16; // pixels from the point

// The columns that the tooltip shows: all of a narrow table, else given columns, texts and important features.
function tooltipColumns({ dataset, job, result }) {
  if (!dataset) return [];
  const names = dataset.columns.map(({ name }) => name);
  if (names.length <= ALL_COLUMNS) return names;
  const known = new Set(names);
  const texts = dataset.columns.filter(({ kind }) => kind === "text").map(({ name }) => name);
  const features = rankedFeatures(result).map(([name]) => name);
  const ranked = [...givenColumns(job.spec), ...texts.slice(0, MAX_TEXT_COLUMNS), ...features];
  return [...new Set(ranked)].filter((name) => known.has(name)).slice(0, MAX_COLUMNS);
}

// {element, show(row, title, position), hide()}; a row is {index, isNew}.
export function tooltip(source) {
  const element = h("div", { class: "tooltip", hidden: true });
  const names = tooltipColumns(source);
  let shownRow = null;

  function moveTo({ left, top }) {
    element.hidden = false;
    const { offsetWidth: width, offsetHeight: height, parentElement: parent } = element;
    const fitsRight = left + OFFSET + width <= parent.clientWidth;
    Object.assign(element.style, {
      left: `${Math.max(0, fitsRight ? left + OFFSET : left - width - OFFSET)}px`,
      top: `${Math.max(0, Math.min(top - 20, parent.clientHeight - height))}px`,
    });
  }

  async function show(row, title, position) {
    shownRow = row;
    const lines = (values) => names.map((name, column) => [h("dt", {}, name), h("dd", {}, cell(values[column]))]);
    replace(element, h("strong", {}, title));
    moveTo(position);
    if (!names.length || row.isNew) return;
    try {
      const values = await source.cells(row.index, names, () => shownRow === row);
      if (shownRow !== row) return;
      replace(element, h("strong", {}, title), h("dl", {}, lines(values)));
      moveTo(position);
    } catch {
      // the title stays without the values
    }
  }

  return {
    element,
    show,
    hide() {
      shownRow = null;
      element.hidden = true;
    },
  };
}
