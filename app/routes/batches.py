"""Batches: post, list, compare, cancel, retry, delete."""

from typing import Annotated

from anyio.to_thread import run_sync
from fastapi import APIRouter, Path, Query, Request, Response

from app.dependencies import StoreDep, posting_of
from app.http import (
    VARY_ACCEPT,
    decode_cursor,
    file_response,
    file_responses,
    negotiate_format,
    page_end,
)
from app.problems import problem_responses
from app.routes.bodies import IdempotencyKey, ValidateOnly, accepted, json_body, posted_schema
from app.routes.parameters import CursorParameter
from app.schemas import BatchPage, BatchView
from app.services import batch_page, batch_table, plan_jobs, read_batch, submit_batch
from ism_jobs.tables import write_table

router = APIRouter(prefix="/batches", tags=["batches"])

BatchId = Annotated[str, Path(description="The id of the batch.", max_length=100)]
BatchLimit = Annotated[int, Query(description="The largest number of batches in the page.", ge=1, le=100)]


@router.post(
    "",
    status_code=202,
    operation_id="postBatch",
    summary="Post several jobs",
    responses={**accepted("The queued jobs", BatchView), **problem_responses(413, 422, 429, 507)},
    openapi_extra=posted_schema("PostedJobs"),
)
async def post_batch(
    request: Request,
    idempotency_key: IdempotencyKey = None,
    validate_only: ValidateOnly = False,
) -> Response:
    """A grid (a spec with lists of values) makes a job of each combination. A list makes the jobs of each.

    All jobs are queued, or none. `{"jobs": …, "label": …}` names the batch.
    """
    posting, body = posting_of(request), await json_body(request)
    if validate_only:
        plan = await plan_jobs(*posting, body, is_batch=True)
        return Response(plan.model_dump_json(), media_type="application/json")
    id = await submit_batch(*posting, body, idempotency_key)
    view = await run_sync(read_batch, posting.store, id)
    headers = {"Location": view.links["self"], "Retry-After": "1"}
    return Response(view.model_dump_json(), 202, headers, "application/json")


@router.get("", operation_id="listBatches", summary="List batches", responses=problem_responses(422))
def list_batches(
    request: Request, store: StoreDep, limit: BatchLimit = 50, cursor: CursorParameter = None
) -> BatchPage:
    """Batches come newest first, one page at a time."""
    items, after = batch_page(store, limit, decode_cursor(cursor))
    return BatchPage(items=items, **page_end(request, after))


@router.get(
    "/{id}",
    operation_id="getBatch",
    summary="Compare the jobs of a batch",
    response_model=BatchView,
    responses={
        **file_responses(
            "json",
            "csv",
            description="The jobs of the batch, best first",
            json_schema={"$ref": "#/components/schemas/BatchView"},
        ),
        **problem_responses(404, 406, 422),
    },
)
def get_batch(
    request: Request,
    id: BatchId,
    store: StoreDep,
    format: Annotated[
        str | None, Query(description="json (default) or csv. The Accept header can be used instead.")
    ] = None,
) -> Response:
    """The jobs are sorted by the main metric of their paradigm. Jobs without a result come last."""
    chosen = negotiate_format(request, format, ("json", "csv"))
    view = read_batch(store, id)
    body = view.model_dump_json().encode() if chosen == "json" else write_table(batch_table(view), "csv")
    return file_response(request, body, chosen, f"batch-{id}", VARY_ACCEPT)


@router.post(
    "/{id}/cancel",
    status_code=202,
    operation_id="cancelBatch",
    summary="Cancel a batch",
    responses=problem_responses(404, 422),
)
def cancel_batch(id: BatchId, store: StoreDep) -> BatchView:
    """Cancel every job that has not ended. Queued jobs are cancelled at once; running jobs stop at their next step."""
    store.batches.cancel(id)
    return read_batch(store, id)


@router.post(
    "/{id}/retry",
    status_code=202,
    operation_id="retryBatch",
    summary="Retry the jobs of a batch that failed",
    responses=problem_responses(404, 409, 422, 429, 507),
)
def retry_batch(id: BatchId, store: StoreDep) -> BatchView:
    """Queue every job that has failed once more. Without failed jobs nothing happens. Cancelled jobs stay cancelled."""
    store.batches.retry(id)
    return read_batch(store, id)


@router.delete(
    "/{id}",
    status_code=204,
    operation_id="deleteBatch",
    summary="Delete a batch",
    responses=problem_responses(404, 409, 422),
)
def delete_batch(id: BatchId, store: StoreDep) -> None:
    """Delete a batch with its jobs and their results. Cancel the batch first if a job is queued or running."""
    store.batches.delete(id)
