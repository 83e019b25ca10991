"""One job from its table to its outcome, the same in a worker and in `ism fit`."""

from collections.abc import Generator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Literal

import pyarrow as pa

from ism_core import Result, Step, Trial, iter_solve
from ism_core.arrays import Array
from ism_core.paradigms import Paradigm, Supervised
from ism_core.solver import ReturnCapture, relay
from ism_core.stability import Stability, resampling
from ism_jobs.data import Model, TrainingData
from ism_jobs.spec import JOB_SPEC, JobSpec, SupervisedSpec
from ism_jobs.tables import Description
from worker.dask_engine import connected
from worker.pipeline.choose import Document, choice_document, decide, trial_document
from worker.pipeline.metrics import Metrics, metrics_of, peak_memory
from worker.pipeline.prepare import Preparation, filled, published
from worker.pipeline.validate import Folds, Validation
from worker.progress import Clock, Progress, Stage
from worker.to_core import kernel_of, paradigm_of, settled_delta, settled_q, settled_scale, solver_options
from worker.trace import Row, Trace


@dataclass(frozen=True, eq=False)
class Outcome:
    """All that a job found."""

    spec: JobSpec
    training: TrainingData
    model: Model
    result: Result
    embedding: Array
    trace: Trace
    metrics: Metrics
    warnings: list[str]
    stability: Stability | None = None  # of the loadings, where that was asked for
    choice: Document | None = None  # what was chosen, and from what; None where all was given


@dataclass(frozen=True)
class Moment:
    """How far the job is, and what has just happened, if anything has: a "step" (a row of the trace), a "trial" of
    settings in another fold or way, a "choice" of them, a "resample" of the rows, or a fold of the "validation"."""

    progress: Progress
    kind: Literal["step", "trial", "choice", "resample", "validation", ""] = ""
    row: Row | None = None

    def event(self) -> Row:
        """What those who follow the job are told."""
        document = self.progress.document()
        times = {name: document[name] for name in ("elapsed_seconds", "remaining_seconds")}
        if self.kind in ("resample", "validation"):
            return {"fold": self.progress.fold, "folds": self.progress.folds, **times}
        return {**(self.row or {}), **times}


def run(
    table: pa.Table,
    spec: JobSpec,
    description: Description,
    trace: Trace | None = None,
    *,
    memory_limit: int | None = None,
    scheduler: str | None = None,
) -> Generator[Moment, None, Outcome]:
    """Yields a moment for every step; goes on from the trace of an earlier attempt if there is one.

    `memory_limit` is in bytes; `scheduler` is the address of the Dask cluster for a job that asks for one.
    """
    trace = trace or Trace()
    training = TrainingData.of(table, spec, description)
    del table
    with connected(spec.engine, scheduler) as engine:
        folds = None
        if isinstance(spec, SupervisedSpec) and spec.folds:
            folds = Folds(training, spec, partial(solver_options, engine=engine, memory_limit=memory_limit))
        clock = Clock(spec.max_iter, folds.count if folds else 0)
        yield Moment(Progress("preparing", trace.resumed_at, spec.max_iter, None, None, None, clock.elapsed, None))
        paradigm = paradigm_of(spec, training.guidance, training.guidance_kind)
        spec = yield from _decide(spec, training, paradigm, trace, clock)
        paradigm = paradigm_of(spec, training.guidance, training.guidance_kind)
        began = clock.elapsed
        codes = paradigm.codes if isinstance(paradigm, Supervised) else None
        preparation, X = Preparation.learnt(training.X, spec.missing, settled_scale(spec), codes)
        options = solver_options(spec, engine, memory_limit) | {"whitening": preparation.scaling.whitening}
        result = yield from _solve(X, spec, paradigm, trace, clock, options)
        solved = clock.elapsed - began
        stability = None
        if spec.resamples:
            stability = yield from _resample(X, spec, paradigm, result, preparation, trace.rows[-1], clock)
        del X
        validation = None
        if folds is not None and folds.count:
            validation = yield from _validate(folds, spec, trace.rows[-1], clock)
    yield Moment(_progress("measuring", spec, trace.rows[-1], clock, None))

    scaling = preparation.scaling
    result = replace(result, W=published(result, scaling))
    model = Model(training.encoding, spec.missing, preparation.fill, scaling.mean, scaling.scale, result.W)
    embedding = model.project(training.X)
    metrics = metrics_of(spec, training, result, embedding, validation)
    metrics |= {
        "iterations": trace.rows[-1]["iteration"],
        **({"seconds_choice": trace.choice["seconds"]} if trace.choice else {}),
        "seconds_solve": solved,
        "seconds_total": clock.elapsed,
        "peak_memory_bytes": peak_memory(),
    }
    dropped = description.rows - len(training.rows)
    notes = [f"{dropped} of {description.rows} rows were dropped because they miss a value."] if dropped else []
    warnings = [*notes, *result.warnings, *(folds.warnings if folds else [])]
    return Outcome(spec, training, model, result, embedding, trace, metrics, warnings, stability, trace.choice)


def _decide(
    spec: JobSpec, training: TrainingData, paradigm: Paradigm, trace: Trace, clock: Clock
) -> Generator[Moment, None, JobSpec]:
    """The spec that is solved: as it was posted, as it was decided by an earlier attempt, or as it is decided now."""
    if trace.choice is not None:
        return JOB_SPEC.validate_python(trace.choice["spec"])
    trials, before, began = ReturnCapture(decide(spec, filled(training.X, spec.missing), paradigm)), None, clock.elapsed
    for trial in trials:
        progress, now = _choosing(spec, clock, trial), (trial.scale, trial.q, trial.fold)
        told = {"fold": trial.fold, "folds": trial.folds, **trial_document(trial)}
        yield Moment(progress) if now == before else Moment(progress, "trial", told)
        before = now
    decided, choice = trials.value
    if choice is not None:
        trace.choice = choice_document(choice, decided, clock.elapsed - began)
        told = {name: value for name, value in trace.choice.items() if name != "candidates"}
        yield Moment(_choosing(spec, clock), "choice", told)
    return decided


def _choosing(spec: JobSpec, clock: Clock, trial: Trial | None = None) -> Progress:
    at = (None, None, None) if trial is None else (trial.fold, trial.folds, trial_document(trial))
    return Progress("choosing", 0, spec.max_iter, None, None, None, clock.elapsed, None, *at)


def _solve(
    X: Array, spec: JobSpec, paradigm: Paradigm, trace: Trace, clock: Clock, options: Mapping[str, Any]
) -> Generator[Moment, None, Result]:
    steps = iter_solve(
        X,
        paradigm,
        kernel_of(spec),
        settled_q(spec),
        max_iter=max(1, spec.max_iter - trace.resumed_at),
        initial_W=trace.W,
        **options,
    )

    def moment(step: Step) -> Moment:
        row = trace.add(step)
        remaining = clock.after_step(step, row["iteration"], settled_delta(spec))
        progress = Progress(
            stage=step.stage,
            iteration=row["iteration"],
            max_iter=spec.max_iter,
            objective=step.objective,
            change=step.change,
            angle=step.angle,
            elapsed_seconds=clock.elapsed,
            remaining_seconds=remaining,
        )
        return Moment(progress, "step", row)

    return (yield from relay(steps, moment))


def _resample(
    X: Array,
    spec: JobSpec,
    paradigm: Paradigm,
    result: Result,
    preparation: Preparation,
    last: Row,
    clock: Clock,
) -> Generator[Moment, None, Stability]:
    """The standard errors of the loadings; halves are told as the folds of a validation are."""
    halves = resampling(
        X,
        paradigm,
        result,
        resamples=spec.resamples,
        delta=settled_delta(spec),
        seed=spec.seed,
        whitening=preparation.scaling.whitening,
        precision=spec.precision,
    )

    def moment(done: int) -> Moment:
        return Moment(_progress("stability", spec, last, clock, None, done, spec.resamples), "resample")

    return (yield from relay(halves, moment))


def _validate(folds: Folds, spec: JobSpec, last: Row, clock: Clock) -> Generator[Moment, None, Validation]:
    began, scores, fold = clock.elapsed, ReturnCapture(folds.scores()), 0
    for done in scores:
        fold = fold if done is None else done
        progress = _progress("validation", spec, last, clock, clock.after_fold(fold, began), fold, folds.count)
        yield Moment(progress, "" if done is None else "validation")
    return scores.value


def _progress(
    stage: Stage,
    spec: JobSpec,
    last: Row,
    clock: Clock,
    remaining: float | None,
    fold: int | None = None,
    folds: int | None = None,
) -> Progress:
    return Progress(
        stage,
        last["iteration"],
        spec.max_iter,
        last["objective"],
        last["change"],
        last["angle"],
        clock.elapsed,
        remaining,
        fold,
        folds,
    )
