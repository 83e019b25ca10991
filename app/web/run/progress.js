// The progress of a job that waits or runs: where it stands, the traces as they grow, the time left.

import { follow } from "../api.js";
import { h, replace } from "../dom.js";
import { settingLine } from "../jobs/labels.js";
import { figure, lineChart } from "./chart.js";
import { traces } from "./steps.js";

const STAGES = {
  preparing: "Reading the table",
  choosing: "Choosing settings",
  search: "Looking for a good start",
  ascent: "Climbing",
  sparsity: "Leaving out features",
  stability: "Solving again on halves of the rows",
  validation: "Checking on rows it has not seen",
  measuring: "Measuring the result",
};

const STAGE_OF = { trial: "choosing", resample: "stability", validation: "validation" }; // of events
const FOLDED = new Set(["stability", "validation"]); // nobody knows how many settings a choice will try

// Shows the job until it has ended, and gives it as it is then; null where the view was left before.
export async function watch(container, job, { signal, onState }) {
  const steps = traces();
  const objective = lineChart("Objective", "How well the axes do what they are for; higher is better.");
  const eigenvalues = lineChart(
    "Eigenvalues",
    "How much each new axis contributes. When they stand still, it is done.",
  );
  const where = h("p", { class: "where" });
  const left = h("p", { class: "hint" });
  const chosen = h("p", { hidden: true });
  const bar = h("progress", { max: 1, "aria-label": "Progress" });
  const lost = h(
    "p",
    { class: "notice", role: "status", hidden: true },
    "The connection is lost. The job goes on; trying to reach it again …",
  );
  const facts = h("dl", { class: "facts" });
  container.append(
    h("div", { class: "card" }, where, bar, left, chosen, lost, facts),
    h("div", { class: "grid" }, objective.element, eigenvalues.element),
  );
  let now = job;
  let waiting = false;

  function draw() {
    waiting = false;
    if (signal.aborted) return;
    const step = steps.last;
    where.textContent = stageOf(now, step);
    left.textContent = timeLeft(step ?? now.progress ?? {});
    share(bar, now, step);
    replace(
      facts,
      [
        ["Iteration", step?.iteration],
        ["Objective", figure(step?.objective)],
        ["Turned by", angle(step)],
      ].map(([name, value]) => h("div", {}, h("dt", {}, name), h("dd", {}, value ?? "–"))),
    );
    objective.show(steps.iterations, [steps.objectives]);
    eigenvalues.show(steps.iterations, steps.eigenvalues);
  }

  function soon() {
    if (!waiting) requestAnimationFrame(draw);
    waiting = true;
  }

  draw();
  for await (const { kind, data } of follow(job.id, {
    signal,
    onConnection: (here) => {
      lost.hidden = here;
    },
  })) {
    if (kind === "step") steps.add(data);
    if (STAGE_OF[kind]) now = { ...now, progress: { ...now.progress, ...data, stage: STAGE_OF[kind] } };
    if (kind === "choice") {
      chosen.textContent = `Chosen: ${settingLine(data.spec)}. ${data.reason}`;
      chosen.hidden = false;
    }
    if (kind === "state") {
      now = data;
      onState(now);
    }
    soon();
  }
  return signal.aborted ? null : now;
}

function stageOf(job, step) {
  if (job.state === "queued") {
    const before = job.position
      ? `${job.position} ${job.position === 1 ? "job is" : "jobs are"} before it`
      : "it is next";
    return `Waiting for a worker: ${before}`;
  }
  const { stage, fold, folds } = job.progress ?? {};
  if (stage === "choosing" && !step) return `${STAGES.choosing}${tried(job.progress)}`;
  if (stage === "stability") return `${STAGES.stability}: ${fold ?? 0} of ${folds}`;
  if (stage === "validation") return `${STAGES.validation}: ${fold ?? 0} of ${folds} folds`;
  return STAGES[step?.stage ?? stage] ?? "Beginning";
}

function tried({ tried: count, best, trying }) {
  const [many, score] = [count ?? trying?.tried, best ?? trying?.best];
  if (many === undefined) return "";
  return `: ${many} tried${Number.isFinite(score) && score > 0 ? `, the best scores ${score.toFixed(3)}` : ""}`;
}

function share(bar, job, step) {
  const seconds = step?.remaining_seconds;
  const { stage, fold, folds } = job.progress ?? {};
  if (FOLDED.has(stage) && folds) bar.value = (fold ?? 0) / folds;
  else if (seconds !== null && seconds !== undefined)
    bar.value = step.elapsed_seconds / (step.elapsed_seconds + seconds);
  else bar.removeAttribute("value");
}

function timeLeft({ elapsed_seconds: elapsed, remaining_seconds: remaining }) {
  if (elapsed === undefined) return "";
  const so = `${duration(elapsed)} so far`;
  if (remaining === null || remaining === undefined) return so;
  return `${so}, ${remaining < 1 ? "" : "about "}${duration(remaining)} left`;
}

export function duration(seconds) {
  if (seconds < 1) return "under a second";
  if (seconds < 90) return `${Math.round(seconds)} s`;
  if (seconds < 5400) return `${Math.round(seconds / 60)} min`;
  return `${(seconds / 3600).toFixed(1)} h`;
}

function angle(step) {
  return step?.angle === null || step?.angle === undefined ? null : `${figure((180 * step.angle) / Math.PI)}°`;
}
