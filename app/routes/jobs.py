"""Jobs: post, list, follow, cancel, delete."""

import json
import time
from collections.abc import AsyncIterable
from contextlib import suppress
from functools import partial
from typing import Annotated, Any

from anyio.to_thread import run_sync
from fastapi import APIRouter, Depends, Header, Query, Request, Response
from fastapi.sse import EventSourceResponse, ServerSentEvent
from redis.exceptions import ConnectionError as NotReachable
from redis.exceptions import TimeoutError as NoAnswer

from app.deps import ChildrenDep, EventsDep, JobDep, SettingsDep, StillValidDep, StoreDep
from app.http import pagination as cursors
from app.http.negotiation import etag_of, is_known, not_modified
from app.problems import documented
from app.schemas.jobs import JobPage, JobView, job_view
from app.services.compare import BatchView, batch_view
from app.services.submit import post
from ism_jobs.errors import FieldError, InvalidSpec, NotFound
from ism_jobs.store import LONGEST_WAIT, START, Events, Record, State, Store

router = APIRouter(prefix="/jobs", tags=["jobs"])

MAX_WAIT = 60.0
MOST_NAMES = 100  # of one object in the body of a job
SMALL_BODY = 2**16  # bytes that are parsed sooner than a thread would begin
LOOK_AT_QUEUE = 2.0  # seconds
RETRY_AFTER = {"description": "Seconds to wait before the first look.", "schema": {"type": "integer"}}


async def _json_body(request: Request) -> Any:
    """The body by hand: a wrong one gets our own sentence."""
    body = await request.body()
    try:
        parse = partial(json.loads, body, parse_constant=_refuse_constant, object_pairs_hook=_object)
        return parse() if len(body) < SMALL_BODY else await run_sync(parse)
    except RecursionError:
        sentence = "The body is nested too deeply; a job is an object with a few lists in it."
    except ValueError as error:
        reason = "it has a number of thousands of digits" if "digits" in str(error) else error
        sentence = f"The body is not JSON: {reason}."
    raise InvalidSpec(sentence, [FieldError("body", sentence)])


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Refused where no job has so many fields: to say what is wrong with each would take minutes."""
    if len(pairs) > MOST_NAMES:
        sentence = f"The body has an object with {len(pairs):,} names; none of a job has more than {MOST_NAMES}."
        raise InvalidSpec(sentence, [FieldError("body", sentence)])
    return dict(pairs)


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is not a JSON number")


@router.post(
    "",
    status_code=202,
    operation_id="postJobs",
    summary="Post a job, or several",
    responses={
        202: {
            "model": JobView | BatchView,
            "description": "Queued: a job, or a batch for a list or a grid",
            "headers": {
                "Location": {"description": "Where to look.", "schema": {"type": "string"}},
                "Retry-After": RETRY_AFTER,
            },
        },
        **documented(413, 422, 429, 507),
    },
    openapi_extra={
        "requestBody": {
            "required": True,
            "content": {"application/json": {"schema": {"$ref": "#/components/schemas/PostedJobs"}}},
        }
    },
)
async def post_jobs(
    store: StoreDep,
    children: ChildrenDep,
    settings: SettingsDep,
    body: Annotated[Any, Depends(_json_body)],
    idempotency_key: Annotated[
        str | None, Header(description="The same key and body again give the same job.", min_length=1, max_length=200)
    ] = None,
) -> Response:
    """A spec makes a job. A list of specs, or a spec with lists of kernels, q, … (a grid), makes a batch."""
    records, batch = await post(store, children, settings, body, idempotency_key)
    return _queued(records, None) if batch is None else await run_sync(_queued, records, batch)


def _queued(records: list[Record], batch: str | None) -> Response:
    first = records[0]
    view = job_view(first) if batch is None else batch_view(batch, first.created, records)
    headers = {"Location": view.links["self"], "Retry-After": "1"}
    return Response(view.model_dump_json(), 202, headers, "application/json")


@router.get("", operation_id="listJobs", summary="List jobs", responses=documented(422))
def list_jobs(
    store: StoreDep,
    state: Annotated[State | None, Query()] = None,
    batch: Annotated[str | None, Query(max_length=100)] = None,
    dataset: Annotated[str | None, Query(max_length=100)] = None,
    label: Annotated[str | None, Query(max_length=200)] = None,
    limit: Annotated[int, Query(ge=1, le=1000)] = 50,
    cursor: Annotated[str | None, Query(description="From `next` of the page before.", max_length=200)] = None,
) -> JobPage:
    """The newest first."""
    wanted = {"state": state, "batch": batch, "dataset": dataset}

    def is_wanted(record: Record) -> bool:
        matches = all(value is None or getattr(record, name) == value for name, value in wanted.items())
        return matches and (label is None or record.spec.get("label") == label)

    found, after = store.jobs.page(limit, cursors.decode(cursor), is_wanted)
    return JobPage(items=[job_view(record) for record in found], next=cursors.encode(after))


@router.get(
    "/{id}",
    operation_id="getJob",
    summary="Look at a job",
    responses={304: {"description": "Not modified"}, **documented(404, 422)},
)
async def get_job(
    request: Request,
    response: Response,
    record: JobDep,
    store: StoreDep,
    events: EventsDep,
    wait: Annotated[float, Query(ge=0, le=MAX_WAIT, description="Seconds to wait for the job to end.")] = 0.0,
) -> Any:
    """With `wait`, the answer comes when the job ends or the time is over; with If-None-Match too, when it changes.

    Its position in the queue is then looked at every few seconds.
    """
    view, etag = await run_sync(_look, store, record)
    any_change = "if-none-match" in request.headers
    if wait and not record.state.ended and (not any_change or is_known(request, etag)):
        view, etag = await _awaited(request, store, events, record.id, wait, any_change)
    if is_known(request, etag):
        return not_modified(etag)
    response.headers["ETag"] = etag
    return view


def _look(store: Store, record: Record) -> tuple[JobView, str]:
    waiting = record.state is State.QUEUED and record.ticket is not None
    position = store.jobs.tickets.position(record.ticket or "") if waiting else None
    return job_view(record, position), etag_of(record.id, record.version, position)


async def _awaited(
    request: Request, store: Store, events: Events, id: str, seconds: float, any_change: bool
) -> tuple[JobView, str]:
    """The job when it has ended, or is no longer as the caller knows it, or as it is when the time is over."""
    deadline = time.monotonic() + seconds
    last = await events.last(id)
    while True:
        view, etag = await run_sync(lambda: _look(store, store.jobs.get(id)))
        now = time.monotonic()
        if view.state.ended or now >= deadline or (any_change and not is_known(request, etag)):
            return view, etag
        moves = any_change and view.state is State.QUEUED  # in the queue, of which there are no events
        again = min(deadline, now + (LOOK_AT_QUEUE if moves else LONGEST_WAIT))
        while (left := again - time.monotonic()) > 0 and (news := await events.after(id, last, left)):
            last = news[-1].id
            if any_change or any(event.kind == "state" for event in news):
                break


@router.post(
    "/{id}/cancel",
    status_code=202,
    operation_id="cancelJob",
    summary="Cancel a job",
    responses=documented(404, 409, 422),
)
def cancel_job(record: JobDep, store: StoreDep) -> JobView:
    """A job that waits is cancelled at once; one that runs stops at its next step."""
    return job_view(store.jobs.cancel(record.id))


@router.delete(
    "/{id}", status_code=204, operation_id="deleteJob", summary="Delete a job", responses=documented(404, 409, 422)
)
def delete_job(record: JobDep, store: StoreDep) -> None:
    """With all it made. A job that waits or runs must be cancelled first."""
    store.jobs.delete(record.id)


@router.get(
    "/{id}/events",
    operation_id="followJob",
    summary="Follow a job",
    response_class=EventSourceResponse,
    responses=documented(404, 422),
)
async def follow_job(
    record: JobDep,
    store: StoreDep,
    events: EventsDep,
    still_valid: StillValidDep,
    last_event_id: Annotated[str | None, Header(pattern=r"^\d{1,19}-\d{1,19}$")] = None,
) -> AsyncIterable[ServerSentEvent]:
    """Server-sent events from the job's beginning, or from Last-Event-ID on.

    `state`: the job has changed its state; `step`: an iteration (objective, eigenvalues, change, angle);
    `validation`: a fold of the cross-validation is done. The stream ends when the job has, when Redis goes away, or
    when the API key is revoked.
    """
    last = last_event_id or START
    with suppress(NotReachable, NoAnswer):  # the stream ends, and can be followed on when Redis is back
        while still_valid():
            news = await events.after(record.id, last, 0 if record.state.ended else LONGEST_WAIT)
            for event in news:
                last = event.id
                if event.kind == "state":
                    continue
                yield ServerSentEvent(id=event.id, event=event.kind, raw_data=event.data)
            if not record.state.ended and (not news or any(event.kind == "state" for event in news)):
                try:
                    record = await run_sync(store.jobs.get, record.id)
                except NotFound:  # deleted meanwhile
                    return
                if not record.state.ended:
                    view, _ = await run_sync(_look, store, record)
                    yield ServerSentEvent(id=last, event="state", raw_data=view.model_dump_json())
            elif record.state.ended and not news:  # its end is told when all that came before has been
                yield ServerSentEvent(id=last, event="state", raw_data=job_view(record).model_dump_json())
                return
