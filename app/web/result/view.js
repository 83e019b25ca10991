// What a job found.

import { h } from "../dom.js";

export async function show(container, job) {
  container.append(h("h1", {}, job.id));
}
