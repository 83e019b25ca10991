"""The results of a job: the result document, tables, model, plots, and the projection of new rows."""

import json
from collections.abc import Hashable
from typing import Annotated, Any

from anyio.to_thread import run_sync
from fastapi import APIRouter, Path, Query, Request, Response
from starlette.convertors import StringConvertor, register_url_convertor

from app import uploads
from app.dependencies import FinishedJobDep, SandboxDep, SettingsDep, StoreDep, TransformSandboxDep
from app.http import (
    PICTURE_POLICY,
    TAGS,
    VARY_ACCEPT,
    content_security_policy,
    file_response,
    file_responses,
    negotiate_format,
    not_modified,
)
from app.links import TABLES, Plot, Table, prefix
from app.problems import problem_responses
from app.routes.parameters import (
    HEADER_VALUES,
    PROJECTION_SCHEMA,
    TABLE_FORMATS,
    TABLE_SCHEMA,
    FormatParameter,
    HeaderParameter,
)
from app.sandbox import (
    PLOT_SOURCES,
    REPORT_POLICY,
    Answer,
    PlotFormat,
    convert_table,
    draw_plot,
    export_onnx,
    project_rows,
    project_upload,
    render_pdf_report,
    render_report,
    table_limits,
)
from app.schemas import OtherAxes, ResultView, job_view, table_document
from ism_jobs.errors import NotFound
from ism_jobs.store import LABEL_COLUMNS, Record, Store

router = APIRouter(prefix="/jobs/{id}", tags=["results"])

INLINE_BYTES = 2**18  # tables below this size are converted faster than a sandbox process starts
METRICS_SCHEMA = {"type": "object", "additionalProperties": {"type": ["number", "null"]}}
PROBLEMS = problem_responses(404, 406, 409, 422)


class _TableName(StringConvertor):
    """Matches table names only, so that a GET of a POST route such as /transform is a 405 and not a 422."""

    regex = "|".join(TABLES)


register_url_convertor("table", _TableName())


@router.get("/result", operation_id="getResult", summary="Get the result", responses=problem_responses(404, 409, 422))
def get_result(record: FinishedJobDep, store: StoreDep) -> ResultView:
    """W with feature names, eigenvalues, metrics, the reason why the iteration ended, and warnings."""
    view = job_view(record)
    return ResultView(job=view, links=view.links, **store.jobs.result(record))


@router.get(
    "/model",
    operation_id="getModel",
    summary="Get the model",
    response_class=Response,
    responses={**file_responses("npz", "onnx", description="The model"), **PROBLEMS},
)
async def get_model(
    request: Request,
    record: FinishedJobDep,
    store: StoreDep,
    sandbox: SandboxDep,
    format: Annotated[
        str | None, Query(description="npz (default) or onnx. The Accept header can be used instead.", max_length=20)
    ] = None,
) -> Response:
    """The model projects new rows. It consists of mean, scale and W, as NPZ or ONNX."""
    chosen = negotiate_format(request, format, ("npz", "onnx"))
    name = _name(record, "model", chosen)
    if etag := TAGS.known(request, name):
        return not_modified(etag, VARY_ACCEPT)
    body = await run_sync(store.jobs.artifact, record, "model")
    if chosen == "onnx":
        body = await sandbox.run(export_onnx, body)
    return file_response(request, body, chosen, f"model-{record.id}", VARY_ACCEPT, name)


@router.get(
    "/plots/{plot}.{format}",
    operation_id="getPlot",
    summary="Draw a plot",
    response_class=Response,
    responses={**file_responses("svg", "png", description="The plot"), **problem_responses(404, 409, 422)},
)
async def get_plot(
    request: Request,
    plot: Annotated[Plot, Path(description="The plot.")],
    format: Annotated[PlotFormat, Path(description="The file format.")],
    record: FinishedJobDep,
    store: StoreDep,
    sandbox: SandboxDep,
) -> Response:
    """The embedding with features as arrows, the importance or loadings of features, or the trace of the iteration."""
    name = _name(record, "plot", plot, format)
    if etag := TAGS.known(request, name):
        return not_modified(etag)
    source = PLOT_SOURCES.get(plot)
    table = await run_sync(store.jobs.artifact, record, source) if source else None
    result = await run_sync(store.jobs.result, record)
    body = await sandbox.run(draw_plot, plot, table, format, record.spec, result)
    headers = {"Content-Security-Policy": content_security_policy(PICTURE_POLICY)}
    return file_response(request, body, format, f"{plot}-{record.id}", headers, name)


@router.get(
    "/report.html",
    operation_id="getReport",
    summary="Get a report",
    response_class=Response,
    responses={**file_responses("html", description="The report"), **problem_responses(404, 409, 422)},
)
async def get_report(request: Request, record: FinishedJobDep, store: StoreDep, sandbox: SandboxDep) -> Response:
    """One HTML file without network: the question, columns, picture, ranking, tests, candidates, how to repeat it."""
    job, result, dataset, embedding = await run_sync(_report_parts, store, record)
    body = await sandbox.run(render_report, job, result, dataset, embedding, _service_url(request))
    headers = {"Content-Security-Policy": content_security_policy(REPORT_POLICY)}
    return file_response(request, body, "html", f"report-{record.id}", headers)


@router.get(
    "/report.pdf",
    operation_id="getPdfReport",
    summary="Get a report as PDF",
    response_class=Response,
    responses={**file_responses("pdf", description="The report"), **problem_responses(404, 409, 422)},
)
async def get_pdf_report(request: Request, record: FinishedJobDep, store: StoreDep, sandbox: SandboxDep) -> Response:
    """A few pages to print or to attach: plots, ranking, tests, certificate, settings, and how to repeat the job."""
    job, result, dataset, embedding = await run_sync(_report_parts, store, record)
    trace = await run_sync(store.jobs.artifact, record, "trace")
    body = await sandbox.run(render_pdf_report, job, result, dataset, embedding, trace, _service_url(request))
    return file_response(request, body, "pdf", f"report-{record.id}")


@router.post(
    "/transform",
    operation_id="transformRows",
    summary="Project new rows",
    response_class=Response,
    openapi_extra=uploads.BODY,
    responses={
        **file_responses(*TABLE_FORMATS, description="The rows in the new axes", json_schema=PROJECTION_SCHEMA),
        **problem_responses(400, 404, 406, 409, 413, 415, 422),
    },
)
async def transform_rows(
    request: Request,
    record: FinishedJobDep,
    store: StoreDep,
    sandbox: TransformSandboxDep,
    settings: SettingsDep,
    format: FormatParameter = None,
    header: HeaderParameter = "auto",
) -> Response:
    """Send a table with the same column names in any order. Other columns are ignored, with a note."""
    chosen = negotiate_format(request, format, TABLE_FORMATS)
    model = await run_sync(store.jobs.artifact, record, "model")
    ranges = await run_sync(_ranges, store, record)
    async with uploads.receive_upload(request, settings, None, HEADER_VALUES[header]) as upload:
        limits = table_limits(settings)
        (body,), notes = await sandbox.receive(_with_value, project_upload, upload, model, chosen, limits, ranges)
    headers = {"ISM-Notes": json.dumps(notes), **VARY_ACCEPT}
    return file_response(request, body, chosen, f"transformed-{record.id}", headers)


@router.post(
    "/project",
    operation_id="projectRows",
    summary="Project the job's rows onto any W",
    response_class=Response,
    responses={
        **file_responses(*TABLE_FORMATS, description="The rows in these axes", json_schema=TABLE_SCHEMA),
        **problem_responses(404, 406, 409, 422),
    },
)
async def project_job_rows(
    request: Request,
    body: OtherAxes,
    record: FinishedJobDep,
    store: StoreDep,
    sandbox: SandboxDep,
    format: FormatParameter = None,
) -> Response:
    """The rows are filled in, encoded and scaled as in the job. If a column of W is 1 for one feature
    and 0 elsewhere, the answer has this feature as the job scaled it."""
    chosen = negotiate_format(request, format, TABLE_FORMATS)
    await run_sync(store.datasets.get, record.dataset)  # 404 if the table has been deleted
    model = await run_sync(store.jobs.artifact, record, "model")
    embedding = await run_sync(store.jobs.artifact, record, "embedding")
    table = store.datasets.iter_packed(record.dataset)
    projected = await sandbox.run(project_rows, table, model, embedding, body.W, chosen)
    return file_response(request, projected, chosen, f"projected-{record.id}", VARY_ACCEPT)


@router.get(
    "/{table:table}",
    operation_id="getTable",
    summary="Get W, embedding, labels, stability, trace or metrics",
    response_class=Response,
    responses={
        **file_responses(
            *TABLE_FORMATS, description="The table", json_schema={"anyOf": [TABLE_SCHEMA, METRICS_SCHEMA]}
        ),
        **PROBLEMS,
    },
)
async def get_table(
    request: Request,
    table: Annotated[Table, Path(description="The table.")],
    record: FinishedJobDep,
    store: StoreDep,
    sandbox: SandboxDep,
    format: FormatParameter = None,
) -> Response:
    """One table of the result as JSON, CSV, NPY (numeric columns only) or Parquet."""
    offered = tuple(format for format in TABLE_FORMATS if (table, format) != ("metrics", "npy"))
    chosen = negotiate_format(request, format, offered)
    name = _name(record, table, chosen)
    if etag := TAGS.known(request, name):
        return not_modified(etag, VARY_ACCEPT)
    if table == "metrics" and chosen == "json":
        body = json.dumps((record.summary or {}).get("metrics", {})).encode()
    else:
        packed = await run_sync(store.jobs.artifact, record, table)
        run: Any = run_sync if len(packed) < INLINE_BYTES else sandbox.run
        body = await run(convert_table, packed, chosen, LABEL_COLUMNS[table])
    return file_response(request, body, chosen, f"{table}-{record.id}", VARY_ACCEPT, name)


def _with_value(answer: Answer) -> tuple[list[bytes], Any]:
    """Return the parts of an answer and its value."""
    return list(answer), answer.value


def _report_parts(store: Store, record: Record) -> tuple[Any, Any, Any, bytes]:
    """Return what a report is made of: the documents of the job, its result and its table, and the embedding."""
    job, result = job_view(record).model_dump(mode="json"), store.jobs.result(record)
    return job, result, _table_document(store, record), store.jobs.artifact(record, "embedding")


def _service_url(request: Request) -> str:
    return str(request.base_url).rstrip("/") + prefix()


def _table_document(store: Store, record: Record) -> dict[str, Any] | None:
    """Return name, rows and columns of the table of a job; None if the table has been deleted."""
    try:
        dataset = store.datasets.get(record.dataset)
    except NotFound:
        return None
    return table_document(dataset.name, dataset.description)


def _ranges(store: Store, record: Record) -> dict[str, tuple[float, float]]:
    """Return the smallest and largest value of each number column; empty if the table has been deleted."""
    try:
        columns = store.datasets.get(record.dataset).description.columns
    except NotFound:
        return {}
    ends = {column.name: (column.minimum, column.maximum) for column in columns}
    return {name: (low, high) for name, (low, high) in ends.items() if low is not None and high is not None}


def _name(record: Record, *parts: str) -> Hashable:
    """Return the name of a file that never changes, because the results of an attempt never do.

    The time of creation is part of it: an Idempotency-Key gives another job the id of a deleted one.
    """
    return (record.id, record.created, record.attempt, *parts)
