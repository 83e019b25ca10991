"""Batches: the comparison of their jobs."""

from typing import Annotated

from fastapi import APIRouter, Path, Query, Request, Response

from app.deps import StoreDep
from app.http.negotiation import BY_ACCEPT, chosen_format, content, etag_of, is_known, not_modified
from app.http.negotiation import documented as documented_content
from app.problems import documented
from app.services.compare import BatchView, batch_table, batch_view
from ism_jobs.tables import write_table

router = APIRouter(prefix="/batches", tags=["jobs"])


@router.get(
    "/{id}",
    operation_id="getBatch",
    summary="Compare the jobs of a batch",
    response_model=BatchView,
    responses={
        **documented_content(
            "json",
            "csv",
            description="The jobs, the best first",
            json_schema={"$ref": "#/components/schemas/BatchView"},
        ),
        **documented(404, 406, 422),
    },
)
def get_batch(
    request: Request,
    id: Annotated[str, Path(description="The id of a batch.", max_length=100)],
    store: StoreDep,
    format: Annotated[str | None, Query(description="json or csv")] = None,
) -> Response:
    """Sorted by the paradigm's own measure, as far as the jobs have ended."""
    chosen = chosen_format(request, format, ("json", "csv"))
    view = batch_view(id, *store.jobs.batch(id))
    body = view.model_dump_json().encode() if chosen == "json" else write_table(batch_table(view), "csv")
    etag = etag_of(body)
    if is_known(request, etag):
        return not_modified(etag, BY_ACCEPT)
    return content(request, body, chosen, f"batch-{id}", etag, BY_ACCEPT)
