// The list of jobs: their states, a link for each, and the choice of some to compare.

import { get, post, remove } from "../api.js";
import { copyButton } from "../copy.js";
import { entitle, h, replace } from "../dom.js";
import { mainMetric, settingsLine, STATES } from "./labels.js";

const AGAIN = 1_500; // milliseconds from one look at open jobs to the next
const PAGE = 50;

export async function show(container, { signal }) {
  const chosen = new Set();
  const names = new Map();
  const body = h("tbody");
  const empty = h("p", { class: "lead", hidden: true });
  const problem = h("p", { class: "error", role: "alert", hidden: true });
  const more = h(
    "button",
    {
      type: "button",
      hidden: true,
      onclick: () => {
        wanted += PAGE;
        return refresh();
      },
    },
    "Show more",
  );
  const compare = h(
    "button",
    {
      type: "button",
      disabled: true,
      onclick: () => {
        location.hash = `#/compare/${[...chosen].join(",")}`;
      },
    },
    "Compare",
  );
  const state = h(
    "select",
    { "aria-label": "Which jobs", onchange: () => refresh() },
    h("option", { value: "" }, "All jobs"),
    Object.entries(STATES).map(([value, text]) => h("option", { value }, text)),
  );
  let wanted = PAGE;
  let drawn = "";
  entitle("Jobs");

  async function refresh() {
    const query = state.value ? `&state=${state.value}` : "";
    const page = await get(`/jobs?limit=${Math.min(wanted, 1000)}${query}`, { signal });
    await nameTables(page.items);
    more.hidden = page.next === null || wanted >= 1000;
    empty.hidden = page.items.length > 0;
    replace(
      empty,
      state.value ? "There are none." : ["No jobs yet. ", h("a", { href: "#/" }, "Begin with a table"), "."],
    );
    const now = JSON.stringify(page.items);
    if (now !== drawn) replace(body, page.items.map(row)); // else it would take the keyboard's place away
    drawn = now;
    return page.items.some((job) => job.state === "queued" || job.state === "running");
  }

  async function nameTables(jobs) {
    if (jobs.every((job) => names.has(job.dataset))) return;
    const { items } = await get("/datasets?limit=1000", { signal });
    for (const dataset of items) names.set(dataset.id, dataset.name);
    for (const job of jobs) if (!names.has(job.dataset)) names.set(job.dataset, "a table that was deleted");
  }

  function row(job) {
    const name = job.label ?? names.get(job.dataset);
    const box = h("input", {
      type: "checkbox",
      checked: chosen.has(job.id),
      disabled: job.state !== "succeeded",
      "aria-label": `Compare ${name}, ${settingsLine(job.spec)}`,
      onchange: () => {
        chosen[box.checked ? "add" : "delete"](job.id);
        compare.disabled = chosen.size < 2;
        compare.textContent = chosen.size ? `Compare ${chosen.size}` : "Compare";
      },
    });
    const metric = mainMetric(job);
    const link = new URL(`#/jobs/${job.id}`, location.href).href;
    return h(
      "tr",
      { "data-job": job.id },
      h("td", {}, box),
      h(
        "td",
        { class: "what" },
        h("a", { href: `#/jobs/${job.id}` }, name),
        h("span", { class: "hint block" }, settingsLine(job.spec)),
      ),
      h(
        "td",
        {},
        h("span", { class: `badge ${job.state}` }, STATES[job.state]),
        job.error ? h("span", { class: "hint block" }, job.error.title) : null,
      ),
      h("td", { class: "found" }, metric ? `${metric[0]} ${metric[1]}` : progress(job)),
      h("td", { class: "made" }, h("time", { dateTime: job.created }, when(job.created))),
      h("td", { class: "act" }, copyButton(link, "Copy link"), ending(job)),
    );
  }

  function ending(job) {
    const open = job.state === "queued" || job.state === "running";
    const act = open ? () => post(`/jobs/${job.id}/cancel`, {}, { signal }) : () => remove(`/jobs/${job.id}`);
    return h(
      "button",
      {
        type: "button",
        class: "quiet",
        onclick: async () => {
          try {
            await act();
            chosen.delete(job.id);
            problem.hidden = true;
            await refresh();
          } catch (error) {
            problem.textContent = error.detail ?? error.message;
            problem.hidden = false;
          }
        },
      },
      open ? "Cancel" : "Delete",
    );
  }

  container.append(
    h(
      "header",
      { class: "page-head row spread" },
      h("h1", {}, "Jobs"),
      h("div", { class: "row" }, h("span", { class: "pick" }, state), compare),
    ),
    problem,
    h(
      "div",
      { class: "card scroll", tabIndex: 0, role: "region", "aria-label": "Jobs" },
      h(
        "table",
        { class: "jobs" },
        h(
          "thead",
          {},
          h(
            "tr",
            {},
            ["Compare", "Job", "State", "Result", "Made", "Link"].map((text) => h("th", { scope: "col" }, text)),
          ),
        ),
        body,
      ),
      empty,
      more,
    ),
  );
  await refresh();
  keepLooking(refresh, signal);
}

// While the page is looked at; new jobs may come from elsewhere too.
async function keepLooking(refresh, signal) {
  let open = true;
  while (!signal.aborted) {
    await new Promise((resolve) => setTimeout(resolve, open ? AGAIN : 4 * AGAIN));
    if (signal.aborted || document.hidden) continue;
    open = await refresh().catch(() => true); // tried again after a while
  }
}

function progress(job) {
  if (job.state !== "running" || !job.progress) return "–";
  if (job.progress.stage === "choosing") return "choosing settings";
  return `${job.progress.stage}, iteration ${job.progress.iteration}`;
}

function when(time) {
  return new Date(time).toLocaleString("en-GB", { dateStyle: "medium", timeStyle: "short" });
}
