"""Jobs: post, list, follow, finish, cancel, delete."""

import json
import time
from collections.abc import AsyncIterable
from contextlib import suppress
from typing import Annotated

from anyio.to_thread import run_sync
from fastapi import APIRouter, Header, Query, Request, Response
from fastapi.sse import EventSourceResponse, ServerSentEvent
from pydantic import AwareDatetime
from redis.exceptions import ConnectionError as NotReachable
from redis.exceptions import TimeoutError as NoAnswer

from app.dependencies import EventsDep, JobDep, KeyCheckDep, StoreDep, posting_of
from app.http import decode_cursor, etag_matches, etag_of, not_modified, page_end
from app.problems import problem_responses
from app.routes.bodies import IdempotencyKey, ValidateOnly, accepted, json_body, posted_schema
from app.routes.parameters import CursorParameter, LimitParameter
from app.schemas import JobPage, JobView, PictureView, job_view
from app.services import plan_jobs, submit_job
from ism_jobs.errors import FieldError, InvalidParameter, NotFound
from ism_jobs.store import LONGEST_WAIT, START, Events, JobFilter, Record, State, Store

router = APIRouter(prefix="/jobs", tags=["jobs"])

MAX_WAIT_SECONDS = 60.0  # of a long poll; shorter than the timeout of common proxies
QUEUE_POLL_SECONDS = 2.0  # between two polls of the position in the queue, which causes no events


@router.post(
    "",
    status_code=202,
    operation_id="postJob",
    summary="Post a job",
    responses={**accepted("The queued job", JobView), **problem_responses(413, 422, 429, 507)},
    openapi_extra=posted_schema("PostedJob"),
)
async def post_job(
    request: Request,
    idempotency_key: IdempotencyKey = None,
    validate_only: ValidateOnly = False,
) -> Response:
    """One spec makes a job. Lists of specs and grids, which make several, go to /batches."""
    posting, body = posting_of(request), await json_body(request)
    if validate_only:
        plan = await plan_jobs(*posting, body, is_batch=False)
        return Response(plan.model_dump_json(), media_type="application/json")
    view = job_view(await submit_job(*posting, body, idempotency_key))
    headers = {"Location": view.links["self"], "Retry-After": "1"}
    return Response(view.model_dump_json(), 202, headers, "application/json")


@router.get("", operation_id="listJobs", summary="List jobs", responses=problem_responses(422))
def list_jobs(
    request: Request,
    store: StoreDep,
    state: Annotated[
        str | None, Query(description="Only jobs in one of these states, such as queued,running.", max_length=100)
    ] = None,
    batch: Annotated[str | None, Query(description="Only jobs of this batch.", max_length=100)] = None,
    dataset: Annotated[str | None, Query(description="Only jobs on this data set.", max_length=100)] = None,
    label: Annotated[str | None, Query(description="Only jobs with this label.", max_length=200)] = None,
    created_after: Annotated[
        AwareDatetime | None,
        Query(description="Only jobs posted after this time, such as 2026-01-31T22:00:00Z."),
    ] = None,
    limit: LimitParameter = 50,
    cursor: CursorParameter = None,
) -> JobPage:
    """Jobs come newest first, one page at a time."""
    after_time = None if created_after is None else created_after.timestamp()
    wanted = JobFilter(_states(state), batch, dataset, label, after_time)
    found, after = store.jobs.page(limit, decode_cursor(cursor), wanted)
    return JobPage(items=[job_view(record) for record in found], **page_end(request, after))


def _states(text: str | None) -> frozenset[State] | None:
    """Parse the states of ?state=queued,running."""
    if text is None:
        return None
    names = [name.strip() for name in text.split(",")]
    if unknown := [name for name in names if name not in list(State)]:
        sentence = f"There is no state {unknown[0]!r:.50}; the states are {', '.join(State)}."
        raise InvalidParameter(sentence, [FieldError("state", sentence)])
    return frozenset(map(State, names))


@router.get(
    "/{id}",
    operation_id="getJob",
    summary="Get a job",
    response_model=JobView,
    responses={304: {"description": "Not modified"}, **problem_responses(404, 422)},
)
async def get_job(
    request: Request,
    record: JobDep,
    store: StoreDep,
    events: EventsDep,
    wait: Annotated[float, Query(ge=0, le=MAX_WAIT_SECONDS, description="Seconds to wait for the job to end.")] = 0.0,
) -> Response:
    """With `wait`, the response comes when the job ends or the time is over.

    With `wait` and If-None-Match, it also comes when the job changes. The position in the queue is then checked every
    few seconds.
    """
    body, etag = await run_sync(_body_and_etag, store, record)
    any_change = "if-none-match" in request.headers
    if wait and not record.state.ended and (not any_change or etag_matches(request, etag)):
        body, etag = await _wait_for_change(request, store, events, record.id, wait, any_change)
    if etag_matches(request, etag):
        return not_modified(etag)
    return Response(body, media_type="application/json", headers={"ETag": etag})


def _view(store: Store, record: Record) -> JobView:
    return job_view(record, store.jobs.position(record) if record.state is State.QUEUED else None)


def _body_and_etag(store: Store, record: Record) -> tuple[bytes, str]:
    body = _view(store, record).model_dump_json().encode()
    return body, etag_of(body)


async def _wait_for_change(
    request: Request, store: Store, events: Events, id: str, seconds: float, any_change: bool
) -> tuple[bytes, str]:
    """Wait until the job ends, differs from the version that the caller knows, or the time is over."""
    deadline = time.monotonic() + seconds
    last = await events.last(id)
    while True:
        record = await run_sync(store.jobs.get, id)
        body, etag = await run_sync(_body_and_etag, store, record)
        now = time.monotonic()
        if record.state.ended or now >= deadline or (any_change and not etag_matches(request, etag)):
            return body, etag
        polls_queue = any_change and record.state is State.QUEUED
        next_look = min(deadline, now + (QUEUE_POLL_SECONDS if polls_queue else LONGEST_WAIT))
        while (left := next_look - time.monotonic()) > 0 and (news := await events.after(id, last, left)):
            last = news[-1].id
            if any_change or any(event.kind == "state" for event in news):
                break


@router.post(
    "/{id}/cancel",
    status_code=202,
    operation_id="cancelJob",
    summary="Cancel a job",
    responses=problem_responses(404, 409, 422),
)
def cancel_job(record: JobDep, store: StoreDep) -> JobView:
    """A queued job is cancelled at once; a running job stops at its next iteration."""
    return job_view(store.jobs.cancel(record.id))


@router.post(
    "/{id}/finish",
    status_code=202,
    operation_id="finishJob",
    summary="Finish a job early",
    responses=problem_responses(404, 409, 422),
)
def finish_job(record: JobDep, store: StoreDep) -> JobView:
    """The search ends and the job succeeds with the best result so far; its warnings say what ended early."""
    return job_view(store.jobs.request_finish(record.id))


@router.post(
    "/{id}/retry",
    status_code=202,
    operation_id="retryJob",
    summary="Retry a job that failed",
    responses=problem_responses(404, 409, 422, 429, 507),
)
def retry_job(record: JobDep, store: StoreDep) -> JobView:
    """A job that has failed or was cancelled is queued once more and begins anew.

    `GET /jobs?state=failed` lists the jobs that have failed.
    """
    return job_view(store.jobs.retry(record.id))


@router.get("/{id}/picture", operation_id="getPicture", summary="Get a picture", responses=problem_responses(404, 422))
def get_picture(record: JobDep, store: StoreDep) -> PictureView:
    """The latest picture of a job: at most 2,000 rows in two axes of the best candidate so far."""
    return PictureView.model_validate_json(store.jobs.picture(record.id))


@router.delete(
    "/{id}",
    status_code=204,
    operation_id="deleteJob",
    summary="Delete a job",
    responses=problem_responses(404, 409, 422),
)
def delete_job(record: JobDep, store: StoreDep) -> None:
    """Delete a job and its results. Cancel a queued or running job first."""
    store.jobs.delete(record.id)


@router.get(
    "/{id}/events",
    operation_id="followJob",
    summary="Follow a job by server-sent events",
    response_class=EventSourceResponse,
    responses=problem_responses(404, 422),
)
async def follow_job(
    record: JobDep,
    store: StoreDep,
    events: EventsDep,
    key_is_valid: KeyCheckDep,
    last_event_id: Annotated[
        str | None,
        Header(
            description="The id of the last event received; the stream continues after it.",
            pattern=r"^\d{1,19}-\d{1,19}$",
        ),
    ] = None,
) -> AsyncIterable[ServerSentEvent]:
    """Server-sent events from the beginning of the job, or after Last-Event-ID.

    `state`: the job has changed its state. `step`: an iteration with objective, eigenvalues, change and angle.
    `trial` and `choice`: settings were tried or chosen. `resample` and `validation`: a resample or a fold is done.
    `picture`: rows, loadings and score of the best candidate so far; only the latest picture is sent.
    The stream ends when the job ends, when Redis is unreachable, or when the API key is revoked.
    """
    last = last_event_id or START
    with suppress(NotReachable, NoAnswer):  # the stream ends; the client can resume it when Redis is back
        while key_is_valid():
            news = await events.after(record.id, last, 0 if record.state.ended else LONGEST_WAIT)
            for event in news:
                last = event.id
                data = event.data
                if event.kind == "picture":
                    data = await run_sync(_picture, store, record.id, json.loads(data)["number"])
                if data:
                    yield ServerSentEvent(id=event.id, event=event.kind, raw_data=data)
            if not record.state.ended and (not news or any(event.kind == "state" for event in news)):
                try:
                    record = await run_sync(store.jobs.get, record.id)
                except NotFound:  # the job was deleted meanwhile
                    return
                if not record.state.ended:
                    view = await run_sync(_view, store, record)
                    yield ServerSentEvent(id=last, event="state", raw_data=view.model_dump_json())
            elif record.state.ended and not news:  # the final state comes after all other events
                yield ServerSentEvent(id=last, event="state", raw_data=job_view(record).model_dump_json())
                return


def _picture(store: Store, id: str, number: int) -> str:
    """Return the picture with this number; empty if a later one has replaced it."""
    with suppress(NotFound):
        picture = store.jobs.picture(id)
        if json.loads(picture)["number"] == number:
            return picture.decode()
    return ""
