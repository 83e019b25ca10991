// Draws the arrows of a scatter plot as SVG. If they can be dragged, each has a handle for pointer and keyboard.

import { replace, svg } from "../../dom.js";
import { placeArrows } from "./arrows.js";

const HEAD = 7; // pixels
const KEY_STEP = 12; // pixels that an arrow key moves a tip

// {element, show(arrows, view, size, points)}; `arrows` is {entries, vectors, canDrag(index)} or null.
export function arrowLayer(onDrag) {
  const element = svg("svg", { class: "arrows", "aria-hidden": onDrag ? null : "true" });
  let drawn = null; // {origin, arrows, factor, pixels of a unit}, as they are shown
  let dragged = null; // {index, factor}: the scale of the arrows stays while one of them is dragged

  function show(arrows, view, size, points) {
    if (!arrows) {
      drawn = null;
      return replace(element);
    }
    const placed = placeArrows(arrows.entries, arrows.vectors, view, size, dragged ? null : points, dragged?.factor);
    const pixels = { x: size.width / (view.x[1] - view.x[0]), y: size.height / (view.y[1] - view.y[0]) };
    drawn = { ...placed, pixels };
    const focused = element.querySelector(":focus")?.dataset.index;
    replace(
      element,
      placed.arrows.map((arrow) => shape(placed.origin, arrow, arrows.canDrag?.(arrow.index))),
    );
    if (focused !== undefined) element.querySelector(`[data-index="${focused}"]`)?.focus({ preventScroll: true });
    return undefined;
  }

  function shape(origin, { index, entry, tip, label }, isDraggable) {
    const angle = Math.atan2(tip.y - origin.y, tip.x - origin.x);
    const corner = (turn) => `${tip.x + HEAD * Math.cos(angle + turn)},${tip.y + HEAD * Math.sin(angle + turn)}`;
    const handle = () =>
      svg("circle", {
        class: "handle",
        cx: tip.x,
        cy: tip.y,
        r: 9,
        tabindex: 0,
        role: "slider",
        "data-index": index,
        "aria-label": `Arrow of ${entry.name}`,
        "aria-valuenow": Math.round(Math.hypot(tip.x - origin.x, tip.y - origin.y)),
        "aria-valuetext": "Move it with the arrow keys",
      });
    return svg(
      "g",
      {},
      svg("line", { x1: origin.x, y1: origin.y, x2: tip.x, y2: tip.y }),
      svg("polygon", { points: `${tip.x},${tip.y} ${corner(2.75)} ${corner(-2.75)}` }),
      isDraggable ? handle() : null,
      svg("text", { x: label.x, y: label.y + 4, "text-anchor": "middle" }, label.text),
    );
  }

  // The components of an arrow whose tip is at a position in the frame.
  function vectorAt(left, top) {
    const { origin, factor, pixels } = drawn;
    return [(left - origin.x) / (pixels.x * factor), (origin.y - top) / (pixels.y * factor)];
  }

  element.addEventListener("pointerdown", (event) => {
    const index = event.target.dataset?.index;
    if (index === undefined) return;
    event.preventDefault();
    event.stopPropagation();
    element.setPointerCapture(event.pointerId);
    dragged = { index: Number(index), factor: drawn.factor };
  });
  element.addEventListener("pointermove", (event) => {
    if (!dragged) return;
    event.stopPropagation();
    const box = element.getBoundingClientRect();
    onDrag(dragged.index, vectorAt(event.clientX - box.left, event.clientY - box.top), false);
  });
  for (const name of ["pointerup", "pointercancel"])
    element.addEventListener(name, () => {
      if (!dragged) return;
      const { index } = dragged;
      dragged = null;
      onDrag(index, null, true);
    });
  element.addEventListener("keydown", (event) => {
    const index = event.target.dataset?.index;
    const step = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[event.key];
    if (index === undefined || !step) return;
    event.preventDefault();
    const { tip } = drawn.arrows.find((arrow) => arrow.index === Number(index));
    onDrag(Number(index), vectorAt(tip.x + KEY_STEP * step[0], tip.y + KEY_STEP * step[1]), false);
    onDrag(Number(index), null, true);
  });
  return { element, show };
}
