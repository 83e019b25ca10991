// The arrows of a biplot: one for each feature or group of collinear features, inside the frame, with labels that avoid
// points and each other. All positions are pixels of the frame.

import { shortened } from "../../format.js";

const MAX_ARROWS = 9;
const MAX_ARROWS_NARROW = 5;
const NARROW = 430; // pixels
const MIN_LENGTH = 0.08; // of the longest arrow; shorter ones are left out
const FRAME_SHARE = 0.84; // of the way to the frame that the longest arrow takes
const LETTER_WIDTH = 6.9; // pixels at font size 12
const LABEL_HEIGHT = 17;
const CELL = 8; // pixels of the grid that counts points
const TURNS = [0, 0.7, -0.7, 1.4, -1.4, 2.1, -2.1]; // radians from the arrow's own direction to its label
const MAX_COUNTED = 6_000; // points that labels avoid
const SHAFT = 0.9; // cost of a label that an arrow runs through; that of points is at most 2
const MISLEADING = 1; // cost of a label that is nearer to the tip of another arrow

// The features and groups as {name, members: [{index, weight}], weights, structure, importance}. A group is a sum of its
// features, each with the sign of its correlation; `weights` and `structure` have an item for each axis.
export function arrowEntries({ features, W, structure, importance = [], groups = [] }) {
  const places = new Map(features.map((name, index) => [name, index]));
  const grouped = new Set(groups.flatMap((group) => group.features));
  const sets = [
    ...groups.map((group) => group.features.map((name) => places.get(name))),
    ...features.map((_, index) => [index]).filter(([index]) => !grouped.has(features[index])),
  ];
  return sets.map((set) => {
    const [leader] = [...set].sort((a, b) => norm((structure ?? W)[b]) - norm((structure ?? W)[a]));
    const sign = (index) => (structure && dot(structure[index], structure[leader]) < 0 ? -1 : 1);
    const members = set.map((index) => ({ index, weight: sign(index) / Math.sqrt(set.length) }));
    return {
      name: nameOf(set.map((index) => features[index])),
      members,
      weights: combined(W, members),
      structure: structure ? structure[leader] : null,
      importance: set.reduce((sum, index) => sum + (importance[index] ?? 0), 0),
    };
  });
}

// The arrows along two axes as {origin, factor, arrows: [{entry, index, tip, label: {x, y, text}}]}: half of them are those
// of the most important features, the others the longest; x and y are the middle of the label. `vectors` has the two components of each entry, `view` the ranges of the data that the frame shows.
// `fixedFactor` keeps the length of the arrows, in units of the data.
export function placeArrows(entries, vectors, view, size, points = null, fixedFactor = null) {
  const origin = toPixels(0, 0, view, size);
  const lengths = vectors.map(norm);
  const longest = Math.max(...lengths, 0);
  const isInside = origin.x >= 0 && origin.x <= size.width && origin.y >= 0 && origin.y <= size.height;
  if (!longest || !isInside) return { origin, arrows: [], factor: 1 };
  const most = size.width < NARROW ? MAX_ARROWS_NARROW : MAX_ARROWS;
  const order = lengths.map((_, index) => index).sort((a, b) => lengths[b] - lengths[a]);
  const long = order.filter((index) => lengths[index] > MIN_LENGTH * longest);
  const leading = mostImportant(entries, long, Math.ceil(most / 2));
  const kept = [...leading, ...long.filter((index) => !leading.includes(index))];
  const factor =
    fixedFactor ??
    arrowFactor(
      kept.slice(0, most).map((index) => vectors[index]),
      view,
    );
  const crowd = points && countPoints(points, view, size);
  const tipOf = (index) => toPixels(factor * vectors[index][0], factor * vectors[index][1], view, size);
  const tips = kept.slice(0, most).map(tipOf);
  const isOther = (tip) => (other) => other.x !== tip.x || other.y !== tip.y;
  const cost = (box) => (crowd ? crowd(box) : 0) + SHAFT * tips.filter((tip) => crosses(box, origin, tip)).length;
  const arrows = [];
  for (const index of kept) {
    if (arrows.length === most) break;
    const tip = tipOf(index);
    const label = placeLabel(entries[index].name, origin, tip, size, arrows, tips.filter(isOther(tip)), cost);
    if (label) arrows.push({ entry: entries[index], index, tip, label });
  }
  return { origin, arrows, factor };
}

// The most important of some entries, in the given order; none if the importance is not known.
function mostImportant(entries, order, count) {
  const importance = (index) => entries[index].importance ?? 0;
  const ranked = order.filter(importance).sort((a, b) => importance(b) - importance(a));
  return ranked.slice(0, count);
}

// How many units of the data one unit of an arrow is, so that all tips are inside the frame.
function arrowFactor(vectors, view) {
  const limit = (component, [low, high]) => {
    if (Math.abs(component) < 1e-12) return Infinity;
    return (FRAME_SHARE * (component > 0 ? high : low)) / component;
  };
  return Math.min(...vectors.map(([x, y]) => Math.min(limit(x, view.x), limit(y, view.y))));
}

function toPixels(x, y, view, { width, height }) {
  return {
    x: ((x - view.x[0]) / (view.x[1] - view.x[0])) * width,
    y: height - ((y - view.y[0]) / (view.y[1] - view.y[0])) * height,
  };
}

// The best place for a label near the tip; null if every place would cover another label or one of the other tips.
function placeLabel(name, origin, tip, size, arrows, others, costOf) {
  const text = shortened(name, size.width < NARROW ? 14 : 26);
  const half = { x: (LETTER_WIDTH * [...text].length) / 2 + 3, y: LABEL_HEIGHT / 2 };
  const direction = Math.atan2(tip.y - origin.y, tip.x - origin.x);
  let best = null;
  for (const distance of [4, 18, 34]) {
    for (const turn of TURNS) {
      const angle = direction + turn;
      const x = clamp(tip.x + Math.cos(angle) * (half.x + distance), half.x, size.width - half.x);
      const y = clamp(tip.y + Math.sin(angle) * (half.y + distance), half.y, size.height - half.y);
      const box = { left: x - half.x, right: x + half.x, top: y - half.y, bottom: y + half.y };
      const covers =
        arrows.some((other) => overlap(box, other.label.box)) || others.some((other) => isNear(box, other));
      if (covers || isNear(box, tip, -2)) continue;
      const misleads = others.some((other) => distanceTo(box, other) < distanceTo(box, tip));
      const cost = 0.4 * Math.abs(turn) + 0.03 * distance + (misleads ? MISLEADING : 0) + costOf(box);
      if (!best || cost < best.cost) best = { cost, x, y, width: 2 * half.x, text, box };
    }
  }
  return best;
}

// A function that says how many points are in a box, compared with the mean.
function countPoints({ x, y, markIndex, shown }, view, size) {
  const [columns, rows] = [Math.ceil(size.width / CELL) + 1, Math.ceil(size.height / CELL) + 1];
  const counts = new Uint16Array(columns * rows);
  const stride = Math.max(1, Math.floor(x.length / MAX_COUNTED));
  let total = 0;
  for (let at = 0; at < x.length; at += stride) {
    if (shown && !shown[markIndex[at]]) continue;
    const place = toPixels(x[at], y[at], view, size);
    const [column, row] = [Math.floor(place.x / CELL), Math.floor(place.y / CELL)];
    if (column < 0 || row < 0 || column >= columns || row >= rows) continue;
    counts[row * columns + column] += 1;
    total += 1;
  }
  const mean = total / (columns * rows) || 1;
  return (box) => {
    let [inside, cells] = [0, 0];
    for (let row = Math.max(0, Math.floor(box.top / CELL)); row <= box.bottom / CELL && row < rows; row += 1)
      for (
        let column = Math.max(0, Math.floor(box.left / CELL));
        column <= box.right / CELL && column < columns;
        column += 1
      ) {
        inside += counts[row * columns + column];
        cells += 1;
      }
    return Math.min(2, (0.4 * inside) / (cells * mean || 1));
  };
}

function overlap(a, b) {
  return a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;
}

// From the nearest side of a box to a point.
function distanceTo(box, { x, y }) {
  return Math.hypot(Math.max(box.left - x, 0, x - box.right), Math.max(box.top - y, 0, y - box.bottom));
}

function isNear(box, point, margin = 3) {
  return (
    point.x > box.left - margin &&
    point.x < box.right + margin &&
    point.y > box.top - margin &&
    point.y < box.bottom + margin
  );
}

// Whether the line between two points runs through a box: the part of it inside each pair of sides overlaps.
function crosses(box, from, to) {
  let [first, last] = [0, 1];
  for (const [name, low, high] of [
    ["x", box.left, box.right],
    ["y", box.top, box.bottom],
  ]) {
    const length = to[name] - from[name];
    const ends = [(low - from[name]) / length, (high - from[name]) / length];
    if (length === 0) {
      if (from[name] < low || from[name] > high) return false;
      continue;
    }
    first = Math.max(first, Math.min(...ends));
    last = Math.min(last, Math.max(...ends));
  }
  return first < last;
}

function clamp(value, low, high) {
  return Math.max(low, Math.min(high, value));
}

function nameOf(names) {
  return names.length <= 2 ? names.join(" / ") : `${names[0]} / ${names[1]} and ${names.length - 2} more`;
}

// The weight of an entry on each axis.
export function combined(W, members) {
  return W[0].map((_, axis) => members.reduce((sum, { index, weight }) => sum + weight * W[index][axis], 0));
}

function norm(vector) {
  return Math.hypot(...vector);
}

function dot(a, b) {
  return a.reduce((sum, value, index) => sum + value * b[index], 0);
}
