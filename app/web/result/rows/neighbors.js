// Nearest rows in the axes, and how unusual a place is: how far it is from its nearest rows, compared with the rows of
// the table themselves.

export const NEIGHBORS = 5;
const MAX_REFERENCE = 20_000; // rows that distances are taken to
const MAX_PROBES = 400; // rows whose distances a place is compared with

// {nearest(point, self), unusual(point, self)}; a point has a coordinate for each axis, and `self` is the index of the
// row itself, or −1. Axes that add nothing are left out if there are others.
export function neighborhood({ axes, result }) {
  const informative = axes.map((_, axis) => axis).filter((axis) => result.contributions?.[axis]?.informative !== false);
  const used = informative.length ? informative : [...axes.keys()];
  const count = axes[0].length;
  const reference = spread(count, MAX_REFERENCE);
  let distances = null; // of the probes, sorted

  function nearestOf(rows, point, self, size) {
    const found = []; // [squared distance, row], the nearest first
    for (const row of rows) {
      if (row === self) continue;
      let squared = 0;
      for (const axis of used) squared += (axes[axis][row] - point[axis]) ** 2;
      if (found.length === size && squared >= found[size - 1][0]) continue;
      let at = found.length;
      while (at > 0 && found[at - 1][0] > squared) at -= 1;
      found.splice(at, 0, [squared, row]);
      if (found.length > size) found.pop();
    }
    return found;
  }

  const reach = (point, self) => nearestOf(reference, point, self, NEIGHBORS).at(-1)?.[0] ?? 0;

  return {
    // The nearest rows as {index, distance}.
    nearest: (point, self = -1) =>
      nearestOf(axes[0].keys(), point, self, NEIGHBORS).map(([squared, index]) => ({
        index,
        distance: Math.sqrt(squared),
      })),
    // The share of the table's rows that are nearer to their neighbors than this point is to its own.
    unusual(point, self = -1) {
      distances ??= Float64Array.from(spread(count, MAX_PROBES), (row) => reach(pointOf(axes, row), row)).sort();
      const own = reach(point, self);
      return distances.filter((distance) => distance < own).length / distances.length;
    },
  };
}

export function pointOf(axes, row) {
  return axes.map((values) => values[row]);
}

// What a share of `unusual` means, as a sentence.
export function unusualText(share) {
  const percent = `${Math.round(100 * share)}\u00a0%`;
  if (share >= 0.99) return `Unusual: it is farther from its nearest rows than ${percent} of the table's rows are.`;
  if (share >= 0.95) return `Somewhat unusual: farther from its nearest rows than ${percent} of the table's rows.`;
  return `Not unusual: ${percent} of the table's rows are nearer to their neighbors.`;
}

function spread(count, most) {
  const size = Math.min(count, most);
  return Int32Array.from({ length: size }, (_, index) => Math.floor((index * count) / size));
}
