"""Batches: the comparison of their jobs."""

from typing import Annotated, Any

from fastapi import APIRouter, Path, Query, Request

from app.comparison import BatchView, batch_table, batch_view
from app.contents import chosen_format, content, etag_of
from app.contents import documented as documented_content
from app.deps import StoreDep
from app.problems import documented
from ism_jobs.tables import write_table

router = APIRouter(prefix="/batches", tags=["jobs"])


@router.get(
    "/{id}",
    operation_id="getBatch",
    summary="Compare the jobs of a batch",
    response_model=BatchView,
    responses={
        **documented_content("csv", description="The jobs, the best first"),
        **documented(404, 406, 422),
    },
)
def get_batch(
    request: Request,
    id: Annotated[str, Path(description="The id of a batch.", max_length=100)],
    store: StoreDep,
    format: Annotated[str | None, Query(description="json or csv")] = None,
) -> Any:
    """Sorted by the paradigm's own measure, as far as the jobs have ended."""
    view = batch_view(id, *store.jobs.batch(id))
    if chosen_format(request, format, ("json", "csv")) == "json":
        return view
    body = write_table(batch_table(view), "csv")
    return content(request, body, "csv", f"batch-{id}", etag_of(body))
