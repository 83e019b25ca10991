// A small scatter plot of each compared job.

import { get, getColumns } from "../api.js";
import { h, messageOf, replace } from "../dom.js";
import { onThemeChange, themeColors } from "../theme.js";
import { exportButtons } from "../result/charts/figure.js";
import { groupKind, leadingAxes, parseEmbedding } from "../result/data.js";
import { coloring } from "../result/explorer/colors.js";
import { swatch } from "../result/explorer/legend.js";
import { jitter } from "../result/explorer/points.js";
import { scatter } from "../result/explorer/scatter.js";
import { distinctTitle } from "./tables.js";

export function smallMultiples(jobs, signal) {
  const card = (job) =>
    h(
      "figure",
      { class: "card" },
      h("figcaption", {}, h("h3", {}, distinctTitle(job, jobs))),
      h("p", { class: "hint" }, "not finished yet"),
    );
  const cards = new Map(jobs.map((job) => [job.id, card(job)]));
  const drawn = new Set();
  const legend = h("p", { class: "legend" });
  let classes = null; // one legend for all plots, if all color by the same classes; clusters differ between jobs

  function drawLegend() {
    if (!classes) return;
    const marks = classes.marks(themeColors());
    replace(
      legend,
      marks.map((mark, index) => h("span", { class: "legend-item" }, swatch(mark), classes.names[index])),
    );
  }

  async function draw(job, result) {
    if (drawn.has(job.id)) return;
    if (job.state !== "succeeded") {
      cards.get(job.id).lastChild.textContent = job.error?.detail ?? job.state;
      return;
    }
    drawn.add(job.id);
    const dataset = await get(`/datasets/${job.dataset}`, { signal }).catch(() => null);
    const { axes, group } = parseEmbedding(await getColumns(`/jobs/${job.id}/embedding?format=npz`, { signal }));
    if (signal.aborted) return;
    const title = distinctTitle(job, jobs);
    const plot = scatter({
      signal,
      height: 240,
      compact: true,
      description: `The rows of ${title} in two of their axes`,
    });
    const values = group ?? axes[0].map(() => 0);
    const colors = coloring(Array.from(values), !group || groupKind({ job, dataset }) !== "values");
    const sameTarget = jobs.every(({ spec }) => spec.target && spec.target === job.spec.target);
    if (sameTarget && colors.kind === "classes") classes = colors;
    drawLegend();
    replace(
      cards.get(job.id),
      h(
        "figcaption",
        { class: "row spread" },
        h("h3", {}, h("a", { href: `#/jobs/${job.id}` }, title)),
        exportButtons(`embedding-${job.id}`, title, async () => plot.exportFigure()),
      ),
      plot.element,
    );
    const [x, y] = leadingAxes(result);
    await plot.show({
      points: {
        x: axes[x],
        y: axes[y] ?? jitter(axes[x].length),
        markIndex: colors.markIndex,
        shown: null,
        selected: null,
      },
      newPoints: null,
      coloring: colors,
      titles: { x: `axis ${x + 1}`, y: axes[y] ? `axis ${y + 1}` : "" },
      isEqual: axes.length > 1,
      arrows: null,
    });
  }

  onThemeChange(drawLegend, signal);
  return {
    element: h(
      "section",
      {},
      h("h2", {}, "Scatter plots"),
      legend,
      h("div", { class: "grid multiples" }, [...cards.values()]),
    ),
    // `result` is that of a job that has succeeded.
    show: (job, result) =>
      draw(job, result).catch((error) => {
        if (!signal.aborted) replace(cards.get(job.id), h("p", { class: "error" }, messageOf(error)));
      }),
  };
}
