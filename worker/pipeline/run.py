"""The pipeline of a job, the same in a worker and in `ism fit`."""

from collections.abc import Callable, Generator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import pyarrow as pa

from ism_core import Result, Step, iter_solve
from ism_core.arrays import Array
from ism_core.interpretation import Interpretation, iter_interpret
from ism_core.linalg import with_fixed_signs
from ism_core.objective import Partitions
from ism_core.paradigms import Paradigm, Supervised
from ism_core.selection import never
from ism_core.solver import ReturnCapture, relay
from ism_jobs.data import Model, TrainingData
from ism_jobs.spec import JobSpec, SupervisedSpec
from ism_jobs.tables import ANYWHERE, Description, Roots, TableParts
from worker.dask_engine import connected_engine
from worker.pipeline.baseline import baseline_document
from worker.pipeline.choose import Document, iter_choose, out_of_fold_of
from worker.pipeline.metrics import Metrics, metrics_of, peak_memory
from worker.pipeline.missed import missed_document
from worker.pipeline.parts import Parts
from worker.pipeline.picture import Pictures
from worker.pipeline.prepare import Preparation
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
    all_rows: int | None = None  # rows that W was computed from, if `training` is a sample of them
    output: Document | None = None  # the file with the embedding of all rows


def iter_run(
    table: pa.Table | TableParts,
    spec: JobSpec,
    description: Description,
    trace: Trace | None = None,
    *,
    memory_limit: int | None = None,
    scheduler: str | None = None,
    finish: Callable[[], bool] = never,
    outputs: Roots = ANYWHERE,
    name: str = "fit",
) -> Generator[ProgressEvent, None, Outcome]:
    """Run a job, yield its progress and return its outcome.

    Parameters
    ----------
    table
        The columns of the data set that the spec needs, or a table whose rows are read in parts.
    trace
        The trace of an earlier attempt to resume from.
    memory_limit
        Bytes that the solver may use.
    scheduler
        Address of the Dask scheduler, for jobs with the engine "dask".
    finish
        Called after each event. If it returns True, the job ends soon, with the best result so far.
    outputs
        Where the embedding of a table in parts may be written.
    name
        The id of the job and the number of its attempt.
    """
    trace = trace or Trace()
    parts = Parts.of(table, spec, description, outputs, name) if isinstance(table, TableParts) else None
    training = parts.training if parts else TrainingData.of(table, spec, description)
    del table
    with connected_engine(spec.engine, scheduler) as engine:
        clock = JobClock(spec.max_iter)
        preparing = Progress("preparing", trace.resumed_at, spec.max_iter, None, None, None, clock.elapsed, None)
        yield ProgressEvent(preparing)
        paradigm = parts.sampled_paradigm if parts else paradigm_of(spec, training)
        pictures = Pictures(spec, training, paradigm)
        if not trace.choice and not trace.rows and (first := pictures.first()):
            yield ProgressEvent(preparing, "picture", first)
        posted, spec = spec, (yield from iter_choose(spec, training, paradigm, trace, clock, pictures, finish))
        validation = None
        if isinstance(posted, SupervisedSpec) and isinstance(spec, SupervisedSpec) and spec.folds != 0:
            given = partial(solver_options, engine="local" if parts else engine, memory_limit=memory_limit)
            if posted.validation == "nested":
                validation = CrossValidation(training, posted, given)
            else:
                validation = CrossValidation(training, spec, given, out_of_fold_of(trace.out_of_fold))
            clock.folds = validation.count
        paradigm = parts.sampled_paradigm if parts else paradigm_of(spec, training)
        began = clock.elapsed
        codes = paradigm.codes if isinstance(paradigm, Supervised) else None
        rows: Array | Partitions
        if parts:
            preparation, rows, gross = parts.scale(chosen_scale(spec), engine)
            X = preparation.apply(training.X)
        else:
            preparation, X = Preparation.fit(training.X, spec.missing, chosen_scale(spec), codes)
            rows, gross = X, preparation.warnings(training.X, training.encoding.names)
        scaling = preparation.scaling
        options = solver_options(spec, engine, memory_limit) | {"whitening": scaling.whitening}
        result = yield from _iter_solve(
            rows, X, spec, parts.paradigm if parts else paradigm, trace, clock, options, pictures, finish
        )
        solved = clock.elapsed - began
        picture = pictures.of_result(X, result, spec, scaling.whitening)
        yield ProgressEvent(_progress("ascent", spec, trace.rows[-1], clock, None), "picture", picture)
        interpretation = yield from _iter_interpret(X, spec, paradigm, result, preparation, trace.rows[-1], clock)
        missed = None
        if isinstance(spec, SupervisedSpec):
            missed = missed_document(X, spec, training, result, interpretation.stability)
        del X, rows
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
    output: Document | None = None
    if parts and trace.choice and (check := parts.final_check(model)):
        trace.choice["final_check"] = check
    if parts and isinstance(spec, SupervisedSpec) and spec.output:
        writing = ReturnCapture(parts.iter_write(model, spec.output))
        for _ in writing:
            yield ProgressEvent(_progress("writing", spec, trace.rows[-1], clock, None))
        output = writing.value
    elif parts:
        parts.check_unchanged()
    metrics |= {
        **({"rows": parts.data.learned} if parts else {}),
        "iterations": trace.rows[-1]["iteration"],
        **({"seconds_choice": trace.choice["seconds"]} if trace.choice else {}),
        "seconds_solve": solved,
        "seconds_total": clock.elapsed,
        "peak_memory_bytes": peak_memory(),
    }
    warnings = [*(parts.warnings if parts else []), *training.warnings, *gross]
    warnings += [*trace.warnings_of(result), *(validation.warnings if validation else [])]
    measured = metrics, warnings, interpretation, trace.choice, scores, missed, baseline
    all_rows = parts.data.learned if parts else None
    return Outcome(spec, training, model, result, embedding, trace, *measured, all_rows, output)


def _iter_solve(
    rows: Array | Partitions,
    X: Array,
    spec: JobSpec,
    paradigm: Paradigm,
    trace: Trace,
    clock: JobClock,
    options: Mapping[str, Any],
    pictures: Pictures,
    finish: Callable[[], bool],
) -> Generator[ProgressEvent, None, Result]:
    """Solve on these rows; X has all of them or a sample.

    If the job is to be finished, give the ascent a little time and end it with one more iteration.
    """
    began = clock.elapsed

    def steps(max_iter: int) -> Generator[Step, None, Result]:
        return iter_solve(
            rows, paradigm, kernel_of(spec), chosen_q(spec), max_iter=max_iter, initial_W=trace.W, **options
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
