"""The pipeline of a job, the same in a worker and in `ism fit`."""

from collections.abc import Generator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Literal

import pyarrow as pa

from ism_core import Result, Step, Trial, iter_solve
from ism_core.arrays import Array
from ism_core.interpretation import Interpretation, iter_interpret
from ism_core.linalg import with_fixed_signs
from ism_core.paradigms import Paradigm, Supervised
from ism_core.solver import ReturnCapture, relay
from ism_jobs.data import Model, TrainingData
from ism_jobs.spec import JOB_SPEC, JobSpec, SupervisedSpec
from ism_jobs.tables import Description
from worker.dask_engine import connected_engine
from worker.pipeline.baseline import baseline_document
from worker.pipeline.choose import (
    Document,
    choice_document,
    iter_choose_settings,
    out_of_fold_document,
    out_of_fold_of,
    trial_document,
)
from worker.pipeline.metrics import Metrics, metrics_of, peak_memory
from worker.pipeline.missed import missed_document
from worker.pipeline.prepare import Preparation, impute
from worker.pipeline.validate import CrossValidation, Validation
from worker.progress import JobClock, Progress, Stage
from worker.to_core import chosen_delta, chosen_q, chosen_scale, kernel_of, paradigm_of, solver_options
from worker.trace import Row, Trace


@dataclass(frozen=True, eq=False)
class Outcome:
    """Everything that a job has computed."""

    spec: JobSpec
    training: TrainingData
    model: Model
    result: Result
    embedding: Array
    trace: Trace
    metrics: Metrics
    warnings: list[str]
    interpretation: Interpretation
    choice: Document | None = None  # the automatic choice; None if the spec had no open settings
    validation: Validation | None = None  # of a supervised job, with predictions for rows that W has not learned from
    missed: Document | None = None  # what the axes of a supervised job miss
    baseline: Document | None = None  # the validated score beside baselines


@dataclass(frozen=True)
class ProgressEvent:
    """The progress of a job, and what has just happened.

    The kind is a "step" (with its row of the trace), a "trial" of other settings, the "choice" of settings,
    a "resample" of the rows, or a fold of the "validation". It is empty if only the progress has changed.
    """

    progress: Progress
    kind: Literal["step", "trial", "choice", "resample", "validation", ""] = ""
    row: Row | None = None

    def document(self) -> Row:
        """Return the data of the event for the event stream of the job."""
        progress = self.progress.document()
        times = {name: progress[name] for name in ("elapsed_seconds", "remaining_seconds")}
        if self.kind in ("resample", "validation"):
            return {"fold": self.progress.fold, "folds": self.progress.folds, **times}
        return {**(self.row or {}), **times}


def iter_run(
    table: pa.Table,
    spec: JobSpec,
    description: Description,
    trace: Trace | None = None,
    *,
    memory_limit: int | None = None,
    scheduler: str | None = None,
) -> Generator[ProgressEvent, None, Outcome]:
    """Run a job, yield its progress and return its outcome.

    Parameters
    ----------
    table
        The columns of the data set that the spec needs.
    trace
        The trace of an earlier attempt to resume from.
    memory_limit
        Bytes that the solver may use.
    scheduler
        Address of the Dask scheduler, for jobs with the engine "dask".
    """
    trace = trace or Trace()
    training = TrainingData.of(table, spec, description)
    del table
    with connected_engine(spec.engine, scheduler) as engine:
        clock = JobClock(spec.max_iter)
        yield ProgressEvent(
            Progress("preparing", trace.resumed_at, spec.max_iter, None, None, None, clock.elapsed, None)
        )
        paradigm = paradigm_of(spec, training.guidance, training.guidance_kind)
        posted, spec = spec, (yield from _iter_choose(spec, training, paradigm, trace, clock))
        validation = None
        if isinstance(posted, SupervisedSpec) and isinstance(spec, SupervisedSpec) and spec.folds:
            given = partial(solver_options, engine=engine, memory_limit=memory_limit)
            if posted.validation == "nested":
                validation = CrossValidation(training, posted, given)
            else:
                validation = CrossValidation(training, spec, given, out_of_fold_of(trace.out_of_fold))
            clock.folds = validation.count
        paradigm = paradigm_of(spec, training.guidance, training.guidance_kind)
        began = clock.elapsed
        codes = paradigm.codes if isinstance(paradigm, Supervised) else None
        preparation, X = Preparation.fit(training.X, spec.missing, chosen_scale(spec), codes)
        options = solver_options(spec, engine, memory_limit) | {"whitening": preparation.scaling.whitening}
        result = yield from _iter_solve(X, spec, paradigm, trace, clock, options)
        solved = clock.elapsed - began
        interpretation = yield from _iter_interpret(X, spec, paradigm, result, preparation, trace.rows[-1], clock)
        missed = None
        if isinstance(spec, SupervisedSpec):
            missed = missed_document(X, spec, training, result, interpretation.stability)
        del X
        scores = None
        if validation is not None:
            scores = yield from _iter_validate(validation, spec, trace.rows[-1], clock)
    yield ProgressEvent(_progress("measuring", spec, trace.rows[-1], clock, None))
    baseline = baseline_document(training, spec, scores) if isinstance(spec, SupervisedSpec) else None

    scaling = preparation.scaling
    result = replace(result, W=with_fixed_signs(result.loadings(scaling.whitening)))
    model = Model(training.encoding, spec.missing, preparation.fill, scaling.mean, scaling.scale, result.W)
    embedding = model.project(training.X)
    metrics = metrics_of(spec, training, result, embedding, scores)
    metrics |= {
        "iterations": trace.rows[-1]["iteration"],
        **({"seconds_choice": trace.choice["seconds"]} if trace.choice else {}),
        "seconds_solve": solved,
        "seconds_total": clock.elapsed,
        "peak_memory_bytes": peak_memory(),
    }
    warnings = [*training.warnings, *result.warnings, *(validation.warnings if validation else [])]
    measured = metrics, warnings, interpretation, trace.choice, scores
    return Outcome(spec, training, model, result, embedding, trace, *measured, missed, baseline)


def _iter_choose(
    spec: JobSpec, training: TrainingData, paradigm: Paradigm, trace: Trace, clock: JobClock
) -> Generator[ProgressEvent, None, JobSpec]:
    """Return the spec to solve: the choice of an earlier attempt, or the posted spec with its open settings chosen."""
    if trace.choice is not None:
        return JOB_SPEC.validate_python(trace.choice["spec"])
    began, last_candidate = clock.elapsed, None
    trials = ReturnCapture(iter_choose_settings(spec, impute(training.X, spec.missing), paradigm))
    for trial in trials:
        progress, candidate = _choosing(spec, clock, trial), (trial.scale, trial.q, trial.fold)
        row = {"fold": trial.fold, "folds": trial.folds, **trial_document(trial)}
        yield ProgressEvent(progress) if candidate == last_candidate else ProgressEvent(progress, "trial", row)
        last_candidate = candidate
    chosen, choice = trials.value
    if choice is not None:
        trace.choice = choice_document(choice, chosen, clock.elapsed - began)
        trace.out_of_fold = out_of_fold_document(choice.out_of_fold)
        row = {name: value for name, value in trace.choice.items() if name != "candidates"}
        yield ProgressEvent(_choosing(spec, clock), "choice", row)
    return chosen


def _choosing(spec: JobSpec, clock: JobClock, trial: Trial | None = None) -> Progress:
    at = (None, None, None) if trial is None else (trial.fold, trial.folds, trial_document(trial))
    return Progress("choosing", 0, spec.max_iter, None, None, None, clock.elapsed, None, *at)


def _iter_solve(
    X: Array, spec: JobSpec, paradigm: Paradigm, trace: Trace, clock: JobClock, options: Mapping[str, Any]
) -> Generator[ProgressEvent, None, Result]:
    steps = iter_solve(
        X,
        paradigm,
        kernel_of(spec),
        chosen_q(spec),
        max_iter=max(1, spec.max_iter - trace.resumed_at),
        initial_W=trace.W,
        **options,
    )

    def event(step: Step) -> ProgressEvent:
        row = trace.add(step)
        progress = Progress(
            stage=step.stage,
            iteration=row["iteration"],
            max_iter=spec.max_iter,
            objective=step.objective,
            change=step.change,
            angle=step.angle,
            elapsed_seconds=clock.elapsed,
            remaining_seconds=clock.after_step(step, row["iteration"], chosen_delta(spec)),
        )
        return ProgressEvent(progress, "step", row)

    return (yield from relay(steps, event))


def _iter_interpret(
    X: Array,
    spec: JobSpec,
    paradigm: Paradigm,
    result: Result,
    preparation: Preparation,
    last: Row,
    clock: JobClock,
) -> Generator[ProgressEvent, None, Interpretation]:
    """Interpret the result. Resamples that were requested are reported like the folds of a cross-validation."""
    resamples = iter_interpret(
        X,
        paradigm,
        result,
        resamples=spec.resamples,
        delta=chosen_delta(spec),
        seed=spec.seed,
        whitening=preparation.scaling.whitening,
        precision=spec.precision,
    )

    def event(done: int) -> ProgressEvent:
        if not spec.resamples:
            return ProgressEvent(_progress("stability", spec, last, clock, None))
        return ProgressEvent(_progress("stability", spec, last, clock, None, done, spec.resamples), "resample")

    return (yield from relay(resamples, event))


def _iter_validate(
    validation: CrossValidation, spec: JobSpec, last: Row, clock: JobClock
) -> Generator[ProgressEvent, None, Validation | None]:
    began, scores, fold = clock.elapsed, ReturnCapture(validation.iter_scores()), 0
    for done in scores:
        fold = fold if done is None else done
        remaining = clock.after_fold(fold, began)
        progress = _progress("validation", spec, last, clock, remaining, fold, validation.count)
        yield ProgressEvent(progress, "" if done is None else "validation")
    return scores.value


def _progress(
    stage: Stage,
    spec: JobSpec,
    last: Row,
    clock: JobClock,
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
