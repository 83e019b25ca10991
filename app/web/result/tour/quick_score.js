// A quick estimate of J and of the accuracy of some axes: on a sample of the rows, each predicted by its nearest ones.

import { counted } from "../../format.js";
import { groupKind } from "../data.js";

const SAMPLE = 300; // rows
const NEIGHBORS = 5;

// A function of the rows in some axes that returns {objective, score, measure, note} of a sample; null if not known. The
// objective has the kernel of the result, so it can be compared with the optimum as long as W has orthonormal columns.
export function quickScore(source) {
  const { group, result, axes, job } = source;
  const spec = result.choice?.spec ?? job.spec;
  const count = axes[0].length;
  const size = Math.min(SAMPLE, count);
  const sample = Array.from({ length: size }, (_, index) => Math.floor((index * count) / size));
  const isValues = groupKind(source) === "values";
  const target = group && sample.map((row) => group[row]);
  const kernel = { gaussian: (d2) => Math.exp(-d2 / (2 * result.kernel.sigma ** 2)), linear: (_, dot) => dot }[
    spec.neighbors ? "" : result.kernel.name
  ];
  const note = `On ${counted(size, "row")}, each predicted by its ${NEIGHBORS} nearest ones.`;
  if (!target || target.some((value) => value === null)) return () => ({ objective: null, score: null, note });
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
      return { objective: kernel ? objective : null, score: 1 - rest / total, measure: "quick R²", note };
    }
    const right = guesses.filter((value, row) => value === target[row]).length;
    return { objective: kernel ? objective : null, score: right / size, measure: "quick accuracy", note };
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
