"""One job from its table to its outcome, the same in a worker and in `ism fit`."""

from collections.abc import Generator, Mapping
from dataclasses import dataclass
from typing import Any, Literal

import pyarrow as pa

from ism_core import Result, iterate
from ism_core.arrays import Array
from ism_jobs.design import Design
from ism_jobs.model import Model
from ism_jobs.specs import JobSpec, SupervisedSpec
from ism_jobs.tables import Description
from worker.engines import connected
from worker.measures import Metrics, metrics_of, peak_memory
from worker.preparation import Preparation
from worker.progress import Clock, Progress, Stage
from worker.trace import Row, Trace
from worker.translate import kernel_of, paradigm_of, solver_options
from worker.validation import Folds, Validation


@dataclass(frozen=True, eq=False)
class Outcome:
    """All that a job found."""

    spec: JobSpec
    design: Design
    model: Model
    result: Result
    embedding: Array
    trace: Trace
    metrics: Metrics
    warnings: list[str]


@dataclass(frozen=True)
class Moment:
    """How far the job is, and what has just happened: a "step" (a row of the trace), a "validation", or nothing new."""

    progress: Progress
    kind: Literal["step", "validation", ""] = ""
    row: Row | None = None

    def event(self) -> Row:
        """What those who follow the job are told."""
        document = self.progress.document()
        times = {name: document[name] for name in ("elapsed_seconds", "remaining_seconds")}
        if self.kind == "validation":
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
    design = Design.of(table, spec, description)
    del table
    with connected(spec.engine, scheduler) as engine:
        options = solver_options(spec, engine, memory_limit)
        folds = Folds(design, spec, options) if isinstance(spec, SupervisedSpec) and spec.folds else None
        clock = Clock(spec.delta, spec.max_iter, folds.count if folds else 0)
        yield Moment(Progress("preparing", trace.resumed_at, spec.max_iter, None, None, None, clock.elapsed, None))
        preparation, X = Preparation.learnt(design.X, spec.missing, spec.scale)
        result = yield from _solve(X, spec, design, trace, clock, options)
        del X
        solved = clock.elapsed
        validation = None
        if folds is not None and folds.count:
            validation = yield from _validate(folds, spec, trace.rows[-1], clock)
    yield Moment(_progress("measuring", spec, trace.rows[-1], clock, None))

    model = Model(design.encoding, spec.missing, preparation.fill, preparation.mean, preparation.scale, result.W)
    embedding = model.project(design.X)
    metrics = metrics_of(spec, design, result, embedding, validation)
    metrics |= {
        "iterations": trace.rows[-1]["iteration"],
        "seconds_solve": solved,
        "seconds_total": clock.elapsed,
        "peak_memory_bytes": peak_memory(),
    }
    dropped = description.rows - len(design.rows)
    notes = [f"{dropped} of {description.rows} rows were dropped because they miss a value."] if dropped else []
    warnings = [*notes, *result.warnings, *(folds.warnings if folds else [])]
    return Outcome(spec, design, model, result, embedding, trace, metrics, warnings)


def _solve(
    X: Array, spec: JobSpec, design: Design, trace: Trace, clock: Clock, options: Mapping[str, Any]
) -> Generator[Moment, None, Result]:
    steps = iterate(
        X,
        paradigm_of(spec, design.given, design.kind),
        kernel_of(spec),
        spec.q,
        max_iter=max(1, spec.max_iter - trace.resumed_at),
        initial_W=trace.W,
        **options,
    )
    while True:
        try:
            step = next(steps)
        except StopIteration as end:
            result: Result = end.value
            return result
        row = trace.add(step)
        remaining = clock.after_step(step, row["iteration"])
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
        yield Moment(progress, "step", row)


def _validate(folds: Folds, spec: JobSpec, last: Row, clock: Clock) -> Generator[Moment, None, Validation]:
    began, scores, fold = clock.elapsed, folds.scores(), 0
    while True:
        try:
            done = next(scores)
        except StopIteration as end:
            validation: Validation = end.value
            return validation
        fold = fold if done is None else done
        progress = _progress("validation", spec, last, clock, clock.after_fold(fold, began), fold, folds.count)
        yield Moment(progress, "" if done is None else "validation")


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
