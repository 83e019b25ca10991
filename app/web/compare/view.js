// Several jobs side by side: a table of their metrics, a scatter plot of each, and the importance of features in each.

import { get } from "../api.js";
import { h, replace, setTitle } from "../dom.js";
import { counted } from "../format.js";
import { isActive } from "../jobs/labels.js";
import { runAllKernels } from "./all_kernels.js";
import { smallMultiples } from "./small_multiples.js";
import { comparisonTable, importanceTable } from "./tables.js";

const MAX_JOBS = 24;
const LONG_POLL = 20; // seconds that the API waits for a job to change

export async function show(container, ids, { signal }) {
  const wanted = [...new Set(ids)].slice(0, MAX_JOBS);
  const loaded = await Promise.all(wanted.map((id) => get(`/jobs/${id}`, { signal })));
  const jobs = new Map(loaded.map((job) => [job.id, job]));
  const [first] = loaded;
  const dataset = await get(`/datasets/${first.dataset}`, { signal }).catch(() => null);
  const title = `Comparison of ${counted(jobs.size, "job")}`;
  const [tablePart, featuresPart] = [h("div"), h("div")];
  const plots = smallMultiples(loaded, signal);
  setTitle(title);
  container.append(
    h(
      "header",
      { class: "page-head row spread" },
      h("div", {}, h("h1", {}, title), dataset ? h("p", { class: "lead" }, dataset.name) : null),
      dataset ? runAllKernels(first.spec) : "",
    ),
    tablePart,
    h("div", {}, plots.element),
    featuresPart,
  );

  const results = new Map();
  async function update(job) {
    jobs.set(job.id, job);
    if (job.state === "succeeded" && !results.has(job.id))
      results.set(job.id, await get(`/jobs/${job.id}/result`, { signal }));
    if (signal.aborted) return;
    const all = [...jobs.values()];
    replace(tablePart, comparisonTable(all, results));
    replace(featuresPart, importanceTable(all, results));
    plots.show(job, results.get(job.id));
  }

  await Promise.all(loaded.map((job) => follow(job, signal, update)));
}

// Calls `update(job)` now and after every change, until the job has ended.
async function follow(job, signal, update) {
  let current = job;
  await update(current);
  while (isActive(current) && !signal.aborted) {
    current = await get(`/jobs/${job.id}?wait=${LONG_POLL}`, { signal });
    await update(current);
  }
}
