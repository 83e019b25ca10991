// What the colors mean: a button for each class that hides it, or the ends of a scale.

import { h, replace } from "../../dom.js";
import { theme } from "../../plotly.js";
import { scaleColors } from "./colors.js";

const POINTS = {
  circle: null,
  square: "0 0,100% 0,100% 100%,0 100%",
  diamond: "50% 0,100% 50%,50% 100%,0 50%",
  "triangle-up": "50% 0,100% 100%,0 100%",
};

export function legend(onToggle) {
  const element = h("div", { class: "legend" });

  function show(title, coloring, shown, extra) {
    const colors = theme();
    const marks = coloring.marks(colors);
    replace(
      element,
      h("span", { class: "legend-title" }, title),
      coloring.kind === "scale" ? scale(coloring, colors) : classes(coloring, marks, shown),
      extra
        ? h(
            "span",
            { class: "key" },
            swatch({ color: colors.ink, shape: "diamond" }),
            `new rows (${extra.toLocaleString("en")})`,
          )
        : null,
    );
  }

  function classes({ names, counts }, marks, shown) {
    return names.map((name, place) => {
      const button = h(
        "button",
        {
          type: "button",
          class: "key",
          "aria-pressed": String(Boolean(shown[place])),
          title: "Show or hide",
          onclick: () => {
            shown[place] = shown[place] ? 0 : 1;
            button.setAttribute("aria-pressed", String(Boolean(shown[place])));
            onToggle();
          },
        },
        swatch(marks[place]),
        h("span", {}, name),
        h("span", { class: "count" }, counts[place].toLocaleString("en")),
      );
      return button;
    });
  }

  return { element, show };
}

function scale({ ends }, colors) {
  const stops = scaleColors(colors).map(([share, color]) => `${color} ${100 * share}%`);
  return h(
    "span",
    { class: "key" },
    ends[0],
    h("span", { class: "ramp", style: { background: `linear-gradient(to right, ${stops.join(", ")})` } }),
    ends[1],
  );
}

export function swatch({ color, shape }) {
  const points = POINTS[shape];
  return h("span", {
    class: "swatch",
    "aria-hidden": "true",
    style: { background: color, clipPath: points ? `polygon(${points})` : "circle()" },
  });
}
