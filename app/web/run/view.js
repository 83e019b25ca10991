// The view of a job: its progress while it is queued or running, then its result.

import { get, post } from "../api.js";
import { announce, h, replace, setTitle } from "../dom.js";
import { isActive } from "../jobs/labels.js";
import { jobHead } from "./head.js";
import { watch } from "./progress.js";

export async function show(container, id, { signal }) {
  const resultView = import("../result/view.js"); // loads while the job is asked for
  resultView.catch(() => {}); // the error is shown below, when the result is there
  let job = await get(`/jobs/${id}`, { signal });
  const dataset = await get(`/datasets/${job.dataset}`, { signal }).catch((error) =>
    error.status === 404 ? null : Promise.reject(error),
  );
  const head = jobHead(job, dataset, {
    cancel: () => post(`/jobs/${id}/cancel`, {}, { signal }),
    finish: () => post(`/jobs/${id}/finish`, {}, { signal }),
  });
  setTitle([dataset?.name ?? id, job.label].filter(Boolean).join(" · "));
  const body = h("div", { class: "job" });
  container.append(head.element, body);
  if (isActive(job)) {
    job = await watch(body, job, { signal, onState: head.show });
    if (job === null) return;
    head.show(job);
    announce(`The job has ${job.state === "cancelled" ? "been cancelled" : job.state}.`);
    replace(body);
  }
  if (job.state === "succeeded") {
    const result = await resultView;
    if (!signal.aborted) await result.show(body, job, { signal });
  } else {
    body.append(noResult(job));
  }
}

function noResult({ id, dataset, state, error }) {
  const again = h("a", { class: "button primary", href: `#/data/${dataset}/${id}` }, "Change and run again");
  if (state === "cancelled")
    return h("div", { class: "card" }, h("h2", {}, "The job was cancelled"), h("p", {}, "It has no result."), again);
  const errors = (error?.errors ?? []).map(({ field, message }) => h("li", {}, `${field}: ${message}`));
  return h(
    "div",
    { class: "card problem", role: "alert" },
    h("h2", {}, error?.title ?? "The job failed"),
    h("p", {}, error?.detail),
    errors.length ? h("ul", {}, errors) : null,
    again,
  );
}
