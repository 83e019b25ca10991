// The list of jobs: their states, links and actions, and checkboxes to compare some of them.

import { get, post, remove } from "../api.js";
import { copyButton, errorLine, h, replace, setTitle } from "../dom.js";
import { DELETED_TABLE, isActive, mainMetric, requestLine, STAGES, STATES } from "./labels.js";

const REFRESH_INTERVAL = 1_500; // milliseconds while jobs are active; four times as long otherwise
const PAGE_SIZE = 50; // jobs
const MAX_JOBS = 1_000; // that the API lists at once
const HEADS = ["Compare", "Job", "State", "Result", "Created", "Actions"];

export async function show(container, { signal }) {
  const chosen = new Set();
  const tableNames = new Map();
  const body = h("tbody");
  const empty = h("p", { class: "lead", hidden: true });
  const problem = errorLine();
  let limit = PAGE_SIZE;
  let drawn = "";
  setTitle("Jobs");

  const showMore = () => {
    limit += PAGE_SIZE;
    return refresh();
  };
  const openComparison = () => {
    location.hash = `#/compare/${[...chosen].join(",")}`;
  };
  const more = h("button", { type: "button", hidden: true, onclick: showMore }, "Show more");
  const compare = h("button", { type: "button", disabled: true, onclick: openComparison }, "Compare");
  const filter = h(
    "select",
    { "aria-label": "Filter by state", onchange: () => refresh() },
    h("option", { value: "" }, "All jobs"),
    Object.entries(STATES).map(([value, text]) => h("option", { value }, text)),
  );

  // Resolves to whether a job is active.
  async function refresh() {
    const query = filter.value ? `&state=${filter.value}` : "";
    const page = await get(`/jobs?limit=${Math.min(limit, MAX_JOBS)}${query}`, { signal });
    await loadTableNames(page.items);
    more.hidden = page.next === null || limit >= MAX_JOBS;
    empty.hidden = page.items.length > 0;
    const noJobs = ["There are no jobs yet. ", h("a", { href: "#/" }, "Upload a table"), " to start one."];
    replace(empty, filter.value ? "No job is in this state." : noJobs);
    const content = JSON.stringify(page.items);
    if (content !== drawn) replace(body, page.items.map(row)); // redrawing without need would move the keyboard focus
    drawn = content;
    return page.items.some(isActive);
  }

  async function loadTableNames(jobs) {
    if (jobs.every((job) => tableNames.has(job.dataset))) return;
    const { items } = await get("/datasets?limit=1000", { signal });
    for (const dataset of items) tableNames.set(dataset.id, dataset.name);
    for (const job of jobs) if (!tableNames.has(job.dataset)) tableNames.set(job.dataset, DELETED_TABLE);
  }

  function row(job) {
    const name = tableNames.get(job.dataset);
    const settings = [job.label, requestLine(job.spec)].filter(Boolean).join(" · ");
    const choose = () => {
      chosen[box.checked ? "add" : "delete"](job.id);
      compare.disabled = chosen.size < 2;
      compare.textContent = chosen.size ? `Compare ${chosen.size}` : "Compare";
    };
    const box = h("input", {
      type: "checkbox",
      checked: chosen.has(job.id),
      disabled: job.state !== "succeeded",
      "aria-label": `Compare ${name}, ${settings}`,
      onchange: choose,
    });
    const link = new URL(`#/jobs/${job.id}`, location.href).href;
    return h(
      "tr",
      { "data-job": job.id },
      h("td", {}, box),
      h("td", {}, h("a", { href: `#/jobs/${job.id}` }, name), h("span", { class: "hint block" }, settings)),
      h(
        "td",
        {},
        h("span", { class: `badge ${job.state}` }, STATES[job.state]),
        job.error ? h("span", { class: "hint block" }, job.error.title) : null,
      ),
      h("td", { class: "metric" }, mainMetric(job) ?? progressOf(job)),
      h("td", { class: "created" }, h("time", { dateTime: job.created }, dateTime(job.created))),
      h("td", { class: "actions" }, copyButton(link, "Copy link"), endButton(job)),
    );
  }

  function endButton(job) {
    const cancel = () => post(`/jobs/${job.id}/cancel`, {}, { signal });
    const end = isActive(job) ? cancel : () => remove(`/jobs/${job.id}`);
    const onclick = async () => {
      try {
        await end();
        chosen.delete(job.id);
        problem.hide();
        await refresh();
      } catch (error) {
        problem.show(error);
      }
    };
    return h("button", { type: "button", class: "quiet", onclick }, isActive(job) ? "Cancel" : "Delete");
  }

  container.append(
    h(
      "header",
      { class: "page-head row spread" },
      h("h1", {}, "Jobs"),
      h("div", { class: "row" }, h("span", {}, filter), compare),
    ),
    problem.element,
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
            HEADS.map((text) => h("th", { scope: "col" }, text)),
          ),
        ),
        body,
      ),
      empty,
      more,
    ),
  );
  await refresh();
  keepRefreshing(refresh, signal);
}

// Refreshes while the page is visible, also if no job is active: other clients may add jobs.
async function keepRefreshing(refresh, signal) {
  let hasActive = true;
  while (!signal.aborted) {
    await new Promise((resolve) => setTimeout(resolve, hasActive ? REFRESH_INTERVAL : 4 * REFRESH_INTERVAL));
    if (signal.aborted || document.hidden) continue;
    hasActive = await refresh().catch(() => true); // the next round tries again
  }
}

function progressOf({ state, progress }) {
  if (state !== "running" || !progress) return "–";
  const stage = STAGES[progress.stage] ?? progress.stage;
  return progress.stage === "ascent" ? `${stage}, iteration ${progress.iteration}` : stage;
}

function dateTime(text) {
  return new Date(text).toLocaleString("en-GB", { dateStyle: "medium", timeStyle: "short" });
}
