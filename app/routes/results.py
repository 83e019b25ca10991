"""What a job found: the result, its tables, its model, its pictures, and new rows projected."""

import json
from typing import Annotated, Any, Literal

from anyio.to_thread import run_sync
from fastapi import APIRouter, Query, Request, Response
from starlette.convertors import StringConvertor, register_url_convertor

from app import uploads
from app.deps import ChildrenDep, FinishedJobDep, SettingsDep, StoreDep
from app.http.negotiation import BY_ACCEPT, chosen_format, content, etag_of, is_known, not_modified
from app.http.negotiation import documented as documented_content
from app.http.security_headers import PICTURE, policy
from app.problems import documented
from app.routes.datasets import HEADERS, Header
from app.sandbox import tasks as chores
from app.schemas.jobs import TABLES, job_view
from app.schemas.results import ResultView
from ism_jobs.store import LABEL_COLUMNS, Record

router = APIRouter(prefix="/jobs/{id}", tags=["results"])

SMALL = 2**18  # bytes: what is converted sooner than a child would begin
TABLE_FORMATS: tuple[chores.TableFormat, ...] = ("json", "csv", "npy", "parquet")
TABLE_SCHEMA = {
    "type": "object",
    "required": ["columns", "rows"],
    "properties": {
        "columns": {"type": "array", "items": {"type": "string"}},
        "rows": {"type": "array", "items": {"type": "array"}},
    },
}
METRICS_SCHEMA = {"type": "object", "additionalProperties": {"type": ["number", "null"]}}
PROBLEMS = documented(404, 406, 409, 422)

Table = Literal["W", "embedding", "labels", "stability", "trace", "metrics"]
Plot = Literal["embedding", "loadings", "trace"]
Format = Annotated[str | None, Query(description="json (default), csv, npy or parquet; or by Accept.", max_length=20)]


class _TableName(StringConvertor):
    """Other names are left to other routes: GET of what is to be posted to is 405."""

    regex = "|".join(TABLES)


register_url_convertor("table", _TableName())


@router.get("/result", operation_id="getResult", summary="The result", responses=documented(404, 409, 422))
def get_result(record: FinishedJobDep, store: StoreDep) -> ResultView:
    """W with feature names, eigenvalues, metrics, why it stopped, warnings."""
    view = job_view(record)
    return ResultView(job=view, links=view.links, **json.loads(store.jobs.artifact(record, "result")))


@router.get(
    "/model",
    operation_id="getModel",
    summary="The model",
    response_class=Response,
    responses={**documented_content("npz", "onnx", description="The model"), **PROBLEMS},
)
async def get_model(
    request: Request,
    record: FinishedJobDep,
    store: StoreDep,
    children: ChildrenDep,
    format: Annotated[str | None, Query(description="npz (default) or onnx.", max_length=20)] = None,
) -> Response:
    """What projects new rows: mean, scale and W, as NPZ or ONNX."""
    chosen = chosen_format(request, format, ("npz", "onnx"))
    etag = _etag(record, "model", chosen)
    if is_known(request, etag):
        return not_modified(etag, BY_ACCEPT)
    body = await run_sync(store.jobs.artifact, record, "model")
    if chosen == "onnx":
        body = await children.run(chores.export_onnx, body)
    return content(request, body, chosen, f"model-{record.id}", etag, BY_ACCEPT)


@router.get(
    "/plots/{plot}.{format}",
    operation_id="getPlot",
    summary="A picture",
    response_class=Response,
    responses={**documented_content("svg", "png", description="The picture"), **documented(404, 409, 422)},
)
async def get_plot(
    request: Request,
    plot: Plot,
    format: Literal["svg", "png"],
    record: FinishedJobDep,
    store: StoreDep,
    children: ChildrenDep,
) -> Response:
    """The embedding colored by class or cluster, the loadings of the features, or the traces of the iteration."""
    etag = _etag(record, "plot", plot, format)
    if is_known(request, etag):
        return not_modified(etag)
    source = {"embedding": "embedding", "loadings": "W", "trace": "trace"}[plot]
    table = await run_sync(store.jobs.artifact, record, source)
    errors = None
    if plot == "loadings" and "stability" in record.artifacts:
        errors = await run_sync(store.jobs.artifact, record, "stability")
    body = await children.run(chores.draw, plot, table, format, record.spec, errors)
    headers = {"Content-Security-Policy": policy(PICTURE)}
    return content(request, body, format, f"{plot}-{record.id}", etag, headers)


@router.post(
    "/transform",
    operation_id="transformRows",
    summary="Project new rows",
    response_class=Response,
    openapi_extra=uploads.BODY,
    responses={
        **documented_content(*TABLE_FORMATS, description="The rows in the new features", json_schema=TABLE_SCHEMA),
        **documented(400, 404, 406, 409, 413, 415, 422),
    },
)
async def transform_rows(
    request: Request,
    record: FinishedJobDep,
    store: StoreDep,
    children: ChildrenDep,
    settings: SettingsDep,
    format: Format = None,
    header: Header = "auto",
) -> Response:
    """A table with the same column names, in any order. Other columns are ignored, with a note."""
    chosen = chosen_format(request, format, TABLE_FORMATS)
    model = await run_sync(store.jobs.artifact, record, "model")
    async with uploads.received(request, settings, None, HEADERS[header]) as upload:
        body, notes = await children.run(chores.project, upload, model, chosen, settings)
    headers = {"ISM-Notes": json.dumps(notes), **BY_ACCEPT}
    return content(request, body, chosen, f"transformed-{record.id}", etag_of(body), headers)


@router.get(
    "/{table:table}",
    operation_id="getTable",
    summary="W, embedding, labels, stability, trace or metrics",
    response_class=Response,
    responses={
        **documented_content(
            *TABLE_FORMATS, description="The table", json_schema={"anyOf": [TABLE_SCHEMA, METRICS_SCHEMA]}
        ),
        **PROBLEMS,
    },
)
async def get_table(
    request: Request,
    table: Table,
    record: FinishedJobDep,
    store: StoreDep,
    children: ChildrenDep,
    format: Format = None,
) -> Response:
    """As JSON, CSV, NPY (the numbers only) or Parquet."""
    offered = tuple(format for format in TABLE_FORMATS if (table, format) != ("metrics", "npy"))
    chosen = chosen_format(request, format, offered)
    etag = _etag(record, table, chosen)
    if is_known(request, etag):
        return not_modified(etag, BY_ACCEPT)
    if table == "metrics" and chosen == "json":
        body = json.dumps((record.summary or {}).get("metrics", {})).encode()
    else:
        packed = await run_sync(store.jobs.artifact, record, table)
        run: Any = run_sync if len(packed) < SMALL else children.run
        body = await run(chores.convert, packed, chosen, LABEL_COLUMNS[table])
    return content(request, body, chosen, f"{table}-{record.id}", etag, BY_ACCEPT)


def _etag(record: Record, *parts: str) -> str:
    """What a job found never changes, so its name will do."""
    return etag_of(record.id, record.attempt, *parts)
