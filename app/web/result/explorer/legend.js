// The legend of a scatter plot: a button for each class that shows or hides its points, or the ends of a scale.

import { h, replace } from "../../dom.js";
import { integer } from "../../format.js";
import { themeColors } from "../../theme.js";
import { scaleColors } from "./colors.js";

const OUTLINES = {
  // corners of CSS polygons
  circle: null,
  square: "0 0,100% 0,100% 100%,0 100%",
  diamond: "50% 0,100% 50%,50% 100%,0 50%",
  "triangle-up": "50% 0,100% 100%,0 100%",
};

export function legend(onToggle) {
  const element = h("div", { class: "legend" });

  // `shown` has 1 for each mark that is shown, else 0; the buttons change it.
  function show(title, coloring, shown, newRows) {
    const colors = themeColors();
    const marks = coloring.marks(colors);
    replace(
      element,
      h("span", { class: "legend-title" }, title),
      coloring.kind === "scale" ? ramp(coloring, colors) : classes(coloring, marks, shown),
      newRows
        ? h(
            "span",
            { class: "legend-item" },
            swatch({ color: colors.ink, shape: "diamond" }),
            `new rows (${integer(newRows)})`,
          )
        : null,
    );
  }

  function classes({ names, counts }, marks, shown) {
    return names.map((name, index) => {
      const button = h(
        "button",
        {
          type: "button",
          class: "legend-item",
          "aria-pressed": String(Boolean(shown[index])),
          title: "Show or hide these rows",
          onclick: () => {
            shown[index] = shown[index] ? 0 : 1;
            button.setAttribute("aria-pressed", String(Boolean(shown[index])));
            onToggle();
          },
        },
        swatch(marks[index]),
        h("span", {}, name),
        h("span", { class: "count" }, integer(counts[index])),
      );
      return button;
    });
  }

  return { element, show };
}

// The ends of a scale, with its colors between them.
export function ramp({ ends }, colors) {
  const stops = scaleColors(colors).map(([share, color]) => `${color} ${100 * share}%`);
  return h(
    "span",
    { class: "legend-item scale" },
    ends[0],
    h("span", { class: "ramp", style: { background: `linear-gradient(to right, ${stops.join(", ")})` } }),
    ends[1],
  );
}

export function swatch({ color, shape }) {
  const points = OUTLINES[shape];
  return h("span", {
    class: "swatch",
    "aria-hidden": "true",
    style: { background: color, clipPath: points ? `polygon(${points})` : "circle()" },
  });
}
