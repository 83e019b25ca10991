"""The pipeline of a job, the same in a worker and in `ism fit`."""

from collections.abc import Callable, Generator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import pyarrow as pa

from ism_core import Result, Step, Trial, iter_solve
from ism_core.arrays import Array
from ism_core.interpretation import Interpretation, iter_interpret
from ism_core.linalg import with_fixed_signs
from ism_core.paradigms import Paradigm, Supervised
from ism_core.selection import never
from ism_core.solver import ReturnCapture, relay
from ism_jobs.data import Model, TrainingData
from ism_jobs.spec import JobSpec, SupervisedSpec, read_stored_spec
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
from worker.pipeline.picture import Pictures
from worker.pipeline.prepare import Preparation, impute
from worker.pipeline.validate import CrossValidation, Validation
from worker.progress import JobClock, Progress, ProgressEvent, Stage
from worker.to_core import chosen_delta, chosen_q, chosen_scale, kernel_of, paradigm_of, solver_options
from worker.trace import Row, Trace

FINISH_SECONDS = 1.0  # that the ascent of a job that is to be finished may take, so that small jobs converge


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
    choice: Document | None = None  # the automatic choice; None if the spec had no automatic settings
    validation: Validation | None = None  # of a supervised job, with predictions for rows that W has not learned from
    missed: Document | None = None  # what the axes of a supervised job miss
    baseline: Document | None = None  # the validated score beside baselines


def iter_run(
    table: pa.Table,
    spec: JobSpec,
    description: Description,
    trace: Trace | None = None,
    *,
    memory_limit: int | None = None,
    scheduler: str | None = None,
    finish: Callable[[], bool] = never,
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
    finish
        Called after each event. If it returns True, the job ends soon, with the best result so far.
    """
    trace = trace or Trace()
    training = TrainingData.of(table, spec, description)
    del table
    with connected_engine(spec.engine, scheduler) as engine:
        clock = JobClock(spec.max_iter)
        preparing = Progress("preparing", trace.resumed_at, spec.max_iter, None, None, None, clock.elapsed, None)
        yield ProgressEvent(preparing)
        paradigm = paradigm_of(spec, training)
        pictures = Pictures(spec, training, paradigm)
        if not trace.choice and not trace.rows and (first := pictures.first()):
            yield ProgressEvent(preparing, "picture", first)
        posted, spec = spec, (yield from _iter_choose(spec, training, paradigm, trace, clock, pictures, finish))
        validation = None
        if isinstance(posted, SupervisedSpec) and isinstance(spec, SupervisedSpec) and spec.folds != 0:
            given = partial(solver_options, engine=engine, memory_limit=memory_limit)
            if posted.validation == "nested":
                validation = CrossValidation(training, posted, given)
            else:
                validation = CrossValidation(training, spec, given, out_of_fold_of(trace.out_of_fold))
            clock.folds = validation.count
        paradigm = paradigm_of(spec, training)
        began = clock.elapsed
        codes = paradigm.codes if isinstance(paradigm, Supervised) else None
        preparation, X = Preparation.fit(training.X, spec.missing, chosen_scale(spec), codes)
        scaling = preparation.scaling
        options = solver_options(spec, engine, memory_limit) | {"whitening": scaling.whitening}
        result = yield from _iter_solve(X, spec, paradigm, trace, clock, options, pictures, finish)
        solved = clock.elapsed - began
        picture = pictures.of_result(X, result, spec, scaling.whitening)
        yield ProgressEvent(_progress("ascent", spec, trace.rows[-1], clock, None), "picture", picture)
        interpretation = yield from _iter_interpret(X, spec, paradigm, result, preparation, trace.rows[-1], clock)
        missed = None
        if isinstance(spec, SupervisedSpec):
            missed = missed_document(X, spec, training, result, interpretation.stability)
        del X
        scores = None
        if validation is not None:
            scores = yield from _iter_validate(validation, spec, trace.rows[-1], clock, finish)
    yield ProgressEvent(_progress("measuring", spec, trace.rows[-1], clock, None))
    baseline = baseline_document(training, spec, scores) if isinstance(spec, SupervisedSpec) else None

    result = replace(result, W=with_fixed_signs(result.loadings(scaling.whitening)))
    prepared = training.encoding, spec.missing, preparation.fill
    model = Model(*prepared, scaling.mean, scaling.scale, result.W, limits=scaling.limits)
    embedding = model.project(training.X)
    metrics = metrics_of(spec, training, result, embedding, scores)
    metrics |= {
        "iterations": trace.rows[-1]["iteration"],
        **({"seconds_choice": trace.choice["seconds"]} if trace.choice else {}),
        "seconds_solve": solved,
        "seconds_total": clock.elapsed,
        "peak_memory_bytes": peak_memory(),
    }
    warnings = [*training.warnings, *preparation.warnings(training.X, model.features)]
    warnings += [*trace.warnings, *result.warnings, *(validation.warnings if validation else [])]
    measured = metrics, warnings, interpretation, trace.choice, scores
    return Outcome(spec, training, model, result, embedding, trace, *measured, missed, baseline)


def _iter_choose(
    spec: JobSpec,
    training: TrainingData,
    paradigm: Paradigm,
    trace: Trace,
    clock: JobClock,
    pictures: Pictures,
    finish: Callable[[], bool],
) -> Generator[ProgressEvent, None, JobSpec]:
    """Return the spec to solve: the choice of an earlier attempt, or the posted spec after its settings are chosen."""
    if trace.choice is not None:
        return read_stored_spec(trace.choice["spec"])
    began, last_candidate = clock.elapsed, None
    X = impute(training.X, spec.missing)

    def is_enough() -> bool:
        return finish() or (spec.budget is not None and clock.elapsed - began > spec.budget)

    trials = ReturnCapture(iter_choose_settings(spec, X, paradigm, is_enough, trace.journal))
    for trial in trials:
        progress, candidate = _choosing(spec, clock, trial, began), (trial.scale, trial.q, trial.fold)
        row = {"fold": trial.fold, "folds": trial.folds, **trial_document(trial)}
        yield ProgressEvent(progress) if candidate == last_candidate else ProgressEvent(progress, "trial", row)
        last_candidate = candidate
        if picture := pictures.of_leader(trial.leader):
            yield ProgressEvent(progress, "picture", picture)
    chosen, choice = trials.value
    if choice is not None:
        trace.choice = choice_document(choice, chosen, clock.elapsed - began, X)
        trace.out_of_fold = out_of_fold_document(choice.out_of_fold)
        trace.journal.clear()
        row = {name: value for name, value in trace.choice.items() if name != "candidates"}
        yield ProgressEvent(_choosing(spec, clock), "choice", row)
    return chosen


def _choosing(spec: JobSpec, clock: JobClock, trial: Trial | None = None, began: float = 0.0) -> Progress:
    before = Progress("choosing", 0, spec.max_iter, None, None, None, clock.elapsed, None)
    if trial is None:
        return before
    left, tried = clock.after_trial(trial, began), trial_document(trial)
    return replace(before, remaining_seconds=left, fold=trial.fold, folds=trial.folds, trying=tried)


def _iter_solve(
    X: Array,
    spec: JobSpec,
    paradigm: Paradigm,
    trace: Trace,
    clock: JobClock,
    options: Mapping[str, Any],
    pictures: Pictures,
    finish: Callable[[], bool],
) -> Generator[ProgressEvent, None, Result]:
    """Solve; if the job is to be finished, give the ascent a little time and end it with one more iteration."""
    began = clock.elapsed

    def steps(max_iter: int) -> Generator[Step, None, Result]:
        return iter_solve(X, paradigm, kernel_of(spec), chosen_q(spec), max_iter=max_iter, initial_W=trace.W, **options)

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

    solving = ReturnCapture(steps(max(1, spec.max_iter - trace.resumed_at)))
    for step in solving:
        reported = event(step)
        yield reported
        if step.stage != "ascent":
            continue
        if picture := pictures.of_step(X, step, spec, options["whitening"]):
            yield ProgressEvent(reported.progress, "picture", picture)
        if finish() and clock.elapsed - began > FINISH_SECONDS:
            trace.cut_short()
            return (yield from relay(steps(1), event))
    return solving.value


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
    validation: CrossValidation, spec: JobSpec, last: Row, clock: JobClock, finish: Callable[[], bool]
) -> Generator[ProgressEvent, None, Validation | None]:
    began, scores, fold = clock.elapsed, ReturnCapture(validation.iter_scores()), 0
    for done in scores:
        fold = fold if done is None else done
        remaining = clock.after_fold(fold, began)
        progress = _progress("validation", spec, last, clock, remaining, fold, validation.count)
        yield ProgressEvent(progress, "" if done is None else "validation")
        if finish():
            return validation.cut_short()
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
