// Axes as frames, and smooth paths between them. A frame is {W, rows}: W has a row for each feature and a column for each
// axis; `rows` has an array of coordinates for each axis. Both are linear in the columns of W, so both turn alike.

const TINY = 1e-9; // relative size from which a direction counts as missing
const SWEEPS = 30; // of Jacobi's method at most; a few are enough

// The polar decomposition: a frame whose columns of W are orthonormal, the symmetric matrix `shape` that makes W of them,
// and its inverse. The shape is the identity unless the rows were whitened.
export function polar(frame) {
  const { values, V } = svd(columnsOf(frame.W));
  const root = (power) =>
    product(
      V,
      transposed(V).map((row, at) => row.map((value) => value * power(values[at]))),
    );
  const least = TINY * Math.max(...values, 1e-300);
  const inverse = root((value) => (value > least ? 1 / value : 0));
  return { frame: turned(frame, inverse), shape: root((value) => value), inverse };
}

// The frame with other axes: those of W times the matrix M.
export function turned({ W, rows }, M) {
  return {
    W: W.map((weights) => M[0].map((_, to) => sum(weights, (w, from) => w * M[from][to]))),
    rows: mixed(rows, M),
  };
}

// A function of t from 0 to 1: the frames on the geodesic of the Grassmann manifold from the axes of one frame to those
// of another one, which may have fewer or more axes; of more, the first ones are used. At t = 1 the axes are rotated as
// near to the start as they can be. `angles` are the principal angles in radians, the largest first.
export function geodesic(from, to) {
  const [start, end] = [polar(from), polar(leading(to, from.rows.length))];
  const [q, p] = [from.rows.length, end.frame.rows.length];
  const overlap = columnsOf(product(transposed(start.frame.W), end.frame.W)); // p columns of length q
  const { U, values, V } = svd(overlap);
  const left = completed(U, values, q); // q×q
  const [one, other] = [turned(start.frame, left), turned(end.frame, V)];
  const angles = values.map((value) => Math.acos(Math.min(1, value)));
  const shapes = [
    product(product(transposed(left), start.shape), left),
    extended(product(product(transposed(V), end.shape), V), start.shape, left),
  ];
  const back = transposed(left);

  function at(t) {
    const [stay, move] = [angles, angles].map((all, place) =>
      Array.from({ length: q }, (_, axis) => {
        const angle = axis < p ? all[axis] : 0;
        const sine = Math.sin(angle);
        if (sine < 1e-7) return place ? 0 : 1;
        return place ? Math.sin(t * angle) / sine : Math.sin((1 - t) * angle) / sine;
      }),
    );
    const shape = shapes[0].map((row, i) => row.map((value, j) => (1 - t) * value + t * shapes[1][i][j]));
    const M = product(shape, back);
    const blend = (a, b, axis) => a.map((value, place) => stay[axis] * value + move[axis] * (b ? b[place] : 0));
    const W = one.W.map((row, feature) =>
      row.map((value, axis) => stay[axis] * value + move[axis] * (other.W[feature][axis] ?? 0)),
    );
    const rows = one.rows.map((values, axis) => blend(values, other.rows[axis], axis));
    return turned({ W, rows }, M);
  }
  return { at, angles: [...angles].sort((a, b) => b - a) };
}

// The polar decomposition of W alone.
export function shapeOf(W) {
  return polar({ W, rows: W[0].map(() => []) });
}

// The matrix T that gives W·T the shape that another W has.
export function restoring(W, other) {
  const { inverse, shape } = shapeOf(other);
  return product(product(inverse, shapeOf(product(W, inverse)).inverse), shape);
}

// Whether the columns of W are orthonormal.
export function isOrthonormal(W) {
  return W[0].every((_, i) =>
    W[0].every((__, j) => Math.abs(sum(W, (row) => row[i] * row[j]) - Number(i === j)) < 1e-3),
  );
}

function leading({ W, rows }, most) {
  return { W: W.map((row) => row.slice(0, most)), rows: rows.slice(0, most) };
}

// The coordinates of rows in other axes.
function mixed(rows, M) {
  return M[0].map((_, to) => {
    const found = new Float64Array(rows[0].length);
    rows.forEach((values, from) => {
      const weight = M[from][to];
      if (weight === 0) return;
      for (let row = 0; row < found.length; row += 1) found[row] += weight * values[row];
    });
    return found;
  });
}

// The shape of a frame with p axes, extended to q axes: those that are left keep their own lengths.
function extended(shape, start, left) {
  const lengths = product(product(transposed(left), start), left);
  const p = shape.length;
  return lengths.map((row, i) => row.map((value, j) => (i < p && j < p ? shape[i][j] : i === j ? value : 0)));
}

// The matrix with orthonormal columns that are those of U, and others in place of missing ones.
function completed(U, values, size) {
  const columns = U.filter((_, place) => values[place] > TINY);
  const found = U.map((column, place) => (values[place] > TINY ? column : null));
  while (found.length < size) found.push(null);
  for (let place = 0; place < size; place += 1) {
    if (found[place]) continue;
    const residuals = Array.from({ length: size }, (_, axis) => {
      const unit = Float64Array.from({ length: size }, (__, at) => Number(at === axis));
      for (const column of columns) {
        const overlap = column[axis];
        for (let at = 0; at < size; at += 1) unit[at] -= overlap * column[at];
      }
      return [Math.hypot(...unit), unit];
    });
    const [length, unit] = residuals.reduce((best, each) => (each[0] > best[0] ? each : best));
    found[place] = unit.map((value) => value / length);
    columns.push(found[place]);
  }
  return transposed(found);
}

// The singular value decomposition M V = U diag(values) of a matrix that is given as columns, by Jacobi rotations of
// pairs of columns (Hestenes). U is a list of columns, V a matrix. The columns of U for zero values are arbitrary.
export function svd(given) {
  const columns = given.map((column) => Float64Array.from(column));
  const V = given.map((_, i) => given.map((__, j) => Number(i === j)));
  for (let sweep = 0, largest = 1; sweep < SWEEPS && largest > 1e-15; sweep += 1) {
    largest = 0;
    for (let i = 0; i < columns.length; i += 1)
      for (let j = 0; j < i; j += 1) {
        const [a, b, c] = [dot(columns[i], columns[i]), dot(columns[j], columns[j]), dot(columns[i], columns[j])];
        if (c === 0 || a * b === 0) continue;
        largest = Math.max(largest, Math.abs(c) / Math.sqrt(a * b));
        const zeta = (b - a) / (2 * c);
        const tangent = Math.sign(zeta || 1) / (Math.abs(zeta) + Math.hypot(1, zeta));
        const cosine = 1 / Math.hypot(1, tangent);
        rotate(columns[i], columns[j], cosine, cosine * tangent);
        for (const row of V) {
          const [x, y] = [row[i], row[j]];
          [row[i], row[j]] = [cosine * x - cosine * tangent * y, cosine * tangent * x + cosine * y];
        }
      }
  }
  const values = columns.map((column) => Math.sqrt(dot(column, column)));
  return { U: columns.map((column, at) => column.map((value) => value / (values[at] || 1))), values, V };
}

function rotate(x, y, cosine, sine) {
  for (let at = 0; at < x.length; at += 1) {
    const [a, b] = [x[at], y[at]];
    x[at] = cosine * a - sine * b;
    y[at] = sine * a + cosine * b;
  }
}

function columnsOf(M) {
  return Array.from(M[0], (_, column) => Float64Array.from(M, (row) => row[column]));
}

function transposed(M) {
  return Array.from(M[0], (_, column) => Array.from(M, (row) => row[column]));
}

function product(A, B) {
  return A.map((row) => Array.from(B[0], (_, column) => sum(row, (value, at) => value * B[at][column])));
}

function dot(a, b) {
  let total = 0;
  for (let at = 0; at < a.length; at += 1) total += a[at] * b[at];
  return total;
}

function sum(values, of) {
  return values.reduce((total, value, at) => total + of(value, at), 0);
}
