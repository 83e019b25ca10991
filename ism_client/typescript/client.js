// The client of an ISM service for TypeScript and JavaScript, in browsers and Node.js 20 or newer. It needs no build:
// the types in the comments are those of types.d.ts, which is made from the OpenAPI document.
//
//   const client = new Client("http://127.0.0.1:8000");
//   const dataset = await client.upload(await openAsBlob("wine.csv"), "wine.csv");
//   const job = await client.submit({ dataset: dataset.id, paradigm: "supervised", target: "class" });
//   for await (const event of client.events(job.id)) console.log(event.event);
//   console.log((await client.result(job.id)).importance);

/** @import * as Api from "./types.d.ts" */

const BUSY = new Set([429, 502, 503, 504]); // answers after which the request is sent again
const LONG_POLL_SECONDS = 30;
const LONGEST_DELAY = 60; // seconds; if the service asks for more, the error goes to the caller
const ENDED = new Set(["succeeded", "failed", "cancelled"]);

/** The service refused a request: its problem document (RFC 9457) and HTTP status. */
export class ApiError extends Error {
  /** @param {number} status @param {Partial<Api.ProblemView>} problem */
  constructor(status, problem) {
    super(problem.detail ?? problem.title ?? `The service answered with HTTP status ${status}.`);
    this.name = "ApiError";
    this.status = status;
    this.problem = problem;
  }
}

/** A job ended without a result. */
export class JobFailed extends Error {
  /** @param {Api.JobView} job */
  constructor(job) {
    super(job.error?.detail ?? `Job ${job.id} was cancelled.`);
    this.name = "JobFailed";
    this.job = job;
  }
}

/** A service at a URL. Requests are repeated if the connection breaks or the service is busy; all are idempotent. */
export class Client {
  /** @param {string} url @param {{ apiKey?: string, retries?: number }} [options] */
  constructor(url, { apiKey, retries = 4 } = {}) {
    this.url = url.replace(/\/+$/, "");
    this.retries = retries;
    /** @type {Record<string, string>} */
    this.headers = apiKey ? { Authorization: `Bearer ${apiKey}` } : {};
  }

  /** @param {Blob} file @param {string} name @returns {Promise<Api.DatasetView>} */
  upload(file, name) {
    const body = new FormData();
    body.append("file", file, name);
    return this.#json("/datasets", { method: "POST", body });
  }

  /** @param {Api.TableReference} reference where a table is, whose rows stay there @returns {Promise<Api.DatasetView>} */
  uploadUri = (reference) => this.#post("/datasets", reference);

  /** @param {string} id @returns {Promise<Api.DatasetView>} */
  dataset = (id) => this.#json(path("datasets", id));

  /** @returns {AsyncGenerator<Api.DatasetItem>} */
  datasets = () => this.#items("/datasets");

  /** @param {Api.PostedJob} spec @param {string} [key] the Idempotency-Key @returns {Promise<Api.JobView>} */
  submit = (spec, key) => this.#post("/jobs", spec, key);

  /** @param {Api.PostedJobs} jobs @param {string} [key] the Idempotency-Key @returns {Promise<Api.BatchView>} */
  submitBatch = (jobs, key) => this.#post("/batches", jobs, key);

  /** @param {string} id @returns {Promise<Api.JobView>} */
  job = (id) => this.#json(path("jobs", id));

  /** @param {Record<string, string>} [filters] such as { state: "queued,running" } @returns {AsyncGenerator<Api.JobView>} */
  jobs = (filters) => this.#items("/jobs", filters);

  /** @param {string} id @returns {Promise<Api.BatchView>} */
  batch = (id) => this.#json(path("batches", id));

  /** @returns {AsyncGenerator<Api.BatchItem>} */
  batches = () => this.#items("/batches");

  /** Wait for a job. Throws JobFailed unless it succeeds. @param {string} id @returns {Promise<Api.JobView>} */
  async wait(id) {
    for (;;) {
      /** @type {Api.JobView} */
      const job = await this.#json(`${path("jobs", id)}?wait=${LONG_POLL_SECONDS}`);
      if (job.state === "succeeded") return job;
      if (ENDED.has(job.state)) throw new JobFailed(job);
    }
  }

  /** Wait until all jobs of a batch have ended. @param {string} id @returns {Promise<Api.BatchView>} */
  async waitBatch(id) {
    for (;;) {
      const batch = await this.batch(id);
      const open = batch.jobs.find((job) => !ENDED.has(job.state));
      if (!open) return batch;
      await this.#json(`${path("jobs", open.id)}?wait=${LONG_POLL_SECONDS}`);
    }
  }

  /**
   * The events of a job until its end. A broken connection resumes after the last event.
   * @param {string} id @param {string} [last] the id of the last event seen @returns {AsyncGenerator<Api.JobEvent>}
   */
  async *events(id, last = "") {
    for (;;) {
      const headers = { Accept: "text/event-stream", ...(last && { "Last-Event-ID": last }) };
      const { body } = await this.#request(`${path("jobs", id)}/events`, { headers });
      try {
        for await (const event of messages(/** @type {ReadableStream<Uint8Array>} */ (body))) {
          last = event.id;
          yield event;
          if (event.event === "state" && ENDED.has(event.data.state)) return;
        }
      } catch (error) {
        if (!(error instanceof TypeError)) throw error; // fetch throws it if the connection breaks
      }
      await seconds(0.5);
    }
  }

  /** @param {string} id @returns {Promise<Api.ResultView>} */
  result = (id) => this.#json(`${path("jobs", id)}/result`);

  /** A table, model, plot or report, such as "W?format=csv". @param {string} id @param {string} what */
  download = (id, what) => this.#request(`${path("jobs", id)}/${what}`).then((answer) => answer.arrayBuffer());

  /** @param {string} id @param {"cancel" | "finish" | "retry"} action @returns {Promise<Api.JobView>} */
  act = (id, action) => this.#json(path("jobs", id, action), { method: "POST" });

  /** @param {string} id @param {"cancel" | "retry"} action @returns {Promise<Api.BatchView>} */
  actOnBatch = (id, action) => this.#json(path("batches", id, action), { method: "POST" });

  /** @param {"datasets" | "jobs" | "batches"} kind @param {string} id */
  async delete(kind, id) {
    await this.#request(path(kind, id), { method: "DELETE" });
  }

  /** @param {string} where @param {unknown} body @param {string} [key] */
  #post(where, body, key = crypto.randomUUID()) {
    const headers = { "Content-Type": "application/json", "Idempotency-Key": key };
    return this.#json(where, { method: "POST", body: JSON.stringify(body), headers });
  }

  /** @param {string} where @param {Record<string, string>} [filters] @returns {AsyncGenerator<any>} */
  async *#items(where, filters = {}) {
    for (let cursor = ""; ; ) {
      const page = await this.#json(`${where}?${new URLSearchParams({ ...filters, ...(cursor && { cursor }) })}`);
      yield* page.items;
      if (!page.next) return;
      cursor = page.next;
    }
  }

  /** @param {string} where @param {RequestInit} [request] @returns {Promise<any>} */
  #json = async (where, request) => (await this.#request(where, request)).json();

  /** @param {string} where @param {RequestInit} [request] @returns {Promise<Response>} */
  async #request(where, request = {}) {
    for (let tries = 0; ; tries++) {
      let delay = Math.min(5, 0.1 * 2 ** tries);
      try {
        const answer = await fetch(this.url + where, { ...request, headers: { ...this.headers, ...request.headers } });
        if (answer.ok) return answer;
        delay = Math.max(delay, Number(answer.headers.get("Retry-After")) || 0);
        if (!BUSY.has(answer.status) || tries >= this.retries || delay > LONGEST_DELAY)
          throw new ApiError(answer.status, await answer.json().catch(() => ({})));
        await answer.body?.cancel();
      } catch (error) {
        if (error instanceof ApiError || tries >= this.retries) throw error;
      }
      await seconds(delay);
    }
  }
}

/** @param {ReadableStream<Uint8Array>} body @returns {AsyncGenerator<Api.JobEvent>} */
async function* messages(body) {
  const decoder = new TextDecoder();
  let text = "";
  for await (const chunk of /** @type {AsyncIterable<Uint8Array>} */ (/** @type {unknown} */ (body))) {
    const blocks = (text + decoder.decode(chunk, { stream: true })).split(/\r?\n\r?\n/);
    text = blocks.pop() ?? "";
    for (const block of blocks) {
      const fields = Object.fromEntries(block.split(/\r?\n/).map((line) => line.split(/: ?(.*)/s, 2)));
      if (fields.data) yield/** @type {any} */ ({ id: fields.id, event: fields.event, data: JSON.parse(fields.data) });
    }
  }
}

/** @param {string[]} parts */
const path = (...parts) => parts.map((part) => `/${encodeURIComponent(part)}`).join("");

/** @param {number} delay */
const seconds = (delay) => new Promise((resolve) => setTimeout(resolve, 1000 * delay));
