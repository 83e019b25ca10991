// Calls the public HTTP API. An error answer is thrown as a Problem with the title and detail of the API.

import { askForKey, key } from "./key.js";
import { events } from "./events.js";
import { readColumns } from "./npz.js";

export class Problem extends Error {
  constructor({ title, detail, status = 0, errors = [], type = "" }) {
    super(detail || title);
    Object.assign(this, { title, detail: detail || title, status, errors, type });
  }
}

// The absolute URL of a path of the API ("/jobs/…"). A proxy may serve the page under a prefix.
export function absoluteUrl(path) {
  return new URL(path.replace(/^\//, ""), document.baseURI).href;
}

async function call(path, { method = "GET", body, headers = {}, signal, onProgress } = {}) {
  for (;;) {
    const usedKey = key();
    const request = { method, body, headers: { ...headers, ...authorization() }, signal };
    const answer = await send(path, request, onProgress);
    if (answer.ok) return answer;
    const problem = await problemOf(answer);
    if (problem.status !== 401 || (usedKey === key() && !(await askForKey(problem.detail)))) throw problem;
  }
}

export async function get(path, options) {
  return (await call(path, options)).json();
}

// A table in the format NPZ as columns: see npz.js.
export async function getColumns(path, options) {
  return readColumns(await (await call(path, options)).arrayBuffer());
}

export async function post(path, body, options = {}) {
  const headers = { "Content-Type": "application/json", ...options.headers };
  return (await call(path, { ...options, method: "POST", body: JSON.stringify(body), headers })).json();
}

// Posts a job and opens its page.
export async function run(spec) {
  const { id } = await post("/jobs", spec);
  location.hash = `#/jobs/${id}`;
}

export async function remove(path) {
  await call(path, { method: "DELETE" });
}

// Like `post`, for an answer that is a table in the format NPZ.
export async function postForColumns(path, body, options = {}) {
  const headers = { "Content-Type": "application/json", ...options.headers };
  const answer = await call(path, { ...options, method: "POST", body: JSON.stringify(body), headers });
  return readColumns(await answer.arrayBuffer());
}

// Posts a file as the form field `file`. `onProgress(share)` is called with the share of the file that has been sent.
export async function upload(path, file, options = {}) {
  const form = new FormData();
  form.append("file", file, file.name);
  return (await call(path, { ...options, method: "POST", body: form })).json();
}

// Saves the answer to a GET as a file. It uses fetch because a link cannot send the API key.
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

// Yields the events of a job, {id, kind, data}, from its first to its last, and reconnects if the connection is lost.
// `onConnection(isConnected)` is called when the connection is lost and when it is back.
export function follow(id, { signal, onConnection } = {}) {
  const open = (last) => call(`/jobs/${id}/events`, { headers: last ? { "Last-Event-ID": last } : {}, signal });
  return events(open, { signal, onConnection });
}

function authorization() {
  return key() === null ? {} : { Authorization: `Bearer ${key()}` };
}

async function send(path, request, onProgress) {
  const url = absoluteUrl(path);
  try {
    return await (onProgress ? sendWithProgress(url, request, onProgress) : fetch(url, request));
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Problem({
      title: "The service does not answer",
      detail: "The page could not reach the service. Check that it is running, then try again.",
    });
  }
}

// fetch does not report how much of a body has been sent; XMLHttpRequest does.
function sendWithProgress(url, { method, body, headers, signal }, onProgress) {
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    request.open(method, url);
    for (const [name, value] of Object.entries(headers)) request.setRequestHeader(name, value);
    request.upload.onprogress = (event) => onProgress(event.total ? event.loaded / event.total : 0);
    request.upload.onload = () => onProgress(1);
    request.onload = () =>
      resolve(new Response(request.response, { status: request.status, statusText: request.statusText }));
    request.onerror = () => reject(new TypeError("The connection failed."));
    request.onabort = () => reject(new DOMException("Aborted", "AbortError"));
    signal?.addEventListener("abort", () => request.abort(), { once: true });
    request.send(body);
  });
}

async function problemOf(answer) {
  try {
    return new Problem({ ...(await answer.json()), status: answer.status });
  } catch {
    const detail = `The service answered with HTTP status ${answer.status}.`;
    return new Problem({ title: answer.statusText, detail, status: answer.status });
  }
}
