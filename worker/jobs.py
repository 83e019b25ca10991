"""What a ticket in the queue makes a worker do: claim the job, run it, keep what it found, and say how it ended."""

import os
import threading
import time
from collections.abc import Generator
from dataclasses import replace

import structlog
from redis.exceptions import RedisError

from ism_core import InvalidInput
from ism_core.solver import ReturnCapture
from ism_jobs.data import used_columns
from ism_jobs.errors import FieldError, InvalidSpec, NotFound, OutOfMemory, Problem, StoreFull
from ism_jobs.logs import log
from ism_jobs.settings import Settings
from ism_jobs.spec import JOB_SPEC
from ism_jobs.store import Attempt, CancelRequested, LostAttempt, Record, Store, is_full
from worker.artifacts import artifacts_of, summary_document
from worker.pipeline.run import Moment, Outcome
from worker.pipeline.run import run as run_job
from worker.trace import Trace

CHECKPOINT_SECONDS = 1.0
ROOM_SECONDS = 60.0
QUIET_SECONDS = 0.2  # within a fold, where there is a step but no event for each

stopping = threading.Event()  # set when this process should hand its job back


class HandBack(Exception):
    """The worker is to stop; the job goes on elsewhere, or later."""


def run(id: str) -> None:
    """Run the job with this id, unless it has been cancelled or another worker has it."""
    settings = Settings()
    store = Store.open_patiently(settings)
    try:
        attempt = store.jobs.claim(id, os.environ.get("RQ_WORKER_ID", ""))
    except NotFound:
        return
    if attempt is None:
        return
    structlog.contextvars.bind_contextvars(job=id, attempt=attempt.number)
    log.info("job begins")
    try:
        _hold(store, store.jobs.get(id), attempt, settings)
    except LostAttempt:
        log.warning("job was taken over")


def _hold(store: Store, record: Record, attempt: Attempt, settings: Settings) -> None:
    """Bring the job to an end, or put it back."""
    try:
        _carry_out(store, record, attempt, settings)
    except HandBack:
        store.jobs.requeue(replace(record, attempt=attempt.number), crashed=False)
        log.info("job put back")
    except CancelRequested:
        attempt.cancel()
        log.info("job cancelled")
    except LostAttempt:
        raise
    except Exception as error:
        problem = _problem(error)
        if type(problem) is Problem:
            log.exception("job failed")
        else:
            log.info("job failed", reason=problem.detail)
        attempt.fail(problem.document())


def _carry_out(store: Store, record: Record, attempt: Attempt, settings: Settings) -> None:
    spec = JOB_SPEC.validate_python(record.spec)
    description = store.datasets.get(spec.dataset).description
    table = store.datasets.read(spec.dataset, used_columns(spec, description))
    left = attempt.checkpoint()
    trace = Trace.unpacked(left) if left else Trace()
    moments = run_job(
        table,
        spec,
        description,
        trace,
        memory_limit=settings.memory_per_job,
        scheduler=settings.dask_scheduler,
    )
    del table
    outcome = _report(moments, attempt, trace)
    artifacts = artifacts_of(outcome)
    _keep(attempt, artifacts)
    attempt.succeed(summary_document(outcome), list(artifacts))
    log.info("job succeeded", seconds=round(outcome.metrics["seconds_total"], 3))


def _keep(attempt: Attempt, artifacts: dict[str, bytes]) -> None:
    """Save what was found; in a full store there may be room soon."""
    deadline = time.monotonic() + ROOM_SECONDS
    while True:
        try:
            attempt.save_artifacts(artifacts)
        except RedisError as error:
            if not is_full(error) or time.monotonic() > deadline:
                raise
            log.warning("job waits for room in the store")
            time.sleep(1)
        else:
            return


def _save_checkpoint(attempt: Attempt, trace: Trace) -> None:
    """In a full store the one before must do."""
    try:
        attempt.save_checkpoint(trace.packed())
    except RedisError as error:
        if not is_full(error):
            raise
        log.warning("no room for a checkpoint")


def _report(moments: Generator[Moment, None, Outcome], attempt: Attempt, trace: Trace) -> Outcome:
    """Drive a job to its outcome, telling the store about every step."""
    saved = reported = time.monotonic()
    stage = ""
    capture = ReturnCapture(moments)
    for moment in capture:
        if stopping.is_set():
            if trace.rows or trace.choice:
                _save_checkpoint(attempt, trace)
            raise HandBack
        now = time.monotonic()
        if moment.kind or moment.progress.stage != stage or now - reported > QUIET_SECONDS:
            attempt.report(moment.progress.document(), moment.kind, moment.event())
            stage, reported = moment.progress.stage, now
        if moment.kind == "choice":  # it took as long as many steps
            _save_checkpoint(attempt, trace)
            saved = now
        if moment.kind == "step" and trace.rows and now - saved > CHECKPOINT_SECONDS:
            _save_checkpoint(attempt, trace)
            saved = now
    return capture.value


def _problem(error: Exception) -> Problem:
    """What to tell the job's owner."""
    match error:
        case Problem():
            return error
        case InvalidInput(parameter="memory"):
            return OutOfMemory(str(error))
        case InvalidInput():
            return InvalidSpec(str(error), [FieldError(error.parameter, str(error))])
        case RedisError() if is_full(error):
            return StoreFull("The store is full, and the result could not be kept; delete what is no longer needed.")
        case MemoryError():
            return OutOfMemory(
                "The job needed more memory than its worker has; try fewer rows or features, or a smaller q."
            )
        case _:
            return Problem("The job failed for a reason that is ours, not yours; the service's log has the details.")
