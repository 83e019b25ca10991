// Loads Plotly when the first plot is drawn, and gives plots the page's colors and escaped labels.

import { absoluteUrl } from "./api.js";
import { h } from "./dom.js";
import { shortened } from "./format.js";

const MAX_LABEL_LENGTH = 28; // characters
let loading = null;

export function loadPlotly() {
  loading ??= new Promise((resolve, reject) => {
    const script = h("script", { src: absoluteUrl("/page/vendor/plotly.min.js") });
    script.addEventListener("load", () => resolve(window.Plotly));
    script.addEventListener("error", () => {
      loading = null;
      script.remove();
      reject(new Error("The plot library could not be loaded. Check that the service is running."));
    });
    document.head.append(script);
  });
  return loading;
}

// A user's text as a label of a plot. Plotly interprets a few tags in labels, so they are escaped.
export function plotLabel(text, maxLength = MAX_LABEL_LENGTH) {
  return shortened(text, maxLength).replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}

export function plotLayout(colors, layout = {}) {
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

export const PLOT_CONFIG = { displayModeBar: false, responsive: true, doubleClick: "reset" };
