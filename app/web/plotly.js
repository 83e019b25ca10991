// Plotly as the page uses it: loaded when the first plot is drawn, in the page's colors, with users' text as text.

import { address } from "./api.js";
import { h } from "./dom.js";

const LONGEST = 28; // characters of a name in a plot
let loading = null;

export function plotly() {
  loading ??= new Promise((resolve, reject) => {
    const script = h("script", { src: address("/page/plotly.min.js") });
    script.addEventListener("load", () => resolve(window.Plotly));
    script.addEventListener("error", () => {
      loading = null;
      script.remove();
      reject(new Error("The plots could not be loaded; is the service running?"));
    });
    document.head.append(script);
  });
  return loading;
}

// Plotly reads a few tags in labels, so what users have named is escaped. Long names lose their middle.
export function label(name, longest = LONGEST) {
  const line = String(name).replace(/\s+/g, " ").trim() || "(empty)";
  const letters = [...line];
  const tail = Math.floor(longest / 3);
  const short =
    letters.length <= longest ? line : [...letters.slice(0, longest - tail - 1), "…", ...letters.slice(-tail)].join("");
  return short.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}

// The colors of the stylesheet, light or dark as the page is now.
export function theme() {
  const style = getComputedStyle(document.documentElement);
  const value = (name) => style.getPropertyValue(`--${name}`).trim();
  const series = Array.from({ length: 8 }, (_, place) => value(`series-${place + 1}`));
  return {
    ink: value("ink"),
    soft: value("soft"),
    line: value("line"),
    surface: value("surface"),
    accent: value("accent"),
    series,
  };
}

export const dark = window.matchMedia("(prefers-color-scheme: dark)");

export function layoutOf(colors, layout = {}) {
  const { xaxis, yaxis, ...others } = layout;
  const axis = {
    gridcolor: colors.line,
    zerolinecolor: colors.line,
    linecolor: colors.line,
    tickcolor: colors.line,
    fixedrange: true,
  };
  return {
    font: { family: "system-ui, sans-serif", size: 13, color: colors.ink },
    paper_bgcolor: colors.surface,
    plot_bgcolor: colors.surface,
    margin: { l: 56, r: 12, t: 8, b: 44 },
    showlegend: false,
    hovermode: "closest",
    hoverlabel: { bgcolor: colors.surface, bordercolor: colors.line, font: { color: colors.ink } },
    xaxis: { ...axis, ...xaxis },
    yaxis: { ...axis, ...yaxis },
    ...others,
  };
}

export const CONFIG = { displayModeBar: false, responsive: true, doubleClick: "reset" };
