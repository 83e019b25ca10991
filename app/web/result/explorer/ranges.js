// The ranges of the two axes that a scatter plot shows.

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
