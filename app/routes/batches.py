"""Batches: comparing their jobs."""

from typing import Annotated

from fastapi import APIRouter, Path, Query, Request, Response

from app.dependencies import StoreDep
from app.http import VARY_ACCEPT, etag_matches, etag_of, file_response, file_responses, negotiate_format, not_modified
from app.problems import problem_responses
from app.schemas import BatchView
from app.services import batch_table, batch_view
from ism_jobs.tables import write_table

router = APIRouter(prefix="/batches", tags=["jobs"])


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
    id: Annotated[str, Path(description="The id of the batch.", max_length=100)],
    store: StoreDep,
    format: Annotated[
        str | None, Query(description="json (default) or csv. The Accept header can be used instead.")
    ] = None,
) -> Response:
    """The jobs are sorted by the main metric of their paradigm. Jobs without a result come last."""
    chosen = negotiate_format(request, format, ("json", "csv"))
    view = batch_view(id, *store.jobs.batch(id))
    body = view.model_dump_json().encode() if chosen == "json" else write_table(batch_table(view), "csv")
    etag = etag_of(body)
    if etag_matches(request, etag):
        return not_modified(etag, VARY_ACCEPT)
    return file_response(request, body, chosen, f"batch-{id}", etag, VARY_ACCEPT)
