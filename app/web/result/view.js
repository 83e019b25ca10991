// The view of a result: the scatter plot and the important features first, then all details.

import { runAllKernels } from "../compare/all_kernels.js";
import { h, messageOf } from "../dom.js";
import { loadPlotly } from "../plotly.js";
import { convergenceSection } from "./charts/convergence.js";
import { importanceFigure, loadingsSection } from "./charts/loadings.js";
import { imageShape, loadingImages, meanImages } from "./charts/pixel_images.js";
import { choiceSection } from "./choice.js";
import { loadResult } from "./data.js";
import { downloadsSection } from "./downloads.js";
import { explorer } from "./explorer/explorer.js";
import { groupsSection } from "./groups.js";
import { headline } from "./headline.js";
import { metricsSection } from "./metrics.js";
import { newRowsSection } from "./new_rows.js";

export async function show(container, job, { signal }) {
  loadPlotly().catch(() => {}); // at the same time as the result; a plot reports the error
  const source = await loadResult(job, { signal });
  if (signal.aborted) return;
  const plot = explorer(source, signal);
  const shape = imageShape(source);
  const [groups, means, convergence] = [h("div"), h("div"), h("div")]; // replaced when their data are loaded
  container.classList.add("result");
  container.append(
    headline(source),
    h("div", { class: "overview" }, plot.element, importanceFigure(source, signal)),
    plot.linked ?? "",
    shape ? loadingImages(source, shape, signal) : "",
    loadingsSection(source, signal),
    groups,
    means,
    metricsSection(source),
    choiceSection(source),
    convergence,
    newRowsSection(source, plot, signal),
    kernelsSection(source),
    downloadsSection(source),
  );
  const buildGroups = async () => {
    const found = await groupsSection(source, plot.selectGroup);
    if (found && shape) means.replaceWith(meanImages(source, found, shape, signal) ?? "");
    return found?.section;
  };
  await plot.drawn; // first the picture, whatever the size of the table
  await Promise.all([
    fill(groups, buildGroups, signal),
    fill(convergence, () => convergenceSection(source, signal), signal),
  ]);
}

// Replaces a placeholder by a section that needs another request. If the request fails, the other sections stay.
async function fill(placeholder, build, signal) {
  try {
    placeholder.replaceWith((await build()) ?? "");
  } catch (error) {
    if (!signal.aborted) placeholder.replaceWith(h("p", { class: "error", role: "alert" }, messageOf(error)));
  }
}

function kernelsSection({ job, result, dataset }) {
  if (!dataset) return "";
  return h(
    "section",
    {},
    h("h2", {}, "Compare kernels"),
    h(
      "p",
      { class: "hint" },
      "Run this job once with every kernel and otherwise the same settings, and compare the results.",
    ),
    runAllKernels(result.choice?.spec ?? job.spec),
  );
}
