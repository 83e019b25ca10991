// A job: its progress while it runs, and what it found once it has succeeded.

import { get } from "../api.js";
import { replace } from "../dom.js";

export async function show(container, id, { signal }) {
  const job = await get(`/jobs/${id}`, { signal });
  if (job.state === "succeeded") {
    const result = await import("../result/view.js");
    await result.show(replace(container), job, { signal });
  }
}
