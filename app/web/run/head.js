// The head of a job's page: its name, its state, its settings in a line, and what can be done with it.

import { copyButton } from "../copy.js";
import { h, replace } from "../dom.js";
import { settingsLine, STATES } from "../jobs/labels.js";

export function jobHead(job, dataset, cancel) {
  const state = h("span", { class: "badge" });
  const actions = h("div", { class: "row" });
  const problem = h("p", { class: "error", role: "alert", hidden: true });
  const name = dataset?.name ?? "a table that was deleted";
  const stop = h(
    "button",
    {
      type: "button",
      onclick: async () => {
        stop.disabled = true;
        try {
          await cancel();
        } catch (error) {
          problem.textContent = error.detail ?? error.message;
          problem.hidden = false;
        }
      },
    },
    "Cancel",
  );

  function show(now) {
    state.className = `badge ${now.state}`;
    state.textContent = STATES[now.state];
    const open = now.state === "queued" || now.state === "running";
    replace(
      actions,
      open ? stop : null,
      dataset ? h("a", { class: "button", href: `#/data/${job.dataset}/${job.id}` }, "Change and run again") : null,
      copyButton(() => location.href, "Copy link"),
    );
  }

  show(job);
  const element = h(
    "header",
    { class: "page-head" },
    h("div", { class: "row spread" }, h("h1", {}, job.label ?? name, " ", state), actions),
    h("p", { class: "lead" }, job.label ? `${name} · ${settingsLine(job.spec)}` : settingsLine(job.spec)),
    problem,
  );
  return { element, show };
}
