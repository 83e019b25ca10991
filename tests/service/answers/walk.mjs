// The walk of test_clients.py with the TypeScript client: node walk.mjs URL TABLE prints what was found as JSON.
import { openAsBlob } from "node:fs";
import { basename } from "node:path";
import { ApiError, Client, JobFailed } from "../../../ism_client/typescript/client.js";

const [url, table] = process.argv.slice(2);
const client = new Client(url);
const facts = {};
const listed = async (items) => {
  const found = [];
  for await (const item of items) found.push(item);
  return found;
};
const thrown = (call, kind) =>
  call().then(
    () => Promise.reject(new Error("not refused")),
    (error) => (error instanceof kind ? error : Promise.reject(error)),
  );
const round = (x) => Math.round(1e6 * x) / 1e6;
const JOB = { paradigm: "supervised", target: "class", kernel: "linear", q: 1, folds: 2 };

const dataset = await client.upload(await openAsBlob(table), basename(table));
facts.columns = dataset.columns.map(({ name, kind }) => [name, kind]);
facts.described = (await client.dataset(dataset.id)).rows;
facts.names = (await listed(client.datasets())).some(({ name }) => name === basename(table));

const key = crypto.randomUUID();
const spec = { ...JOB, dataset: dataset.id, label: key };
const job = await client.submit(spec, key);
facts.once = (await client.submit(spec, key)).id === job.id;
facts.state = (await client.wait(job.id)).state;
const events = await listed(client.events(job.id));
facts.events = [...new Set(events.map(({ event }) => event))].sort();
facts.resumed = (await listed(client.events(job.id, events.at(-2).id))).at(-1).event;
facts["by label"] = (await listed(client.jobs({ label: key, state: "succeeded" }))).map(({ id }) => id === job.id);

const result = await client.result(job.id);
facts.features = result.features;
facts.W = result.W.map((row) => row.map(round));
facts.stop = result.stop;
facts.kernel = result.kernel;
facts.written = JSON.parse(new TextDecoder().decode(await client.download(job.id, "W?format=json"))).rows.map(
  ([, ...row]) => row.map(round),
);
const report = new TextDecoder().decode(await client.download(job.id, "report.html"));
facts.report = report.toLowerCase().startsWith("<!doctype html>");
facts.ended = [];
for (const action of ["cancel", "retry", "finish"])
  facts.ended.push((await thrown(() => client.act(job.id, action), ApiError)).status);

const wrong = await thrown(
  () => client.submit({ dataset: dataset.id, paradigm: "supervised", target: "clas" }),
  ApiError,
);
facts.wrong = [wrong.status, Object.fromEntries(wrong.problem.errors.map(({ field, message }) => [field, message]))];
facts.missing = (await thrown(() => client.job("nothing"), ApiError)).status;

const posted = await client.submitBatch({ jobs: { ...JOB, dataset: dataset.id, q: [1, 2] }, label: "both" });
const batch = await client.waitBatch(posted.id);
facts.batch = [true, batch.states, batch.label, batch.jobs.map(({ settings }) => settings.q)];
facts.retried = (await client.actOnBatch(batch.id, "retry")).states;
facts.listed = (await listed(client.batches())).some(({ id }) => id === batch.id);

const rows = Array.from({ length: 30 }, (_, i) => `${i},${"pq"[i % 2]},${i % 2}`);
const copies = await client.upload(new Blob([["x,class,y", ...rows].join("\n")]), "copies");
const failing = await client.submit({
  dataset: copies.id,
  paradigm: "supervised",
  target: "class",
  kernel: "linear",
  q: 1,
});
facts.failed = (await thrown(() => client.wait(failing.id), JobFailed)).message;
facts.again = ["queued", "running"].includes((await client.act(failing.id, "retry")).state);
await thrown(() => client.wait(failing.id), JobFailed);
await client.delete("jobs", failing.id);
await client.delete("batches", batch.id);
await client.delete("jobs", job.id);
facts.deleted = (await thrown(() => client.job(job.id), ApiError)).status;
await client.delete("datasets", copies.id);
await client.delete("datasets", dataset.id);
console.log(JSON.stringify(facts));
