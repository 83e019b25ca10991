// A card with a plot: drawn when it comes into view, again when the colors change, and given away as SVG and PNG.

import { save } from "../../api.js";
import { h } from "../../dom.js";
import { CONFIG, dark, layoutOf, plotly, theme } from "../../plotly.js";

const EXPORT_WIDTH = 900;

// `draw(colors)` gives {data, layout}; `name` is that of the files; `described` is what those hear who do not see it.
export function figure({ title, note, name, height, draw, described, table, heading = "h3" }, signal) {
  const plot = h("div", {
    class: "plot",
    role: "img",
    "aria-label": described ?? title,
    style: { height: `${height}px` },
  });
  const element = h(
    "figure",
    { class: "card figure" },
    h("figcaption", { class: "row spread" }, h(heading, {}, title), exportButtons(name, title, picture)),
    note ? h("p", { class: "hint" }, note) : null,
    plot,
    table ?? null,
  );
  let drawn = false;

  async function show() {
    const Plotly = await plotly();
    if (signal.aborted) return;
    const { data, layout } = draw(theme());
    await Plotly.react(plot, data, layoutOf(theme(), layout), CONFIG);
    drawn = true;
    plot.dataset.drawn = "yes";
  }

  async function picture() {
    const colors = theme();
    const { data, layout } = draw(colors);
    return { data, layout: layoutOf(colors, layout), height };
  }

  whenSeen(plot, show, signal);
  onTheme(() => {
    if (drawn) show();
  }, signal);
  signal.addEventListener(
    "abort",
    () => {
      if (drawn) window.Plotly.purge(plot);
    },
    { once: true },
  );
  return element;
}

export function whenSeen(element, act, signal) {
  const observer = new IntersectionObserver(
    (entries) => {
      if (!entries.some((entry) => entry.isIntersecting)) return;
      observer.disconnect();
      act();
    },
    { rootMargin: "400px" },
  );
  observer.observe(element);
  signal.addEventListener("abort", () => observer.disconnect(), { once: true });
}

export function onTheme(act, signal) {
  dark.addEventListener("change", act, { signal });
}

// Buttons that save what `picture()` gives, {data, layout, height}, as files.
export function exportButtons(name, title, picture) {
  const button = (format) =>
    h(
      "button",
      {
        type: "button",
        class: "quiet small",
        "aria-label": `${title} as ${format.toUpperCase()}`,
        onclick: () => give(format, name, picture),
      },
      format.toUpperCase(),
    );
  return h("span", { class: "exports" }, button("svg"), button("png"));
}

async function give(format, name, picture) {
  const Plotly = await plotly();
  const { data, layout, height } = await picture();
  const size = { width: EXPORT_WIDTH, height: Math.max(height, 240) };
  const address = await Plotly.toImage(
    { data, layout: { ...layout, ...size } },
    { format, ...size, scale: format === "png" ? 2 : 1 },
  );
  save(blobOf(address), `${name}.${format}`);
}

// By hand: the page may fetch from its own service only, and a data address is none.
function blobOf(address) {
  const comma = address.indexOf(",");
  const type = address.slice("data:".length, comma).split(";")[0];
  const body = address.slice(comma + 1);
  if (!address.slice(0, comma).endsWith(";base64")) return new Blob([decodeURIComponent(body)], { type });
  return new Blob([Uint8Array.from(atob(body), (letter) => letter.codePointAt(0))], { type });
}
