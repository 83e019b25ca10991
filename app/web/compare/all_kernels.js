// A button that runs a job once with every kernel and shows the results side by side.

import { get, post } from "../api.js";
import { actionButton, h } from "../dom.js";

export function runAllKernels(spec) {
  const { button, problem } = actionButton("Run with every kernel", async () => {
    const batch = await post("/batches", await allKernels(spec));
    location.hash = `#/compare/${batch.jobs.map(({ id }) => id).join(",")}`;
  });
  return h("div", {}, button, problem);
}

// The spec with a list of all single kernels. Random features and continuation ("path") work for some kernels only.
async function allKernels(spec) {
  const { items } = await get("/kernels");
  const isPath = ["path", "interactions"].includes(spec.starts);
  return {
    ...spec,
    kernel: items.filter(({ name, form }) => name !== "auto" && form !== "combination").map(({ name }) => name),
    approximation: null,
    starts: isPath ? null : spec.starts,
    delta: isPath ? null : spec.delta, // the delta that was chosen for the path does not suit other kernels
  };
}
