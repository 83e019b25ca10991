"""The spans of one attempt at a job: the time in the queue, the stages, every step, and saving the result."""

import time
from types import TracebackType
from typing import Self

from ism_jobs import telemetry
from ism_jobs.store import Record
from ism_jobs.telemetry import SpanContext
from worker.progress import ProgressEvent

SAVING = "saving"  # the stage after the last event


class JobTrace:
    """Records spans below that of the request that posted the job. Without a collector it does nothing."""

    def __init__(self, record: Record, attempt: int) -> None:
        self._is_enabled = telemetry.is_enabled()
        self._record = record
        self._parent = SpanContext.parsed(record.trace)
        self._job = SpanContext.child_of(self._parent)
        self._attributes = {"ism.job": record.id, "ism.attempt": attempt, "ism.dataset": record.dataset}
        self._attributes["ism.paradigm"] = str(record.spec.get("paradigm"))
        self._began = self._last = self._stage_began = time.time()
        self._stage, self._stage_context = "loading", SpanContext.child_of(self._job)
        self.error: str | None = None

    def __enter__(self) -> Self:
        if self._is_enabled and self._attributes["ism.attempt"] == 1:
            queued = SpanContext.child_of(self._parent or self._job)
            start, parent = self._record.created, self._parent or self._job
            telemetry.record("queue", start, self._began, queued, parent=parent, attributes=self._attributes)
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None) -> None:
        if not self._is_enabled:
            return
        self._end_stage()
        telemetry.record(
            "job",
            self._began,
            time.time(),
            self._job,
            parent=self._parent,
            kind=telemetry.CONSUMER,
            attributes=self._attributes,
            error=self.error if kind is None else kind.__name__,
        )

    def add(self, event: ProgressEvent) -> None:
        """Record what has just happened: a step, trial, fold or picture of its stage."""
        if not self._is_enabled:
            return
        self.begin(event.progress.stage)
        now = time.time()
        if event.kind:
            span = SpanContext.child_of(self._stage_context)
            telemetry.record(event.kind, self._last, now, span, parent=self._stage_context, attributes=_named(event))
        self._last = now

    def begin(self, stage: str) -> None:
        """Begin a stage, unless it is the current one."""
        if self._is_enabled and stage != self._stage:
            self._end_stage()
            self._stage, self._stage_context = stage, SpanContext.child_of(self._job)
            self._stage_began = self._last

    def _end_stage(self) -> None:
        self._last = max(self._last, time.time()) if self._stage in ("loading", SAVING) else self._last
        telemetry.record(self._stage, self._stage_began, self._last, self._stage_context, parent=self._job)


def _named(event: ProgressEvent) -> dict[str, object]:
    return {f"ism.{name}": value for name, value in event.document().items() if value is not None}
