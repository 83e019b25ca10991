// What points are colored by: classes in colors and shapes that the color-blind can tell apart, numbers on a scale.

import { number } from "../format.js";

const SHAPES = ["circle", "square", "diamond", "triangle-up"];
const STEPS = 48; // shades of a scale
const MOST_CLASSES = 32;
// From blue to yellow with lightness that only rises; the darkest are left out on a dark ground.
const SCALE = [
  [49, 54, 120],
  [50, 90, 140],
  [45, 122, 142],
  [38, 152, 138],
  [74, 184, 112],
  [150, 211, 72],
  [240, 225, 60],
];

// {kind: "classes", names, counts} or {kind: "scale", low, high}, `of`: the place of each point's mark, and `marks(theme)`.
export function coloring(values, asClasses) {
  return asClasses ? byClasses(values) : byNumbers(values);
}

function byClasses(values) {
  const counts = new Map();
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1);
  const present = [...counts.keys()].filter((value) => value !== null);
  const byName = (one, other) => String(one).localeCompare(String(other), "en", { numeric: true });
  const kept =
    present.length <= MOST_CLASSES
      ? present
      : present.sort((one, other) => counts.get(other) - counts.get(one)).slice(0, MOST_CLASSES - 1);
  kept.sort(byName);
  const places = new Map(kept.map((value, place) => [value, place]));
  const names = kept.map(String);
  if (kept.length < counts.size)
    names.push(present.length > kept.length ? `${counts.size - kept.length} others` : "missing");
  const of = Uint8Array.from(values, (value) => places.get(value) ?? kept.length);
  const sizes = new Array(names.length).fill(0);
  for (const place of of) sizes[place] += 1;
  const marks = ({ series, soft }) =>
    names.map((_, place) =>
      place >= kept.length
        ? { color: soft, shape: "circle" }
        : { color: series[place % 8], shape: SHAPES[Math.floor(place / 8)] },
    );
  return { kind: "classes", names, counts: sizes, of, marks };
}

function byNumbers(values) {
  const finite = values.filter((value) => typeof value === "number");
  const low = finite.reduce((least, value) => Math.min(least, value), Infinity);
  const high = finite.reduce((most, value) => Math.max(most, value), -Infinity);
  const span = high - low || 1;
  const of = Uint8Array.from(values, (value) =>
    typeof value === "number" ? Math.min(STEPS - 1, Math.floor((STEPS * (value - low)) / span)) : STEPS,
  );
  const marks = (theme) => [
    ...Array.from({ length: STEPS }, (_, step) => ({ color: shade(step / (STEPS - 1), theme), shape: "circle" })),
    { color: theme.soft, shape: "circle" },
  ];
  return { kind: "scale", low, high, of, marks, ends: [number(low), number(high)] };
}

function shade(share, { surface }) {
  const first = isDark(surface) ? 0.25 : 0;
  const last = isDark(surface) ? 1 : 0.94;
  const place = (first + share * (last - first)) * (SCALE.length - 1);
  const below = Math.min(SCALE.length - 2, Math.floor(place));
  const part = SCALE[below].map((value, channel) =>
    Math.round(value + (place - below) * (SCALE[below + 1][channel] - value)),
  );
  return `rgb(${part.join(", ")})`;
}

export function scaleColors(theme) {
  return Array.from({ length: 9 }, (_, step) => [step / 8, shade(step / 8, theme)]);
}

export function isDark(color) {
  return /^#[0-3]/.test(color);
}
