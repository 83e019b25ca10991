// The distribution of a column as stacked bars in the colors of the scatter plot. Dragging over bars selects their rows.

import { h, replace, svg } from "../../dom.js";
import { compareNames, counted, integer, number, shortened } from "../../format.js";
import { themeColors } from "../../theme.js";

const HEIGHT = 200; // pixels
const MARGIN = { left: 44, right: 8, top: 8, bottom: 22 };
const MAX_BINS = 24;
const TAIL = 0.01; // share of the values at each end that may be in one bar
const FAR = 0.5; // distance of such a value from the others from which they are, in units of the range of the others
const MAX_LEVELS = 12; // the most frequent levels of a text; all others are one bar

// {element, draw(name, values, {points, coloring})}
export function histogram(onSelect) {
  const element = svg("svg", {
    class: "chart histogram",
    role: "img",
    height: HEIGHT,
    "aria-label": "Distribution of a column",
  });
  let bins = null; // {titles, of(value)} of the column that is shown
  let values = [];
  let first = null; // index of the bar where dragging began

  function draw(name, column, { points, coloring }) {
    if (values !== column) bins = binsOf(column);
    values = column;
    const colors = themeColors();
    const marks = coloring.marks(colors);
    const { markIndex, shown, selected } = points;
    const counts = bins.titles.map(() => new Uint32Array(marks.length + 1)); // the last: rows that are not selected
    column.forEach((value, row) => {
      if (shown && !shown[markIndex[row]]) return;
      counts[bins.of(value)][selected && !selected[row] ? marks.length : markIndex[row]] += 1;
    });
    const width = Math.max(element.clientWidth, 160);
    const most = Math.max(1, ...counts.map((bin) => bin.reduce((sum, count) => sum + count, 0)));
    const [across, down] = [width - MARGIN.left - MARGIN.right, HEIGHT - MARGIN.top - MARGIN.bottom];
    const step = across / bins.titles.length;
    const bars = counts.map((bin, index) => bar(bin, index, { marks, soft: colors.line, step, down, most }));
    const text = (content, x, y, anchor) => svg("text", { class: "tick", x, y, "text-anchor": anchor }, content);
    element.setAttribute("viewBox", `0 0 ${width} ${HEIGHT}`);
    element.setAttribute("aria-label", `Distribution of ${name} over ${counted(column.length, "row")}`);
    element.dataset.drawn = name;
    replace(
      element,
      bars,
      text(integer(most), MARGIN.left - 6, MARGIN.top + 8, "end"),
      text("0", MARGIN.left - 6, MARGIN.top + down, "end"),
      bins.ends.map((end, side) =>
        text(end, side ? width - MARGIN.right : MARGIN.left, HEIGHT - 6, side ? "end" : "start"),
      ),
    );
  }

  function bar(bin, index, { marks, soft, step, down, most }) {
    let top = MARGIN.top + down;
    const [x, width] = [MARGIN.left + index * step, Math.max(1, step - 1.5)];
    const parts = [...bin].map((count, mark) => {
      const height = (down * count) / most;
      top -= height;
      return count ? svg("rect", { x, y: top, width, height, fill: marks[mark]?.color ?? soft }) : null;
    });
    const total = bin.reduce((sum, count) => sum + count, 0);
    const frame = { x, y: MARGIN.top, width: step, height: down, fill: "transparent", "data-bin": index };
    return svg("g", {}, parts, svg("rect", frame, svg("title", {}, `${bins.titles[index]}: ${counted(total, "row")}`)));
  }

  const binAt = (event) => {
    const found = document.elementFromPoint(event.clientX, event.clientY)?.dataset?.bin;
    return found === undefined ? null : Number(found);
  };
  element.addEventListener("pointerdown", (event) => {
    first = binAt(event);
  });
  element.addEventListener("pointerup", (event) => {
    const [from, to] = [first, binAt(event)];
    first = null;
    if (from === null || to === null) return;
    const [low, high] = [Math.min(from, to), Math.max(from, to)];
    onSelect(Uint8Array.from(values, (value) => Number(bins.of(value) >= low && bins.of(value) <= high)));
  });

  return { element: h("div", { class: "plot-area" }, element), draw };
}

// The bars of a column: their titles, the bar of a value, and the labels of the two ends.
export function binsOf(values) {
  const numbers = values.filter((value) => typeof value === "number");
  return numbers.length ? numericBins(values, numbers) : levelBins(values);
}

function numericBins(values, numbers) {
  const [low, high, least, most] = rangeOf(numbers);
  const isWhole = numbers.every(Number.isInteger) && high - low < MAX_BINS;
  const count = isWhole ? high - low + 1 : MAX_BINS;
  const size = isWhole ? 1 : (high - low) / count || 1;
  const titles = Array.from({ length: count }, (_, bin) => {
    const from = bin === 0 && least < low ? least : low + bin * size;
    const to = bin === count - 1 && most > high ? most : low + (bin + 1) * size;
    return isWhole && from + 1 === to ? number(from) : `${number(from)} to ${number(to)}`;
  });
  const hasGaps = numbers.length < values.length;
  if (hasGaps) titles.push("missing");
  const binOf = (value) => Math.max(0, Math.min(count - 1, Math.floor((value - low) / size)));
  const of = (value) => (value === null ? count : binOf(value));
  const last = `${high < most ? "≥ " : ""}${number(high)}`;
  return { titles, of, ends: [`${low > least ? "≤ " : ""}${number(low)}`, hasGaps ? `${last}, then missing` : last] };
}

// The ends of the bars, and the least and the largest value: a few far values are in the first or the last bar.
function rangeOf(numbers) {
  const sorted = Float64Array.from(numbers).sort();
  const at = (share) => sorted[Math.round(share * (sorted.length - 1))];
  const [least, most, low, high] = [at(0), at(1), at(TAIL), at(1 - TAIL)];
  const far = FAR * (high - low) || Infinity;
  return [low - least > far ? low : least, most - high > far ? high : most, least, most];
}

function levelBins(values) {
  const counts = new Map();
  for (const value of values) counts.set(value ?? "missing", (counts.get(value ?? "missing") ?? 0) + 1);
  const frequent = [...counts].sort(([, a], [, b]) => b - a).slice(0, MAX_LEVELS);
  const names = frequent.map(([name]) => name).sort(compareNames);
  const places = new Map(names.map((name, place) => [name, place]));
  const others = counts.size - names.length;
  const titles = names.map((name) => shortened(name, 40));
  if (others) titles.push(`${others} others`);
  const ends = titles.length > 1 ? [titles[0], titles.at(-1)] : titles;
  return {
    titles,
    of: (value) => places.get(value ?? "missing") ?? names.length,
    ends: ends.map((end) => shortened(end, 18)),
  };
}
