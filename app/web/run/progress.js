// The progress of a queued or running job: its stage, the time left, and charts that grow with every iteration.

import { follow } from "../api.js";
import { h, replace } from "../dom.js";
import { counted, number, percent } from "../format.js";
import { settingLine, STAGES } from "../jobs/labels.js";
import { lineChart } from "./chart.js";
import { livePicture } from "./picture.js";

const STAGE_OF_EVENT = { trial: "choosing", resample: "stability", validation: "validation" };
const COUNTED_STAGES = new Set(["stability", "validation"]); // the number of their parts is known in advance

// Shows the job until it has ended. Resolves to the job then, or to null if the user has left the view.
export async function watch(container, job, { signal, onState }) {
  const steps = stepList();
  const picture = livePicture(signal);
  const objective = lineChart("Objective", "The job maximizes the objective, so higher is better.");
  const eigenvalues = lineChart(
    "Eigenvalues",
    "The eigenvalue of each new axis measures its contribution to the objective. The lines become flat when the job converges.",
  );
  const stage = h("p", { class: "stage" });
  const time = h("p", { class: "hint" });
  const choice = h("p", { hidden: true });
  const bar = h("progress", { max: 1, "aria-label": "Progress" });
  const disconnected = h(
    "p",
    { class: "notice", role: "status", hidden: true },
    "The connection is lost. The job continues, and the page is trying to reconnect …",
  );
  const facts = h("dl", { class: "facts" });
  container.append(
    h("div", { class: "card" }, stage, bar, time, choice, disconnected, facts),
    picture.element,
    h("div", { class: "grid" }, objective.element, eigenvalues.element),
  );
  let current = job;
  let isScheduled = false;

  function draw() {
    isScheduled = false;
    if (signal.aborted) return;
    const step = steps.last;
    stage.textContent = stageText(current, step);
    time.textContent = timeText(step ?? current.progress ?? {});
    showShare(bar, current, step);
    facts.hidden = !step;
    replace(facts, factsOf(step));
    objective.show(steps.iterations, [steps.objectives]);
    eigenvalues.show(steps.iterations, steps.eigenvalues);
  }

  function scheduleDraw() {
    if (!isScheduled) requestAnimationFrame(draw);
    isScheduled = true;
  }

  draw();
  const onConnection = (isConnected) => {
    disconnected.hidden = isConnected;
  };
  for await (const { kind, data } of follow(job.id, { signal, onConnection })) {
    if (kind === "step") steps.add(data);
    if (kind === "picture") {
      picture.show(data);
      current = { ...current, progress: { stage: firstStage(current.spec), ...current.progress } };
    }
    if (STAGE_OF_EVENT[kind])
      current = { ...current, progress: { ...current.progress, ...data, stage: STAGE_OF_EVENT[kind] } };
    if (kind === "choice") {
      choice.textContent = `Chosen settings: ${settingLine(data.spec)}. ${data.reason}`;
      choice.hidden = false;
    }
    if (kind === "state") {
      current = data;
      onState(current);
    }
    scheduleDraw();
  }
  return signal.aborted ? null : current;
}

// The stage of a job that has shown a picture and reported nothing else so far.
function firstStage({ kernel, q, scale }) {
  return [kernel, q, scale].includes("auto") ? "choosing" : "search";
}

// The steps of the ascent, or of the search as long as there is no ascent, as lists for the charts.
function stepList() {
  let stage = null;
  let steps = [];
  return {
    add(step) {
      if (stage === "ascent" && step.stage !== "ascent") return;
      if (step.stage !== stage) steps = [];
      stage = step.stage;
      // A job that is resumed after a crash repeats some iterations.
      if (stage === "ascent") steps = steps.filter(({ iteration }) => iteration < step.iteration);
      steps.push(step);
    },
    get last() {
      return steps.at(-1);
    },
    get iterations() {
      return steps.map((step, index) => (stage === "ascent" ? step.iteration : index));
    },
    get objectives() {
      return steps.map((step) => step.objective);
    },
    get eigenvalues() {
      const axes = steps.at(-1)?.eigenvalues?.length ?? 0;
      return Array.from({ length: axes }, (_, axis) => steps.map((step) => step.eigenvalues?.[axis]));
    },
  };
}

function factsOf(step) {
  const rotation = "The largest angle by which the last iteration has turned the axes. It is near 0° at convergence.";
  const fact = (name, value, title) => h("div", { title }, h("dt", {}, name), h("dd", {}, value ?? "–"));
  return [
    fact("Iteration", step?.iteration),
    fact("Objective", number(step?.objective, 5)),
    fact("Rotation of the axes", degrees(step?.angle), rotation),
  ];
}

function stageText({ state, position, progress }, step) {
  if (state === "queued") {
    const ahead = position ? `${counted(position, "job is", "jobs are")} ahead of it` : "it is the next job";
    return `Waiting for a worker; ${ahead}`;
  }
  const { stage, fold, folds } = progress ?? {};
  if (stage === "choosing" && !step) return `${STAGES.choosing}${trialsText(progress)}`;
  if (stage === "stability" && folds) return `${STAGES.stability}: ${fold ?? 0} of ${counted(folds, "resample")}`;
  if (stage === "validation" && folds) return `${STAGES.validation}: ${fold ?? 0} of ${counted(folds, "fold")}`;
  return STAGES[step?.stage ?? stage] ?? "Starting";
}

function trialsText({ tried, best, trying }) {
  const [count, score] = [tried ?? trying?.tried, best ?? trying?.best];
  if (count === undefined) return "";
  return `: ${counted(count, "fit")} so far${Number.isFinite(score) && score > 0 ? `, best score ${score.toFixed(3)}` : ""}`;
}

function showShare(bar, { progress }, step) {
  const { stage, fold, folds } = progress ?? {};
  const { elapsed_seconds: elapsed, remaining_seconds: remaining } = step ?? progress ?? {};
  if (COUNTED_STAGES.has(stage) && folds) bar.value = (fold ?? 0) / folds;
  else if (Number.isFinite(remaining)) bar.value = elapsed / (elapsed + remaining || 1);
  else bar.removeAttribute("value");
}

function timeText({ elapsed_seconds: elapsed, remaining_seconds: remaining }) {
  if (elapsed === undefined) return "";
  const spent = `${duration(elapsed)} elapsed`;
  if (remaining === null || remaining === undefined) return spent;
  const share = percent(elapsed / (elapsed + remaining || 1));
  return `${share} done, ${spent}, ${remaining < 1 ? "" : "about "}${duration(remaining)} left`;
}

function duration(seconds) {
  if (seconds < 1) return "less than 1 s";
  if (seconds < 90) return `${Math.round(seconds)} s`;
  if (seconds < 5400) return `${Math.round(seconds / 60)} min`;
  return `${(seconds / 3600).toFixed(1)} h`;
}

function degrees(radians) {
  return radians === null || radians === undefined ? null : `${number((180 * radians) / Math.PI, 5)}°`;
}
