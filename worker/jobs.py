"""What a worker does with a queued job: claim it, run it, save its results, and record how it ended."""

import json
import os
import threading
import time
from collections.abc import Generator
from dataclasses import replace
from functools import partial
from typing import Any

import structlog
from redis.exceptions import RedisError

from ism_core import InvalidInput
from ism_core.solver import ReturnCapture
from ism_jobs import telemetry
from ism_jobs.data import used_columns
from ism_jobs.errors import FieldError, InvalidSpec, OutOfMemory, Problem, StoreFull, Unavailable
from ism_jobs.logs import log
from ism_jobs.settings import Settings
from ism_jobs.spec import read_stored_spec
from ism_jobs.store import Attempt, CancelRequested, LostAttempt, Record, Store, is_full
from ism_jobs.tables import Roots, TableParts, WrongPlace
from worker.artifacts import artifacts_of, summary_document
from worker.checkpoint import Checkpoints, resumed_trace
from worker.pipeline import Outcome, iter_run
from worker.progress import ProgressEvent
from worker.telemetry import SAVING, JobTrace
from worker.writes import OrderedWrites

FULL_STORE_SECONDS = 60.0  # how long a job waits for room in a full store before it fails
RETRY_SECONDS = 1.0  # between two tries to save the results in a full store
REPORT_SECONDS = 0.2  # between two progress reports of a stage without events, such as the steps within a fold

stop_requested = threading.Event()  # set when this process should put its job back into the queue


class JobReturned(Exception):
    """The worker is stopping; the job goes back into the queue and resumes later."""


def run(id: str) -> None:
    """Run the next job of the queue; with a ticket of an earlier release, the job with this id.

    Queued tickets store the path of this function, so it must stay `worker.jobs.run`.
    """
    settings = Settings()
    run_in(Store.open_patiently(settings), settings, id, os.environ.get("RQ_WORKER_ID", ""))


def run_in(store: Store, settings: Settings, id: str, worker: str) -> bool:
    """Run a job for a worker, as `run` does. Return whether this process may run another one."""
    attempt = store.jobs.claim_next(id, worker)
    if attempt is None:
        return True
    structlog.contextvars.clear_contextvars()
    structlog.contextvars.bind_contextvars(job=attempt.job, attempt=attempt.number)
    log.info("job started")
    succeeded = False
    try:
        with JobTrace(attempt.record, attempt.number) as tracing:
            succeeded = _run_attempt(store, attempt.record, attempt, settings, tracing)
    except LostAttempt:
        log.warning("job has ended or was taken over; this attempt stops")
    store.jobs.let_next_start()
    telemetry.flush()
    return succeeded


def _run_attempt(store: Store, record: Record, attempt: Attempt, settings: Settings, tracing: JobTrace) -> bool:
    """Run the job and record its end, or put it back into the queue. Return whether it succeeded."""
    try:
        _solve_and_save(store, record, attempt, settings, tracing)
    except JobReturned:
        store.jobs.requeue(replace(record, attempt=attempt.number), crashed=False)
        log.info("job put back into the queue")
    except CancelRequested:
        attempt.cancel()
        log.info("job cancelled")
    except LostAttempt:
        raise
    except Exception as error:
        problem = _problem_of(error, record.id)
        tracing.error = type(problem).__name__
        if type(problem) is Problem:
            log.exception("job failed")
        else:
            log.info("job failed", reason=problem.detail)
        attempt.fail(problem.document())
    else:
        return True
    return False


def _solve_and_save(store: Store, record: Record, attempt: Attempt, settings: Settings, tracing: JobTrace) -> None:
    spec = read_stored_spec(record.spec, record.schema)
    description = store.datasets.get(spec.dataset).description
    table: Any = None
    if description.uri is None:
        table = store.datasets.read(spec.dataset, used_columns(spec, description))
    else:
        roots = Roots.of(settings.table_roots, "ISM_TABLE_ROOTS")
        table = TableParts(store.datasets.reference(spec.dataset), roots)
    trace = resumed_trace(attempt.checkpoint())
    events = iter_run(
        table,
        spec,
        description,
        trace,
        memory_limit=settings.memory_per_job,
        scheduler=settings.dask_scheduler,
        finish=lambda: attempt.finish_requested,
        outputs=Roots.of(settings.output_roots, "ISM_OUTPUT_ROOTS"),
        name=f"{record.id}-{attempt.number}",
    )
    del table  # frees its memory once the pipeline has encoded it
    with OrderedWrites() as writes:
        outcome = _report(events, attempt, Checkpoints(attempt, trace, writes.add), writes, tracing)
    tracing.begin(SAVING)
    artifacts = artifacts_of(outcome)
    _save_artifacts(attempt, artifacts)
    attempt.succeed(summary_document(outcome), list(artifacts))
    log.info("job succeeded", seconds=round(outcome.metrics["seconds_total"], 3))


def _report(
    events: Generator[ProgressEvent, None, Outcome],
    attempt: Attempt,
    checkpoints: Checkpoints,
    writes: OrderedWrites,
    tracing: JobTrace,
) -> Outcome:
    """Drive a job to its outcome; report its progress to the store and save checkpoints."""
    reported_at = time.monotonic()
    stage = ""
    capture = ReturnCapture(events)
    for event in capture:
        tracing.add(event)
        if stop_requested.is_set():
            checkpoints.save()
            raise JobReturned
        if event.kind == "picture":
            writes.add(partial(_save_picture, attempt, event))
            continue
        now = time.monotonic()
        if event.kind or event.progress.stage != stage or now - reported_at > REPORT_SECONDS:
            writes.add(partial(attempt.report, event.progress.document(), event.kind, event.document()))
            stage, reported_at = event.progress.stage, now
        if event.kind == "choice":  # the choice is expensive, so it is saved at once
            checkpoints.save()
        elif event.kind in ("step", "trial"):
            checkpoints.save_if_due()
    return capture.value


def _save_picture(attempt: Attempt, event: ProgressEvent) -> None:
    """Save a picture and tell the followers. A full store keeps the previous one, because another will come."""
    try:
        attempt.save_picture(json.dumps(event.row, allow_nan=False).encode())
    except RedisError as error:
        if not is_full(error):
            raise
        log.warning("picture not saved: the store is full")
    else:
        attempt.report(event.progress.document(), event.kind, event.document())


def _save_artifacts(attempt: Attempt, artifacts: dict[str, bytes]) -> None:
    """Save the results. If the store is full, try again for a while: other jobs may expire."""
    deadline = time.monotonic() + FULL_STORE_SECONDS
    while True:
        try:
            attempt.save_artifacts(artifacts)
        except RedisError as error:
            if not is_full(error) or time.monotonic() > deadline:
                raise
            log.warning("results not saved yet: the store is full")
            time.sleep(RETRY_SECONDS)
        else:
            return


def _problem_of(error: Exception, job_id: str) -> Problem:
    """Return the problem that the owner of the job sees."""
    match error:
        case Problem():
            return error
        case InvalidInput(parameter="memory"):
            return OutOfMemory(str(error))
        case WrongPlace():
            return Unavailable(str(error))  # a setting of this worker
        case InvalidInput():
            return InvalidSpec(str(error), [FieldError(error.parameter, str(error))])
        case RedisError() if is_full(error):
            return StoreFull("The store is full and the result could not be saved; delete old data sets or jobs.")
        case MemoryError():
            return OutOfMemory("The job ran out of memory; use fewer rows or features, or a smaller q.")
        case _:
            return Problem(f"Internal error. The service's log has the details; please quote job id {job_id}.")
