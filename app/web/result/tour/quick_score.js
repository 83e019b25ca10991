// A quick estimate of J and of the accuracy of some axes: on a sample of the rows, each predicted by its nearest ones.

import { counted } from "../../format.js";
import { groupKind } from "../data.js";
import { restoring, turned } from "./frames.js";

const SAMPLE = 300; // rows
const NEIGHBORS = 5;

// A function of the rows in some axes that returns {objective, score, measure, note} of a sample; null if not known. The
// objective has the kernel of the result, so it can be compared with the optimum as long as W has orthonormal columns. If
// the rows were whitened, J depends on the plane of the axes alone: the rows are scaled as the whitening would.
export function quickScore(source) {
  const { group, result, axes, job } = source;
  const spec = result.choice?.spec ?? job.spec;
  const count = axes[0].length;
  const size = Math.min(SAMPLE, count);
  const sample = Array.from({ length: size }, (_, index) => Math.floor((index * count) / size));
  const isValues = groupKind(source) === "values";
  const target = group && sample.map((row) => group[row]);
  const kernels = {
    gaussian: (a, b) => Math.exp(-squaredDistance(a, b) / (2 * result.kernel.sigma ** 2)),
    linear: (a, b) => a.reduce((sum, value, axis) => sum + value * b[axis], 0),
  };
  const kernel = spec.neighbors ? null : kernels[result.kernel.name];
  const note = `On ${counted(size, "row")}, each predicted by its ${NEIGHBORS} nearest ones.`;
  if (!target || target.some((value) => value === null)) return () => ({ objective: null, score: null, note });
  const mean = isValues ? target.reduce((sum, value) => sum + value, 0) / size : 0;
  const together = centered(size, (i, j) =>
    isValues ? (target[i] - mean) * (target[j] - mean) : Number(target[i] === target[j]),
  );
  const pointsOf = (rows) => sample.map((row) => rows.map((values) => values[row]));
  const within = (points) => deviations(points, isValues ? sample.map(() => 0) : target);
  const best = spec.scale === "whiten" ? within(pointsOf(axes)) : null;
  const whitened = (points) =>
    best ? turned({ W: points, rows: points[0].map(() => []) }, restoring(within(points), best)).W : points;
  return (rows) => {
    const points = pointsOf(rows);
    const scaled = kernel ? whitened(points) : points;
    const nearest = points.map(() => []);
    let objective = 0;
    for (let i = 0; i < size; i += 1)
      for (let j = 0; j < i; j += 1) {
        const d2 = squaredDistance(points[i], points[j]);
        if (kernel) objective += 2 * together[i * size + j] * kernel(scaled[i], scaled[j]);
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
      return { objective: kernel ? objective : null, score: 1 - rest / total, measure: "Quick R²", note };
    }
    const right = guesses.filter((value, row) => value === target[row]).length;
    return { objective: kernel ? objective : null, score: right / size, measure: "Quick accuracy", note };
  };
}

function squaredDistance(a, b) {
  let sum = 0;
  for (let axis = 0; axis < a.length; axis += 1) sum += (a[axis] - b[axis]) ** 2;
  return sum;
}

// The points minus the mean of their group.
function deviations(points, groups) {
  const sums = new Map(); // of each group: the number of its points and the sum of each coordinate
  for (const [row, point] of points.entries()) {
    const [count, sum] = sums.get(groups[row]) ?? [0, point.map(() => 0)];
    sums.set(groups[row], [count + 1, sum.map((value, axis) => value + point[axis])]);
  }
  return points.map((point, row) => {
    const [count, sum] = sums.get(groups[row]);
    return point.map((value, axis) => value - sum[axis] / count);
  });
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
