// Draws many points on a canvas. Each mark is drawn once and its pixels are copied, so that 60,000 points can be moved
// smoothly without WebGL, which many remote desktops lack. If more than 200,000 points are in view, their density is drawn.

const MAX_MARKED = 200_000; // points in the view; of more, the density is drawn
const LEAST_COVER = 0.3; // opacity of a pixel with a single point
const FADED = 0.2; // opacity of rows that are not selected

// Draws `layers` on top of each other, each {points, marks, radius}. Points have x, y, markIndex (an index into marks),
// shown (for each mark, or null) and selected (for each point, or null); if isolated, only selected points are drawn. `view` has the ranges x and y as [low, high].
// With `zeroColor`, lines below the points mark where x and y are 0.
export function drawPoints(canvas, { width, height }, layers, view, background, zeroColor = null) {
  const ratio = window.devicePixelRatio || 1;
  const size = { width: Math.max(1, Math.round(width * ratio)), height: Math.max(1, Math.round(height * ratio)) };
  if (canvas.width !== size.width || canvas.height !== size.height) Object.assign(canvas, size);
  const pen = canvas.getContext("2d");
  const image = pen.createImageData(size.width, size.height);
  const pixels = new Uint32Array(image.data.buffer).fill(packedColor(background));
  if (zeroColor) drawZeros(pixels, size, view, Math.round(ratio), packedColor(zeroColor));
  const target = { data: new Uint8Array(image.data.buffer), ...size };
  for (const layer of layers) (isCrowded(layer.points, view) ? addDensity : copyMarks)(target, layer, view, ratio);
  pen.putImageData(image, 0, 0);
}

function drawZeros(pixels, { width, height }, { x, y }, thickness, color) {
  const column = Math.round((-x[0] / (x[1] - x[0])) * width);
  const row = Math.round(height + (y[0] / (y[1] - y[0])) * height);
  for (let at = column; at < column + thickness; at += 1)
    if (at >= 0 && at < width) for (let line = 0; line < height; line += 1) pixels[line * width + at] = color;
  for (let line = row; line < row + thickness; line += 1)
    if (line >= 0 && line < height) pixels.fill(color, line * width, (line + 1) * width);
}

function copyMarks(image, { points, marks, radius: size }, view, ratio) {
  const stamps = marks.map((mark) => stamp(mark, size * ratio, points.x.length > 3000));
  const { x, y, markIndex, shown, selected, isolated } = points;
  const scaleX = image.width / (view.x[1] - view.x[0]);
  const scaleY = image.height / (view.y[1] - view.y[0]);
  const half = (stamps[0]?.box ?? 0) / 2;
  const n = x.length;
  const stride = strideFor(n);
  for (const wanted of selected && !isolated ? [0, 1] : [1]) {
    // selected points are drawn last, on top
    const opacity = wanted ? 256 : 50; // of 256
    for (let step = 0, at = 0; step < n; step += 1, at = (at + stride) % n) {
      if ((selected ? selected[at] : 1) !== wanted || (shown && !shown[markIndex[at]])) continue;
      const left = Math.round((x[at] - view.x[0]) * scaleX - half);
      const top = Math.round(image.height - (y[at] - view.y[0]) * scaleY - half);
      blend(image, stamps[markIndex[at]], left, top, opacity);
    }
  }
}

// Whether so many points are in the view that their density is drawn.
function isCrowded({ x, y }, view) {
  if (x.length <= MAX_MARKED) return false;
  let inside = 0;
  for (let at = 0; at < x.length; at += 1)
    if (x[at] > view.x[0] && x[at] < view.x[1] && y[at] > view.y[0] && y[at] < view.y[1]) inside += 1;
  return inside > MAX_MARKED;
}

// Draws how many points each pixel has, on a logarithmic scale, in the mean of their colors.
function addDensity(image, { points, marks }, view) {
  const colors = marks.map(({ color }) => channels(color));
  const { selected, isolated } = points;
  for (const wanted of selected && !isolated ? [0, 1] : [1]) {
    const sums = densityOf(image, points, colors, view, selected ? wanted : null);
    const most = Math.log1p(sums.counts.reduce((largest, count) => Math.max(largest, count), 1));
    for (let pixel = 0; pixel < sums.counts.length; pixel += 1) {
      const count = sums.counts[pixel];
      if (!count) continue;
      const cover = (wanted ? 1 : FADED) * (LEAST_COVER + ((1 - LEAST_COVER) * Math.log1p(count)) / most);
      for (let channel = 0; channel < 3; channel += 1) {
        const to = 4 * pixel + channel;
        image.data[to] += cover * (sums.channels[3 * pixel + channel] / count - image.data[to]);
      }
    }
  }
}

// The number of points of each pixel, and the sums of their colors. A point covers four pixels.
function densityOf({ width, height }, { x, y, markIndex, shown, selected }, colors, view, wanted) {
  const counts = new Uint32Array(width * height);
  const sums = new Float32Array(3 * width * height);
  const [left, bottom] = [view.x[0], view.y[0]];
  const scaleX = width / (view.x[1] - left);
  const scaleY = height / (view.y[1] - bottom);
  for (let at = 0; at < x.length; at += 1) {
    const mark = markIndex[at];
    if ((shown && !shown[mark]) || (wanted !== null && selected[at] !== wanted)) continue;
    const column = Math.floor((x[at] - left) * scaleX);
    const row = Math.floor(height - (y[at] - bottom) * scaleY);
    if (!(column >= 0 && row >= 0 && column < width - 1 && row < height - 1)) continue;
    const [red, green, blue] = colors[mark];
    const pixel = row * width + column;
    counts[pixel] += 1;
    sums[3 * pixel] += red;
    sums[3 * pixel + 1] += green;
    sums[3 * pixel + 2] += blue;
  }
  spread(counts, width, 1);
  spread(sums, width, 3);
  return { counts, channels: sums };
}

// Adds the values of each pixel to those on its right, below it, and below on its right. The last column must be empty.
function spread(values, width, size) {
  const line = size * width;
  for (let at = values.length - 1; at >= line + size; at -= 1)
    values[at] += values[at - size] + values[at - line] + values[at - line - size];
  for (let at = Math.min(line + size, values.length) - 1; at >= size; at -= 1)
    values[at] += values[at - size] + (at >= line ? values[at - line] : 0);
}

// The red, green and blue of a color such as "#0072b2" or "rgb(0, 114, 178)".
function channels(color) {
  if (color.startsWith("#")) return [1, 3, 5].map((index) => parseInt(color.slice(index, index + 2), 16));
  return color.match(/\d+/g).map(Number);
}

// Draws a mark over the image; `opacity` is of 256.
function blend({ data, width, height }, { pixels, box }, left, top, opacity) {
  const [first, last] = [Math.max(0, -left), Math.min(box, width - left)];
  for (let row = Math.max(0, -top); row < box && top + row < height; row += 1) {
    for (let column = first; column < last; column += 1) {
      const from = 4 * (row * box + column);
      const cover = (pixels[from + 3] * opacity) >> 8;
      if (!cover) continue;
      const to = 4 * ((top + row) * width + left + column);
      data[to] += ((pixels[from] - data[to]) * cover) >> 8;
      data[to + 1] += ((pixels[from + 1] - data[to + 1]) * cover) >> 8;
      data[to + 2] += ((pixels[from + 2] - data[to + 2]) * cover) >> 8;
    }
  }
}

function packedColor(color) {
  const [red, green, blue] = channels(color);
  return ((255 << 24) | (blue << 16) | (green << 8) | red) >>> 0;
}

// The index of the nearest shown point within some pixels, or -1.
export function nearestPoint(points, view, { width, height }, across, down, within = 14) {
  const { x, y } = points;
  const scaleX = width / (view.x[1] - view.x[0]);
  const scaleY = height / (view.y[1] - view.y[0]);
  let best = -1;
  let least = within * within;
  for (let at = 0; at < x.length; at += 1) {
    const right = (x[at] - view.x[0]) * scaleX - across;
    const below = height - (y[at] - view.y[0]) * scaleY - down;
    const distance = right * right + below * below;
    if (distance < least && isVisible(points, at)) {
      least = distance;
      best = at;
    }
  }
  return best;
}

function isVisible({ markIndex, shown, selected, isolated }, at) {
  return (!shown || shown[markIndex[at]]) && !(isolated && selected && !selected[at]);
}

// A mask of the visible points inside a polygon. A point is inside if a ray from it crosses an odd number of edges.
export function insidePolygon(points, polygon) {
  const { x, y } = points;
  const corners = polygon.x.length;
  return Uint8Array.from(x, (_, at) => {
    let odd = 0;
    if (!isVisible(points, at)) return 0;
    for (let one = 0, other = corners - 1; one < corners; other = one, one += 1) {
      const [a, b] = [polygon.y[one], polygon.y[other]];
      if (
        a > y[at] !== b > y[at] &&
        x[at] < ((polygon.x[other] - polygon.x[one]) * (y[at] - a)) / (b - a) + polygon.x[one]
      )
        odd ^= 1;
    }
    return odd;
  });
}

// The radius of a point in pixels, smaller if there are many.
export function radiusFor(n) {
  return n > 20_000 ? 1.6 : n > 4_000 ? 2.2 : n > 800 ? 3 : 4.2;
}

// Points are drawn in jumps of this many rows, so that no class of a sorted table hides the others.
function strideFor(n) {
  let stride = Math.max(1, Math.floor(n * 0.618));
  while (gcd(stride, n) > 1) stride += 1;
  return stride;
}

function gcd(a, b) {
  return b ? gcd(b, a % b) : a;
}

function stamp({ color, shape }, size, many) {
  const box = Math.ceil(2 * size + 3);
  const canvas = new OffscreenCanvas(box, box);
  const pen = canvas.getContext("2d", { willReadFrequently: true });
  const [middle, r] = [box / 2, size];
  pen.globalAlpha = many ? 0.7 : 0.82;
  pen.fillStyle = color;
  pen.beginPath();
  if (shape === "circle") pen.arc(middle, middle, r, 0, 2 * Math.PI);
  else for (const [a, b] of outline(shape, middle, r)) pen.lineTo(a, b); // the first begins the path
  pen.fill();
  return { box, pixels: pen.getImageData(0, 0, box, box).data };
}

function outline(shape, middle, r) {
  const at = (...corners) => corners.map(([a, b]) => [middle + a * r, middle + b * r]);
  if (shape === "square") return at([-0.9, -0.9], [0.9, -0.9], [0.9, 0.9], [-0.9, 0.9]);
  if (shape === "diamond") return at([0, -1.2], [1.2, 0], [0, 1.2], [-1.2, 0]);
  return at([0, -1.2], [1.1, 0.9], [-1.1, 0.9]);
}

// Vertical positions for a plot of a single axis: evenly spread, and the same for a row each time.
export function jitter(n) {
  const heights = new Float64Array(n);
  for (let index = 0; index < n; index += 1) heights[index] = ((index * 0.618034) % 1) - 0.5; // by the golden ratio
  return heights;
}
