// One click that runs the same table with every kernel and compares what they find.

import { get, post } from "../api.js";
import { h } from "../dom.js";

export function runAllKernels(job, primary = false) {
  const problem = h("p", { class: "error", role: "alert", hidden: true });
  const button = h(
    "button",
    {
      type: "button",
      class: primary ? "primary" : null,
      onclick: async () => {
        button.disabled = true;
        problem.hidden = true;
        try {
          const batch = await post("/jobs", await grid(job));
          location.hash = `#/compare/${batch.jobs.map(({ id }) => id).join(",")}`;
        } catch (error) {
          problem.textContent = error.errors?.map(({ message }) => message).join(" ") || error.detail || error.message;
          problem.hidden = false;
          button.disabled = false;
        }
      },
    },
    "Run all kernels",
  );
  return h("div", {}, button, problem);
}

// The spec with all kernels; random features and paths are not for each of them.
async function grid({ spec }) {
  const { items } = await get("/kernels");
  return {
    ...spec,
    kernel: items.filter(({ name, form }) => name !== "auto" && form !== "combination").map(({ name }) => name),
    approximation: null,
    starts: spec.starts === "path" ? null : spec.starts,
    delta: spec.starts === "path" ? null : spec.delta, // which goes with the path
  };
}
