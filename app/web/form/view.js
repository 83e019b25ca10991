// A table that was uploaded, what is proposed for it, and the form that posts a job.

import { get, post } from "../api.js";
import { entitle, h, replace } from "../dom.js";
import { columnsTable } from "./columns.js";
import { showErrors } from "./errors.js";
import { jobForm } from "./settings.js";
import { proposal } from "./proposal.js";
import { recipe } from "./commands.js";
import { givenColumns, specOf, stateOf } from "./spec.js";

// `from` is the id of a job whose settings the form begins with.
export async function show(container, id, from, { signal }) {
  const [dataset, kernels, paradigms, job] = await Promise.all([
    get(`/datasets/${id}`, { signal }),
    get("/kernels", { signal }),
    get("/paradigms", { signal }),
    from ? get(`/jobs/${from}`, { signal }) : null,
  ]);
  const catalogue = { kernels: kernels.items, paradigms: paradigms.items };
  const state = job ? stateOf(job.spec, dataset) : proposal(dataset);
  const copy = recipe();
  const problem = h("div", { role: "alert", class: "problem card", hidden: true });
  const taken = () =>
    new Map([...givenColumns({ paradigm: state.paradigm, ...state.values })].map((name) => [name, part(state, name)]));
  const say = () => copy.show(specOf(state, dataset, catalogue));
  const columns = columnsTable(dataset, state.features, taken, say);
  let parts = "";
  const form = jobForm(state, dataset, catalogue, () => {
    say();
    const now = JSON.stringify([...taken()]);
    if (now !== parts) columns.draw(); // there may be thousands, and a key may be pressed many times
    parts = now;
  });
  const run = h("button", { class: "primary large" }, "Run");

  async function submit(event) {
    event.preventDefault();
    run.disabled = true;
    problem.hidden = true;
    try {
      const job = await post("/jobs", specOf(state, dataset, catalogue), { signal });
      location.hash = `#/jobs/${job.id}`;
    } catch (error) {
      if (signal.aborted) return;
      const rest = showErrors(error, [...form.fields(), columns]);
      replace(
        problem,
        h("h2", {}, error.title ?? "This did not work"),
        h(
          "ul",
          { class: "plain" },
          rest.map((line) => h("li", {}, line)),
        ),
      );
      problem.hidden = false;
    } finally {
      run.disabled = false;
    }
  }

  entitle(dataset.name);
  const size = `${dataset.rows.toLocaleString("en")} rows, ${dataset.columns.length.toLocaleString("en")} columns`;
  container.append(
    h(
      "header",
      { class: "page-head" },
      h("p", { class: "hint" }, h("a", { href: "#/" }, "Another table")),
      h("h1", {}, dataset.name),
      h("p", { class: "lead" }, size),
      dataset.notes.length
        ? h(
            "ul",
            { class: "plain hint" },
            dataset.notes.map((note) => h("li", {}, note)),
          )
        : null,
    ),
    h(
      "div",
      { class: "two" },
      h(
        "form",
        { class: "card settings", noValidate: true, onsubmit: submit, "aria-label": "The job" },
        form.element,
        h("div", { class: "run-bar" }, problem, run),
      ),
      h("div", { class: "aside" }, columns.element, copy.element),
    ),
  );
}

function part(state, name) {
  return (
    ["target", "scores", "clustering", "reference"].find((field) => [state.values[field]].flat().includes(name)) ?? ""
  );
}
