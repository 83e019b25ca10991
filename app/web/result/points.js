// Many points on a canvas: each mark is drawn once and then copied, so that 60,000 follow the hand.

// `view` has x and y as [low, high]; `points` x, y, of (places in marks), shown (per mark) and selected (or null).
export function drawPoints(canvas, { width, height }, points, marks, view, size = radius(points.x.length)) {
  const ratio = window.devicePixelRatio || 1;
  canvas.width = Math.round(width * ratio);
  canvas.height = Math.round(height * ratio);
  const pen = canvas.getContext("2d");
  const stamps = marks.map((mark) => stamp(mark, size * ratio, points.x.length > 3000));
  const { x, y, of, shown, selected } = points;
  const scaleX = canvas.width / (view.x[1] - view.x[0]);
  const scaleY = canvas.height / (view.y[1] - view.y[0]);
  const half = stamps.length ? stamps[0].width / 2 : 0;
  const inside = (left, top) => left > -2 * half && top > -2 * half && left < canvas.width && top < canvas.height;
  const n = x.length;
  const stride = strideFor(n);
  for (const wanted of selected ? [0, 1] : [1]) { // what is selected lies on top
    pen.globalAlpha = wanted ? 1 : 0.2;
    for (let step = 0, at = 0; step < n; step += 1, at = (at + stride) % n) {
      if ((selected ? selected[at] : 1) !== wanted || (shown && !shown[of[at]])) continue;
      const left = (x[at] - view.x[0]) * scaleX - half;
      const top = canvas.height - (y[at] - view.y[0]) * scaleY - half;
      if (inside(left, top)) pen.drawImage(stamps[of[at]], left, top);
    }
  }
}

// The nearest point that is shown, within some pixels, or -1.
export function nearest(points, view, { width, height }, across, down, within = 14) {
  const { x, y, of, shown } = points;
  const scaleX = width / (view.x[1] - view.x[0]);
  const scaleY = height / (view.y[1] - view.y[0]);
  let best = -1;
  let least = within * within;
  for (let at = 0; at < x.length; at += 1) {
    const right = (x[at] - view.x[0]) * scaleX - across;
    const below = height - (y[at] - view.y[0]) * scaleY - down;
    const distance = right * right + below * below;
    if (distance < least && (!shown || shown[of[at]])) {
      least = distance;
      best = at;
    }
  }
  return best;
}

// Which points lie within a polygon: by how often a ray from each crosses its edges.
export function within({ x, y }, polygon) {
  const corners = polygon.x.length;
  return Uint8Array.from(x, (_, at) => {
    let odd = 0;
    for (let one = 0, other = corners - 1; one < corners; other = one, one += 1) {
      const [a, b] = [polygon.y[one], polygon.y[other]];
      if (a > y[at] !== b > y[at] && x[at] < ((polygon.x[other] - polygon.x[one]) * (y[at] - a)) / (b - a) + polygon.x[one]) odd ^= 1;
    }
    return odd;
  });
}

export function radius(n) {
  return n > 20_000 ? 1.6 : n > 4_000 ? 2.2 : n > 800 ? 3 : 4.2;
}

// The order of drawing: jumping through the rows, so that no class of a sorted table hides the others.
function strideFor(n) {
  let stride = Math.max(1, Math.floor(n * 0.618));
  while (gcd(stride, n) > 1) stride += 1;
  return stride;
}

function gcd(a, b) {
  return b ? gcd(b, a % b) : a;
}

function stamp({ colour, shape }, size, many) {
  const box = Math.ceil(2 * size + 3);
  const canvas = new OffscreenCanvas(box, box);
  const pen = canvas.getContext("2d");
  const [middle, r] = [box / 2, size];
  pen.globalAlpha = many ? 0.7 : 0.82;
  pen.fillStyle = colour;
  pen.beginPath();
  if (shape === "circle") pen.arc(middle, middle, r, 0, 2 * Math.PI);
  else outline(shape, middle, r).forEach(([a, b], place) => (place ? pen.lineTo(a, b) : pen.moveTo(a, b)));
  pen.fill();
  return canvas;
}

function outline(shape, middle, r) {
  const at = (...corners) => corners.map(([a, b]) => [middle + a * r, middle + b * r]);
  if (shape === "square") return at([-0.9, -0.9], [0.9, -0.9], [0.9, 0.9], [-0.9, 0.9]);
  if (shape === "diamond") return at([0, -1.2], [1.2, 0], [0, 1.2], [-1.2, 0]);
  return at([0, -1.2], [1.1, 0.9], [-1.1, 0.9]);
}
