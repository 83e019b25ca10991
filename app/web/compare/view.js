// Several jobs side by side: one table, small pictures of each, and the features that each relies on.

import { get } from "../api.js";
import { entitle, h, replace } from "../dom.js";
import { runAllKernels } from "./all_kernels.js";
import { multiples } from "./small_multiples.js";
import { comparisonTable, importanceTable } from "./tables.js";

const MOST = 24;
const WAIT = 20; // seconds that one look may take to answer

export async function show(container, ids, { signal = new AbortController().signal } = {}) {
  const wanted = [...new Set(ids)].slice(0, MOST);
  const jobs = new Map(
    (await Promise.all(wanted.map((id) => get(`/jobs/${id}`, { signal })))).map((job) => [job.id, job]),
  );
  const place = { table: h("div", {}), multiples: h("div", {}), features: h("div", {}) };
  const first = jobs.values().next().value;
  const dataset = await get(`/datasets/${first.dataset}`, { signal }).catch(() => null);
  entitle(`${jobs.size} jobs compared`);
  container.append(
    h(
      "header",
      { class: "page-head row spread" },
      h("div", {}, h("h1", {}, `${jobs.size} jobs compared`), dataset ? h("p", { class: "lead" }, dataset.name) : null),
      dataset ? runAllKernels(first) : null,
    ),
    place.table,
    place.multiples,
    place.features,
  );

  const results = new Map();
  async function draw(job) {
    jobs.set(job.id, job);
    if (job.state === "succeeded" && !results.has(job.id))
      results.set(job.id, await get(`/jobs/${job.id}/result`, { signal }));
    if (signal.aborted) return;
    const all = [...jobs.values()];
    replace(place.table, comparisonTable(all, results));
    replace(place.features, importanceTable(all, results));
  }

  for (const job of jobs.values()) await draw(job);
  const pictures = multiples([...jobs.values()], signal);
  place.multiples.append(pictures.element);
  await Promise.all(
    [...jobs.values()].map((job) =>
      follow(job, signal, async (now) => {
        await draw(now);
        pictures.show(now);
      }),
    ),
  );
}

// Looks at a job until it has ended, and tells each time.
async function follow(job, signal, tell) {
  let now = job;
  await tell(now);
  while (["queued", "running"].includes(now.state) && !signal.aborted) {
    now = await get(`/jobs/${job.id}?wait=${WAIT}`, { signal });
    await tell(now);
  }
}
