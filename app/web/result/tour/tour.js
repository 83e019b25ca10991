// A tour that starts at W: the arrow of a feature can be dragged, a feature can be taken out, and the axes can turn to
// those of other candidates. The rows, the arrows, J and a quick score follow.

import { postForColumns } from "../../api.js";
import { ranking } from "../data.js";
import { combined } from "../explorer/arrows.js";
import { geodesic, isOrthonormal, restoring, shapeOf, turned } from "./frames.js";
import { tourPanel } from "./panel.js";
import { quickScore } from "./quick_score.js";

const MAX_DRAGGED = 9; // arrows that can be dragged
const MEASURE_MILLISECONDS = 100; // between two computations of J and the score
const LONGEST = 0.98; // weight of a feature in orthonormal axes, whose columns have length 1
const [TRAVEL, STAY] = [1500, 1200]; // milliseconds between two stops, and at a stop
const isCalm = window.matchMedia("(prefers-reduced-motion: reduce)");

// {element, start(x, y), stop(), drag(index, vector), canDrag(index)}. `onMove({rows, vectors, isAway, hasArrived})` gets
// the turned rows and arrows. A result with a single axis is turned together with the second direction of its picture;
// J and the score are those of the axis alone, unless the axes turn to those of a candidate with two.
export function tour(source, entries, onMove) {
  const { result } = source;
  const optimum = optimumOf(source);
  const axes = optimum.rows;
  const ownCount = source.axes.length;
  let measuredCount = ownCount; // axes that J and the score are of
  let measured = null; // a function of rows, and what it is for the optimum
  let best = null;
  const stops = stopsOf(result);
  const loaded = new Map(); // the frames of stops
  let columns = null; // the standardized rows along each entry that can be dragged, by its index
  let parts = null; // for a group of features, what it adds to the rows in each axis
  let frame = optimum;
  let shown = [0, 1];
  let timer = null;
  let journey = 0; // counts the movements; a new one ends those before it
  const panel = tourPanel(source, stops, { onBack: back, onStop: visit, onPlay: play, onWithout: leaveOut });

  async function begin(x, y) {
    shown = [x, y];
    const score = quickScore(source);
    measured = (rows) => score(rows.slice(0, measuredCount));
    best ??= measured(axes);
    const lengths = entries.map(({ members }) => {
      const weights = combined(optimum.W, members);
      return Math.hypot(weights[x], weights[y]);
    });
    const kept = ranking(lengths).slice(0, MAX_DRAGGED);
    const directions = kept.flatMap(directionsOf);
    const table = await projected(result.features.map((_, feature) => directions.map((each) => each[feature])));
    columns = new Map();
    parts = new Map();
    for (const entry of kept) {
      columns.set(entry, table.shift());
      if (entries[entry].members.length > 1) parts.set(entry, table.splice(0, axes.length));
    }
    show(optimum);
    panel.show(
      kept.map((index) => ({ index, name: entries[index].name, score: measured(shrunk(index, 1).rows).score })),
      best,
    );
  }

  // The directions whose rows an entry needs: its own, and for a group the weights of its features in each axis.
  function directionsOf(entry) {
    const { members } = entries[entry];
    const filled = (value) => {
      const direction = new Array(result.features.length).fill(0);
      for (const { index, weight } of members) direction[index] = value(index, weight);
      return direction;
    };
    const own = filled((_, weight) => weight);
    return members.length > 1 ? [own, ...axes.map((_, axis) => filled((index) => optimum.W[index][axis]))] : [own];
  }

  // The rows in other axes, an array for each of them.
  async function projected(W) {
    const table = await postForColumns(`/jobs/${source.job.id}/project?format=npz`, { W });
    return W[0].map((_, axis) => table.get(`axis${axis + 1}`));
  }

  function nextJourney() {
    journey += 1;
    measuredCount = ownCount;
    return journey;
  }

  function show(next, hasArrived = false) {
    frame = next;
    const isAway = frame !== optimum;
    const vectors = entries.map(({ members }) => combined(frame.W, members)).map((each) => shown.map((at) => each[at]));
    onMove({ rows: frame.rows, vectors, isAway, hasArrived });
    if (timer === null) timer = setTimeout(report, MEASURE_MILLISECONDS);
  }

  function report() {
    timer = null;
    if (!columns) return;
    const now = measured(frame.rows);
    const { scale } = result.choice?.spec ?? source.job.spec;
    const own = frame.W.map((weights) => weights.slice(0, ownCount));
    const hasObjective = measuredCount === ownCount && (scale === "whiten" || isOrthonormal(own));
    panel.report({ ...now, objective: hasObjective ? now.objective : null }, best);
  }

  // A frame with other weights of an entry; the columns of W keep their lengths and angles.
  function changed(from, index, wanted) {
    const along = columns.get(index);
    const now = combined(from.W, entries[index].members);
    const change = wanted.map((value, axis) => value - now[axis]);
    const W = from.W.map((weights) => [...weights]);
    for (const { index: feature, weight } of entries[index].members)
      W[feature] = W[feature].map((value, axis) => value + weight * change[axis]);
    const rows = from.rows.map((values, axis) =>
      change[axis] ? values.map((value, row) => value + change[axis] * along[row]) : values,
    );
    return turned({ W, rows }, restoring(W, from.W));
  }

  function drag(index, [x, y]) {
    nextJourney();
    const wanted = combined(frame.W, entries[index].members);
    [wanted[shown[0]], wanted[shown[1]]] = [x, y];
    const own = turned({ W: [wanted], rows: axes.map(() => []) }, shapeOf(frame.W).inverse).W[0];
    const shrink = Math.min(1, LONGEST / Math.hypot(...own));
    panel.mark(null);
    show(
      changed(
        frame,
        index,
        wanted.map((value) => shrink * value),
      ),
    );
  }

  // The optimum with smaller weights of all features of an entry; none are left at t = 1.
  function shrunk(index, t) {
    const { members } = entries[index];
    const W = optimum.W.map((weights) => [...weights]);
    for (const { index: feature } of members) W[feature] = W[feature].map((value) => (1 - t) * value);
    const rows = axes.map((values, axis) => {
      const own = parts.get(index)?.[axis] ?? columns.get(index);
      const factor = t * (parts.has(index) ? 1 : optimum.W[members[0].index][axis] * members[0].weight);
      return values.map((value, row) => value - factor * own[row]);
    });
    return turned({ W, rows }, restoring(W, optimum.W));
  }

  // Takes the features of an entry out of all axes.
  async function leaveOut(index) {
    const own = nextJourney();
    panel.mark(null);
    await moved(own, (t) => shrunk(index, t));
  }

  function back() {
    nextJourney();
    panel.mark(null);
    show(optimum, true);
  }

  async function frameOf(stop) {
    if (!loaded.has(stop)) {
      const rows = await projected(stops[stop].W);
      loaded.set(stop, alike({ W: stops[stop].W, rows }, optimum));
    }
    return loaded.get(stop);
  }

  // Turns the axes to those of a stop, or to the optimum if it is null.
  async function turnTo(stop, own) {
    const target = stop === null ? optimum : await frameOf(stop);
    if (own !== journey || !columns) return;
    measuredCount = stop === null ? ownCount : Math.min(stops[stop].W[0].length, axes.length);
    panel.mark(stop);
    await moved(own, geodesic(frame, target).at);
    if (own === journey && stop === null) show(optimum, true);
  }

  function visit(stop) {
    return turnTo(stop, nextJourney());
  }

  async function play() {
    const own = nextJourney();
    for (const stop of stops.keys()) {
      await turnTo(stop, own);
      await new Promise((resolve) => setTimeout(resolve, STAY));
      if (own !== journey) return;
    }
    await turnTo(null, own);
  }

  // Shows the frames at(t) with t from 0 to 1, unless another movement begins.
  async function moved(own, at) {
    const began = performance.now();
    for (let t = isCalm.matches ? 1 : 0; ; t = Math.min(1, (performance.now() - began) / TRAVEL)) {
      if (own !== journey || !columns) return;
      show(at(t * t * (3 - 2 * t)), t === 1); // slow at both ends
      if (t === 1) return;
      await new Promise(requestAnimationFrame);
    }
  }

  return {
    element: panel.element,
    start: begin,
    drag,
    canDrag: (index) => columns?.has(index) ?? false,
    stop() {
      nextJourney();
      columns = null;
      panel.hide();
    },
  };
}

function optimumOf({ result, axes, picture }) {
  if (axes.length > 1) return { W: result.W, rows: axes };
  return { W: result.W.map(([weight], feature) => [weight, result.picture[feature]]), rows: [axes[0], picture] };
}

// The candidates of the choice that the result has weights of, the best first.
function stopsOf({ choice, features }) {
  const found = (choice?.candidates ?? []).filter(({ W }) => W?.length === features.length);
  return found.sort((a, b) => b.score - a.score);
}

// A frame, made as large as another one if their rows were scaled differently.
function alike(frame, other) {
  if (isOrthonormal(frame.W) && isOrthonormal(other.W)) return frame;
  const factor = spread(other.rows) / (spread(frame.rows) || 1);
  return turned(
    frame,
    frame.rows.map((_, i) => frame.rows.map((__, j) => (i === j ? factor : 0))),
  );
}

// The root mean square of the coordinates.
function spread(rows) {
  const total = rows.reduce((sum, values) => sum + values.reduce((own, value) => own + value * value, 0), 0);
  return Math.sqrt(total / (rows.length * rows[0].length));
}
