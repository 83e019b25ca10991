// What a job found: the picture and the features that made it first, then everything about it.

import { h } from "../dom.js";
import { runAllKernels } from "../compare/all_kernels.js";
import { choiceSection } from "./choice.js";
import { explorer } from "./explorer/explorer.js";
import { groupsSection } from "./groups.js";
import { headline } from "./headline.js";
import { iterationsSection } from "./charts/convergence.js";
import { importanceFigure, loadingsSection } from "./charts/loadings.js";
import { metricsSection } from "./metrics.js";
import { imageShape, loadingPictures, meanPictures } from "./charts/pixel_images.js";
import { sourceOf } from "./data.js";
import { takeawaySection } from "./downloads.js";
import { transformSection } from "./new_rows.js";

export async function show(container, job, { signal = new AbortController().signal } = {}) {
  const source = await sourceOf(job, { signal });
  if (signal.aborted) return;
  const picture = explorer(source, signal);
  const shape = imageShape(source);
  const later = () => h("div", { class: "later" });
  const [groups, means, iterations] = [later(), later(), later()];
  container.classList.add("result");
  container.append(
    headline(source),
    h("div", { class: "first" }, picture.element, importanceFigure(source, signal)),
    shape ? loadingPictures(source, shape, signal) : "",
    loadingsSection(source, signal),
    groups,
    means,
    metricsSection(source),
    choiceSection(source),
    iterations,
    transformSection(source, picture, signal),
    comparison(source),
    takeawaySection(source),
  );
  await Promise.all([
    fill(
      groups,
      async () => {
        const found = await groupsSection(source);
        if (found && shape) means.replaceWith(meanPictures(source, found, shape, signal) ?? "");
        return found?.section;
      },
      signal,
    ),
    fill(iterations, () => iterationsSection(source, signal), signal),
  ]);
}

// A part that needs more of the API: it says so where that fails, and the rest stays.
async function fill(place, build, signal) {
  try {
    place.replaceWith((await build()) ?? "");
  } catch (error) {
    if (!signal.aborted) place.replaceWith(h("p", { class: "error", role: "alert" }, error.detail ?? error.message));
  }
}

function comparison({ job, result, dataset }) {
  return dataset
    ? h(
        "section",
        {},
        h("h2", {}, "Would another kernel do better?"),
        h(
          "p",
          { class: "hint" },
          "Runs the same table with the same settings once for each kernel, and shows the results side by side.",
        ),
        runAllKernels({ spec: result.choice?.spec ?? job.spec }),
      )
    : "";
}
