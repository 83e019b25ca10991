// A tour that starts at W: dragging the arrow of a feature turns the axes, and the rows, J and a quick score follow.

import { postForColumns } from "../../api.js";
import { h, replace } from "../../dom.js";
import { number, percent } from "../../format.js";
import { groupKind } from "../data.js";
import { combined } from "./arrows.js";

const MAX_DRAGGED = 9; // arrows that can be dragged
const SAMPLE = 300; // rows that J and the score are computed on
const NEIGHBORS = 5;
const MEASURE_MILLISECONDS = 100; // between two computations of J and the score
const LONGEST = 0.98; // weight of a feature; the columns of W have length 1

// {element, start(x, y), stop(), drag(index, vector), state()}; `onMove(axes, vectors)` gets the turned rows and arrows.
export function tour(source, entries, onMove) {
  const { result, axes } = source;
  const element = h("p", { class: "hint", role: "status", hidden: true });
  const measured = measure(source);
  const optimum = measured(axes);
  let columns = null; // the standardized rows along each entry that can be dragged, by its index
  let W = result.W;
  let rows = axes;
  let shown = [0, 1];
  let timer = null;

  async function start(x, y) {
    shown = [x, y];
    const length = ({ weights }) => Math.hypot(weights[x], weights[y]);
    const order = entries.map((_, index) => index).sort((a, b) => length(entries[b]) - length(entries[a]));
    const kept = order.slice(0, MAX_DRAGGED);
    const directions = result.features.map(() => new Array(kept.length).fill(0));
    kept.forEach((entry, column) => {
      for (const { index, weight } of entries[entry].members) directions[index][column] = weight;
    });
    const table = await postForColumns(`/jobs/${source.job.id}/project?format=npz`, { W: directions });
    columns = new Map(kept.map((entry, column) => [entry, table.get(`axis${column + 1}`)]));
    back();
  }

  function back() {
    [W, rows] = [result.W, axes];
    move();
  }

  function drag(index, [x, y]) {
    const along = columns.get(index);
    const length = Math.hypot(x, y);
    const shrink = length > LONGEST ? LONGEST / length : 1;
    const now = combined(W, entries[index].members);
    const change = now.map(
      (value, axis) => (axis === shown[0] ? shrink * x : axis === shown[1] ? shrink * y : value) - value,
    );
    const moved = rows.map((values, axis) =>
      change[axis] ? values.map((value, row) => value + change[axis] * along[row]) : values,
    );
    const turned = W.map((weights) => [...weights]);
    for (const { index: feature, weight } of entries[index].members)
      turned[feature] = turned[feature].map((value, axis) => value + weight * change[axis]);
    [W, rows] = orthonormalized(turned, moved, shown);
    move();
  }

  function move() {
    onMove(
      rows,
      entries.map(({ members }) => combined(W, members)).map((weights) => shown.map((axis) => weights[axis])),
    );
    if (timer === null) timer = setTimeout(report, MEASURE_MILLISECONDS);
  }

  function report() {
    timer = null;
    if (!columns) return;
    const now = measured(rows);
    const parts = [];
    if (now.objective !== null) parts.push(`J: ${percent(now.objective / optimum.objective)} of the optimum`);
    if (now.score !== null) parts.push(`${now.measure}: ${number(now.score, 3)} (optimum ${number(optimum.score, 3)})`);
    const note = `on ${Math.min(SAMPLE, axes[0].length)} rows, by ${NEIGHBORS} nearest neighbors`;
    element.hidden = false;
    replace(element, parts.length ? `${parts.join(" · ")}, ${note}. ` : "", backButton);
  }

  const backButton = h("button", { type: "button", class: "small quiet", onclick: back }, "Back to the optimum");
  return {
    element,
    start,
    drag,
    canDrag: (index) => columns?.has(index) ?? false,
    stop() {
      columns = null;
      element.hidden = true;
    },
  };
}

// W with orthonormal columns, and the rows in these axes: Gram-Schmidt, the axes shown first.
function orthonormalized(W, rows, shown) {
  const order = [...shown, ...rows.keys()].filter((axis, place, all) => all.indexOf(axis) === place);
  const [weights, values] = [W.map((row) => [...row]), [...rows]];
  order.forEach((axis, place) => {
    for (const before of order.slice(0, place)) {
      const overlap = weights.reduce((sum, row) => sum + row[axis] * row[before], 0);
      if (Math.abs(overlap) < 1e-12) continue;
      for (const row of weights) row[axis] -= overlap * row[before];
      values[axis] = values[axis].map((value, at) => value - overlap * values[before][at]);
    }
    const length = Math.sqrt(weights.reduce((sum, row) => sum + row[axis] ** 2, 0));
    if (Math.abs(length - 1) < 1e-12) return;
    for (const row of weights) row[axis] /= length;
    values[axis] = values[axis].map((value) => value / length);
  });
  return [weights, values];
}

// A function of the rows in some axes that returns {objective, score, measure} on a sample; null if it is not known.
function measure(source) {
  const { group, result, axes, job } = source;
  const count = axes[0].length;
  const size = Math.min(SAMPLE, count);
  const sample = Array.from({ length: size }, (_, index) => Math.floor((index * count) / size));
  const isValues = groupKind(source) === "values";
  const target = group && sample.map((row) => group[row]);
  const kernel = { gaussian: (d2) => Math.exp(-d2 / (2 * result.kernel.sigma ** 2)), linear: (_, dot) => dot }[
    job.spec.neighbors ? "" : result.kernel.name
  ];
  if (!target || target.some((value) => value === null)) return () => ({ objective: null, score: null });
  const mean = isValues ? target.reduce((sum, value) => sum + value, 0) / size : 0;
  const together = centered(size, (i, j) =>
    isValues ? (target[i] - mean) * (target[j] - mean) : Number(target[i] === target[j]),
  );
  return (rows) => {
    const points = sample.map((row) => rows.map((values) => values[row]));
    const nearest = points.map(() => []);
    let objective = 0;
    for (let i = 0; i < size; i += 1)
      for (let j = 0; j < i; j += 1) {
        let [d2, dot] = [0, 0];
        for (let axis = 0; axis < points[i].length; axis += 1) {
          d2 += (points[i][axis] - points[j][axis]) ** 2;
          dot += points[i][axis] * points[j][axis];
        }
        if (kernel) objective += 2 * together[i * size + j] * kernel(d2, dot);
        keep(nearest[i], d2, j);
        keep(nearest[j], d2, i);
      }
    const guesses = nearest.map((found) =>
      guess(
        found.map(([, row]) => target[row]),
        isValues,
      ),
    );
    if (isValues) {
      const total = target.reduce((sum, value) => sum + (value - mean) ** 2, 0) || 1;
      const rest = target.reduce((sum, value, row) => sum + (value - guesses[row]) ** 2, 0);
      return { objective: kernel ? objective : null, score: 1 - rest / total, measure: "quick R²" };
    }
    const right = guesses.filter((value, row) => value === target[row]).length;
    return { objective: kernel ? objective : null, score: right / size, measure: "quick accuracy" };
  };
}

// The matrix of `value(i, j)` with the means of its rows and columns taken out.
function centered(size, value) {
  const matrix = Float64Array.from({ length: size * size }, (_, at) => value(Math.floor(at / size), at % size));
  const means = Array.from(
    { length: size },
    (_, row) => matrix.subarray(row * size, (row + 1) * size).reduce((a, b) => a + b, 0) / size,
  );
  const all = means.reduce((sum, mean) => sum + mean, 0) / size;
  return matrix.map((entry, at) => entry - means[Math.floor(at / size)] - means[at % size] + all);
}

// Keeps the nearest rows, sorted by distance.
function keep(found, distance, row) {
  if (found.length === NEIGHBORS && distance >= found[NEIGHBORS - 1][0]) return;
  let at = found.length;
  while (at > 0 && found[at - 1][0] > distance) at -= 1;
  found.splice(at, 0, [distance, row]);
  if (found.length > NEIGHBORS) found.pop();
}

function guess(values, isValues) {
  if (isValues) return values.reduce((sum, value) => sum + value, 0) / values.length;
  const counts = new Map();
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1);
  return [...counts].sort(([, a], [, b]) => b - a)[0][0];
}
