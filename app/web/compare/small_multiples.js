// A small picture of each job's rows, side by side.

import { get } from "../api.js";
import { h, replace } from "../dom.js";
import { theme } from "../plotly.js";
import { coloring } from "../result/explorer/colors.js";
import { exportButtons, onTheme } from "../result/charts/figure.js";
import { swatch } from "../result/explorer/legend.js";
import { scatter } from "../result/explorer/scatter.js";
import { embedding, groupKind } from "../result/data.js";
import { title } from "./tables.js";

export function multiples(jobs, signal) {
  const grid = h("div", { class: "grid multiples" });
  const cards = new Map(
    jobs.map((job) => [
      job.id,
      h(
        "figure",
        { class: "card" },
        h("figcaption", {}, h("h3", {}, title(job, jobs))),
        h("p", { class: "hint" }, "not done yet"),
      ),
    ]),
  );
  replace(grid, [...cards.values()]);
  const drawn = new Set();
  const key = h("p", { class: "legend" });
  let named = null; // classes that mean the same in every picture, as clusters do not

  function label() {
    if (named)
      replace(
        key,
        named.marks(theme()).map((mark, place) => h("span", { class: "key" }, swatch(mark), named.names[place])),
      );
  }

  async function show(job) {
    const card = cards.get(job.id);
    if (drawn.has(job.id)) return;
    if (job.state !== "succeeded") {
      card.lastChild.textContent = job.error?.detail ?? job.state;
      return;
    }
    drawn.add(job.id);
    const dataset = await get(`/datasets/${job.dataset}`, { signal }).catch(() => null);
    const { axes, group } = embedding(await get(`/jobs/${job.id}/embedding?format=json`, { signal }));
    if (signal.aborted) return;
    const name = title(job, jobs);
    const picture = scatter({
      signal,
      height: 240,
      compact: true,
      described: `The rows of ${name} in their first two axes`,
    });
    const values = group ?? axes[0].map(() => 0);
    const colors = coloring(Array.from(values), !group || groupKind({ job, dataset }) !== "values");
    if (jobs.every(({ spec }) => spec.target && spec.target === job.spec.target) && colors.kind === "classes")
      named = colors;
    label();
    replace(
      card,
      h(
        "figcaption",
        { class: "row spread" },
        h("h3", {}, h("a", { href: `#/jobs/${job.id}` }, name)),
        exportButtons(`embedding-${job.id}`, name, async () => picture.picture()),
      ),
      picture.element,
    );
    const y = axes[1] ?? Float64Array.from(axes[0], (_, place) => ((place * 0.618034) % 1) - 0.5);
    await picture.show({
      points: { x: axes[0], y, of: colors.of, shown: null, selected: null },
      extra: null,
      coloring: colors,
      titles: { x: "axis 1", y: axes[1] ? "axis 2" : "" },
      arrows: () => [],
    });
  }

  onTheme(label, signal);
  return {
    element: h("section", {}, h("h2", {}, "The pictures"), key, grid),
    show: (job) =>
      show(job).catch((error) => {
        if (!signal.aborted) replace(cards.get(job.id), h("p", { class: "error" }, error.detail ?? error.message));
      }),
  };
}
