// A card with a plot. It is drawn when it comes into view and when the color scheme changes, and exports SVG and PNG.

import { save } from "../../api.js";
import { h } from "../../dom.js";
import { loadPlotly, PLOT_CONFIG, plotLayout } from "../../plotly.js";
import { onThemeChange, themeColors } from "../../theme.js";

const EXPORT_WIDTH = 900; // pixels

// `draw(colors)` returns Plotly's {data, layout}; `name` is the name of exported files, without extension; `description`
// is the text for screen readers.
export function figure({ title, note, name, height, draw, description, table, heading = "h3" }, signal) {
  const plot = h("div", {
    class: "plot",
    role: "img",
    "aria-label": description ?? title,
    style: { height: `${height}px` },
  });
  const element = h(
    "figure",
    { class: "card figure" },
    h("figcaption", { class: "row spread" }, h(heading, {}, title), exportButtons(name, title, exportFigure)),
    note ? h("p", { class: "hint" }, note) : null,
    plot,
    table ?? null,
  );
  let drawn = false;

  async function show() {
    const Plotly = await loadPlotly();
    if (signal.aborted) return;
    const { data, layout } = draw(themeColors());
    await Plotly.react(plot, data, plotLayout(themeColors(), layout), PLOT_CONFIG);
    drawn = true;
    plot.dataset.drawn = "yes";
  }

  async function exportFigure() {
    const colors = themeColors();
    const { data, layout } = draw(colors);
    return { data, layout: plotLayout(colors, layout), height };
  }

  whenVisible(plot, show, signal);
  onThemeChange(() => {
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

function whenVisible(element, show, signal) {
  const observer = new IntersectionObserver(
    (entries) => {
      if (!entries.some((entry) => entry.isIntersecting)) return;
      observer.disconnect();
      show();
    },
    { rootMargin: "400px" },
  );
  observer.observe(element);
  signal.addEventListener("abort", () => observer.disconnect(), { once: true });
}

// Buttons that save the figure that `build()` resolves to, {data, layout, height}, as a file.
export function exportButtons(name, title, build) {
  const button = (format) =>
    h(
      "button",
      {
        type: "button",
        class: "quiet small",
        "aria-label": `${title} as ${format.toUpperCase()}`,
        onclick: () => exportFile(format, name, build),
      },
      format.toUpperCase(),
    );
  return h("span", { class: "exports" }, button("svg"), button("png"));
}

async function exportFile(format, name, build) {
  const Plotly = await loadPlotly();
  const { data, layout, height } = await build();
  const size = { width: EXPORT_WIDTH, height: Math.max(height, 240) };
  const dataUrl = await Plotly.toImage(
    { data, layout: { ...layout, ...size } },
    { format, ...size, scale: format === "png" ? 2 : 1 },
  );
  save(blobOf(dataUrl), `${name}.${format}`);
}

// Not by fetch: the security policy lets the page fetch from its own service only.
function blobOf(dataUrl) {
  const comma = dataUrl.indexOf(",");
  const type = dataUrl.slice("data:".length, comma).split(";")[0];
  const body = dataUrl.slice(comma + 1);
  if (!dataUrl.slice(0, comma).endsWith(";base64")) return new Blob([decodeURIComponent(body)], { type });
  return new Blob([Uint8Array.from(atob(body), (letter) => letter.codePointAt(0))], { type });
}
