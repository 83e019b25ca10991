// Calls of the public HTTP API. What it refuses is thrown as a Problem with the API's own sentences.

import { ask, key } from "./key.js";
import { events } from "./events.js";
import { sendWatched } from "./sending.js";

export class Problem extends Error {
  constructor({ title, detail, status = 0, errors = [], type = "" }) {
    super(detail || title);
    Object.assign(this, { title, detail: detail || title, status, errors, type });
  }
}

// Paths are as the API gives them ("/jobs/…"); the page may live under a prefix of a proxy.
export function address(path) {
  return new URL(path.replace(/^\//, ""), document.baseURI).href;
}

export async function call(path, { method = "GET", body, headers = {}, signal, onProgress } = {}) {
  for (;;) {
    const used = key();
    const answer = await send(path, { method, body, headers: { ...headers, ...authorization() }, signal }, onProgress);
    if (answer.ok) return answer;
    const problem = await problemOf(answer);
    if (problem.status !== 401 || (used === key() && !(await ask(problem.detail)))) throw problem;
  }
}

export async function get(path, options) {
  return (await call(path, options)).json();
}

export async function post(path, body, options = {}) {
  const headers = { "Content-Type": "application/json", ...options.headers };
  return (await call(path, { ...options, method: "POST", body: JSON.stringify(body), headers })).json();
}

export async function remove(path) {
  await call(path, { method: "DELETE" });
}

// A file as the field `file` of a form: to /datasets, or to a job's transform. `onProgress(share)` hears how much is sent.
export async function upload(path, file, options = {}) {
  const form = new FormData();
  form.append("file", file, file.name);
  return (await call(path, { ...options, method: "POST", body: form })).json();
}

// Saves what is at a path as a file; through fetch, since a link could not carry the key.
export async function download(path, name) {
  save(await (await call(path)).blob(), name);
}

export function save(blob, name) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}

// The events of a job from its beginning to its end, over lost connections too: for await ({id, kind, data} of …).
// `onConnection(true | false)` tells when the connection is lost and back.
export function follow(id, { signal, onConnection } = {}) {
  const open = (last) => call(`/jobs/${id}/events`, { headers: last ? { "Last-Event-ID": last } : {}, signal });
  return events(open, { signal, onConnection });
}

function authorization() {
  return key() === null ? {} : { Authorization: `Bearer ${key()}` };
}

async function send(path, request, onProgress) {
  try {
    return await (onProgress ? sendWatched(address(path), request, onProgress) : fetch(address(path), request));
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Problem({ title: "The service does not answer", detail: "The service does not answer; is it running?" });
  }
}

async function problemOf(answer) {
  try {
    return new Problem({ ...(await answer.json()), status: answer.status });
  } catch {
    return new Problem({
      title: answer.statusText,
      detail: `The service answered ${answer.status}.`,
      status: answer.status,
    });
  }
}
