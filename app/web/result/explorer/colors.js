// Colors of points: a color and shape for each class, which color-blind people can distinguish, or a scale for numbers.

import { compareNames, number } from "../../format.js";

const SHAPES = ["circle", "square", "diamond", "triangle-up"];
const SHADES = 48; // of a scale
const TAIL = 0.02; // share of the values at each end that has the color of the end; ism_plots has the same rule
const MAX_CLASSES = 32; // 8 colors times 4 shapes
// From blue to yellow with increasing lightness. A dark background does not use the darkest part.
const SCALE = [
  [49, 54, 120],
  [50, 90, 140],
  [45, 122, 142],
  [38, 152, 138],
  [74, 184, 112],
  [150, 211, 72],
  [240, 225, 60],
];

// {kind: "classes", names, counts, …} or {kind: "scale", ends, …}. Both have `markIndex`, the index of each point's mark,
// and `marks(colors)`, the marks as {color, shape}.
export function coloring(values, asClasses) {
  return asClasses ? byClasses(values) : byNumbers(values);
}

function byClasses(values) {
  const { codes, counts } = counted(values);
  const present = [...counts.keys()].filter((value) => value !== null);
  const kept =
    present.length <= MAX_CLASSES
      ? present
      : present.sort((a, b) => counts.get(b) - counts.get(a)).slice(0, MAX_CLASSES - 1);
  kept.sort(compareNames);
  const indices = new Map(kept.map((value, index) => [value, index]));
  const names = kept.map(String);
  if (kept.length < counts.size)
    names.push(present.length > kept.length ? `${counts.size - kept.length} others` : "missing");
  const indexOfCode = Uint8Array.from(counts.keys(), (value) => indices.get(value) ?? kept.length);
  const markIndex = new Uint8Array(codes.length);
  for (let row = 0; row < codes.length; row += 1) markIndex[row] = indexOfCode[codes[row]];
  const sizes = new Array(names.length).fill(0);
  for (const index of markIndex) sizes[index] += 1;
  const marks = ({ series, soft }) =>
    names.map((_, index) =>
      index >= kept.length
        ? { color: soft, shape: "circle" }
        : { color: series[index % 8], shape: SHAPES[Math.floor(index / 8)] },
    );
  return { kind: "classes", names, counts: sizes, markIndex, marks };
}

// The number of rows of each value, and for each row the place of its value among them.
function counted(values) {
  const places = new Map();
  const sizes = [];
  const codes = new Uint32Array(values.length);
  for (let row = 0; row < values.length; row += 1) {
    let code = places.get(values[row]);
    if (code === undefined) {
      code = places.size;
      places.set(values[row], code);
      sizes.push(0);
    }
    codes[row] = code;
    sizes[code] += 1;
  }
  return { codes, counts: new Map(Array.from(places.keys(), (value, code) => [value, sizes[code]])) };
}

function byNumbers(values) {
  const finite = Float64Array.from(values.filter((value) => typeof value === "number")).sort();
  const [least, most] = [finite[0], finite.at(-1)];
  const at = (share) => finite[Math.round(share * (finite.length - 1))];
  const [low, high] = at(TAIL) < at(1 - TAIL) ? [at(TAIL), at(1 - TAIL)] : [least, most];
  const span = high - low || 1;
  const shadeOf = (value) => Math.max(0, Math.min(SHADES - 1, Math.floor((SHADES * (value - low)) / span)));
  const markIndex = Uint8Array.from(values, (value) => (typeof value === "number" ? shadeOf(value) : SHADES));
  const marks = (colors) => [
    ...Array.from({ length: SHADES }, (_, step) => ({ color: shade(step / (SHADES - 1), colors), shape: "circle" })),
    { color: colors.soft, shape: "circle" },
  ];
  const ends = [`${low > least ? "≤ " : ""}${number(low)}`, `${high < most ? "≥ " : ""}${number(high)}`];
  return { kind: "scale", markIndex, marks, ends };
}

function shade(share, { surface }) {
  const first = isDark(surface) ? 0.25 : 0;
  const last = isDark(surface) ? 1 : 0.94;
  const index = (first + share * (last - first)) * (SCALE.length - 1);
  const below = Math.min(SCALE.length - 2, Math.floor(index));
  const part = SCALE[below].map((value, channel) =>
    Math.round(value + (index - below) * (SCALE[below + 1][channel] - value)),
  );
  return `rgb(${part.join(", ")})`;
}

// The scale as Plotly wants it: pairs of a position from 0 to 1 and a color.
export function scaleColors(colors) {
  return Array.from({ length: 9 }, (_, step) => [step / 8, shade(step / 8, colors)]);
}

export function isDark(color) {
  return /^#[0-3]/.test(color);
}
