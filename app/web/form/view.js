// The view of an uploaded table: its columns, proposed settings, and the form that posts a job.

import { get, post } from "../api.js";
import { h, replace, setTitle } from "../dom.js";
import { counted } from "../format.js";
import { columnsTable } from "./columns.js";
import { commands } from "./commands.js";
import { costText } from "./cost.js";
import { showErrors } from "./errors.js";
import { proposal } from "./proposal.js";
import { settingsForm } from "./settings.js";
import { columnRoles, specOf, stateOf } from "./spec.js";

// If `jobId` is given, the form starts with the settings of that job.
export async function show(container, datasetId, jobId, { signal }) {
  const [dataset, kernels, paradigms, job] = await Promise.all([
    get(`/datasets/${datasetId}`, { signal }),
    get("/kernels", { signal }),
    get("/paradigms", { signal }),
    jobId ? get(`/jobs/${jobId}`, { signal }) : null,
  ]);
  const catalogue = { kernels: kernels.items, paradigms: paradigms.items };
  const state = job ? stateOf(job.spec, dataset) : proposal(dataset);
  const asCommands = commands();
  const problem = h("div", { role: "alert", class: "problem card", hidden: true });
  const roles = () => columnRoles(state, catalogue);
  const cost = h("p", { class: "hint cost" });
  const showSpec = () => {
    asCommands.show(specOf(state, dataset, catalogue));
    cost.textContent = costText(state, dataset, roles());
  };
  const columns = columnsTable(dataset, state.features, roles, showSpec);
  let drawnRoles = "";
  const form = settingsForm(state, dataset, catalogue, () => {
    showSpec();
    const newRoles = JSON.stringify([...roles()]);
    if (newRoles !== drawnRoles) columns.draw(); // not at every keystroke: a table may have thousands of columns
    drawnRoles = newRoles;
  });
  const run = h("button", { class: "primary large" }, "Run");

  async function submit(event) {
    event.preventDefault();
    run.disabled = true;
    problem.hidden = true;
    try {
      const { id } = await post("/jobs", specOf(state, dataset, catalogue), { signal });
      location.hash = `#/jobs/${id}`;
    } catch (error) {
      if (signal.aborted) return;
      const messages = showErrors(error, [...form.fields(), columns]);
      const list = messages.map((message) => h("li", {}, message));
      replace(problem, h("h2", {}, error.title ?? "The job could not be started"), h("ul", { class: "plain" }, list));
      problem.hidden = false;
    } finally {
      run.disabled = false;
    }
  }

  setTitle(dataset.name);
  const size = `${counted(dataset.rows, "row")}, ${counted(dataset.columns.length, "column")}`;
  const notes = dataset.notes.map((note) => h("li", {}, note));
  container.append(
    h(
      "header",
      { class: "page-head" },
      h("p", { class: "hint" }, h("a", { href: "#/" }, "Use another table")),
      h("h1", {}, dataset.name),
      h("p", { class: "lead" }, size),
      notes.length ? h("ul", { class: "plain hint" }, notes) : "",
    ),
    h(
      "div",
      { class: "two-columns" },
      h(
        "form",
        { class: "card settings", noValidate: true, onsubmit: submit, "aria-label": "Settings of the job" },
        form.element,
        h("div", { class: "run-bar" }, problem, h("div", { class: "row" }, run, cost)),
      ),
      h("div", {}, columns.element, asCommands.element),
    ),
  );
}
