// The ranges of the two axes that a scatter plot shows.

const TAIL = 0.005; // share of the rows at each end that may be far outside
const FAR = 1.5; // they are left out of the first view if it would be so many times as wide with them
const LEAST_ROWS = 200; // of fewer rows, all are shown
const MOST_SAMPLED = 20_000; // rows that the ranges are estimated from

// The ranges that contain all points, with a margin.
export function fullView({ points, newPoints, isEqual }, size) {
  const range = (name) => {
    let [low, high] = [Infinity, -Infinity];
    for (const values of [points[name], newPoints?.[name] ?? []])
      for (let row = 0; row < values.length; row += 1) {
        if (values[row] < low) low = values[row];
        if (values[row] > high) high = values[row];
      }
    if (!Number.isFinite(low)) return [-1, 1];
    const margin = 0.06 * (high - low || 1);
    return [low - margin, high + margin];
  };
  const view = { x: range("x"), y: range("y") };
  return isEqual ? equalized(view, size) : view;
}

// The view with one of its ranges extended, so that a unit is as long on both axes.
export function equalized(view, { width, height }) {
  const unit = Math.max((view.x[1] - view.x[0]) / width, (view.y[1] - view.y[0]) / height);
  const extended = ([low, high], pixels) => {
    const free = (unit * pixels - (high - low)) / 2;
    return [low - free, high + free];
  };
  return { x: extended(view.x, width), y: extended(view.y, height) };
}

// The view without the few rows that are far outside, as {view, outside}, where `outside` counts them; null if all rows
// fit well into one view.
export function coreView({ points, newPoints, isEqual }, size) {
  if (newPoints || points.x.length < LEAST_ROWS) return null;
  const whole = fullView({ points }, size);
  const core = { x: coreRange(points.x), y: coreRange(points.y) };
  const isFar = (name) => length(whole[name]) > FAR * length(core[name]);
  if (!isFar("x") && !isFar("y")) return null;
  const kept = { x: isFar("x") ? core.x : whole.x, y: isFar("y") ? core.y : whole.y };
  const view = isEqual ? equalized(kept, size) : kept;
  let outside = 0;
  for (let row = 0; row < points.x.length; row += 1)
    if (!isInside(points.x[row], view.x) || !isInside(points.y[row], view.y)) outside += 1;
  return { view, outside };
}

// The range of all values but the outermost ones, and half as much at each side.
function coreRange(values) {
  const count = Math.min(values.length, MOST_SAMPLED);
  const sample = new Float64Array(count);
  for (let at = 0; at < count; at += 1) sample[at] = values[Math.floor((at * values.length) / count)];
  sample.sort();
  const [low, high] = [sample[Math.floor(TAIL * count)], sample[Math.ceil((1 - TAIL) * count) - 1]];
  const free = (high - low || 1) / 2;
  return [low - free, high + free];
}

function length([low, high]) {
  return high - low;
}

function isInside(value, [low, high]) {
  return value >= low && value <= high;
}
