// The head of a job's view: its name, state and settings, and buttons to cancel, change, report and share it.

import { download } from "../api.js";
import { copyButton, errorLine, h, replace } from "../dom.js";
import { DELETED_TABLE, isActive, requestLine, STATES } from "../jobs/labels.js";

// `cancel` and `finish` request that the job ends, without and with a result.
export function jobHead(job, dataset, { cancel, finish }) {
  const badge = h("span", { class: "badge" });
  const actions = h("div", { class: "row" });
  const problem = errorLine();
  const name = dataset?.name ?? DELETED_TABLE;
  const button = (label, title, request) => {
    const onclick = async () => {
      element.disabled = true;
      try {
        await request();
      } catch (error) {
        problem.show(error);
      }
    };
    const element = h("button", { type: "button", title, onclick }, label);
    return element;
  };
  const saveReport = () => download(`/jobs/${job.id}/report.html`, `report-${job.id}.html`).catch(problem.show);
  const title = "One HTML file with the whole result, which needs no network.";
  const report = h("button", { type: "button", title, onclick: saveReport }, "Download report");
  const finishButton = button("Finish now", "End the search and keep the best result so far.", finish);
  const cancelButton = button("Cancel", "End the job without a result.", cancel);
  const edit = h("a", { class: "button", href: `#/data/${job.dataset}/${job.id}` }, "Change and run again");
  const copyLink = copyButton(() => location.href, "Copy link");

  function show(newJob) {
    badge.className = `badge ${newJob.state}`;
    badge.textContent = STATES[newJob.state];
    const isDone = newJob.state === "succeeded";
    const ends = isActive(newJob) ? [finishButton, cancelButton] : null;
    replace(actions, ends, isDone ? report : null, dataset ? edit : null, copyLink);
  }

  show(job);
  const settings = requestLine(job.spec);
  const element = h(
    "header",
    { class: "page-head" },
    h("div", { class: "row spread" }, h("h1", {}, name, " ", badge), actions),
    h("p", { class: "lead" }, job.label ? `${job.label} · ${settings}` : settings),
    problem.element,
  );
  return { element, show };
}
