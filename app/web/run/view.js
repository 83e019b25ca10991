// A job: its progress while it waits or runs, and what it found once it has succeeded.

import { get, post } from "../api.js";
import { announce, entitle, h, replace } from "../dom.js";
import { jobHead } from "./head.js";
import { watch } from "./progress.js";

const OPEN = new Set(["queued", "running"]);

export async function show(container, id, { signal }) {
  let job = await get(`/jobs/${id}`, { signal });
  const dataset = await get(`/datasets/${job.dataset}`, { signal }).catch((error) =>
    error.status === 404 ? null : Promise.reject(error),
  );
  const head = jobHead(job, dataset, () => post(`/jobs/${id}/cancel`, {}, { signal }));
  entitle(job.label ?? dataset?.name ?? id);
  const body = h("div", { class: "job" });
  container.append(head.element, body);
  if (OPEN.has(job.state)) {
    job = await watch(body, job, { signal, onState: head.show });
    if (job === null) return;
    head.show(job);
    announce(`The job has ${job.state === "cancelled" ? "been cancelled" : job.state}.`);
    replace(body);
  }
  if (job.state === "succeeded") {
    const result = await import("../result/view.js");
    if (!signal.aborted) await result.show(body, job, { signal });
  } else {
    body.append(ending(job));
  }
}

function ending(job) {
  const again = h("a", { class: "button primary", href: `#/data/${job.dataset}/${job.id}` }, "Change and run again");
  if (job.state === "cancelled")
    return h("div", { class: "card" }, h("h2", {}, "The job was cancelled"), h("p", {}, "It has no result."), again);
  const errors = job.error?.errors ?? [];
  return h(
    "div",
    { class: "card problem", role: "alert" },
    h("h2", {}, job.error?.title ?? "The job failed"),
    h("p", {}, job.error?.detail),
    errors.length
      ? h(
          "ul",
          {},
          errors.map((error) => h("li", {}, `${error.field}: ${error.message}`)),
        )
      : null,
    again,
  );
}
