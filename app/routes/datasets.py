"""Data sets: upload, list, describe, delete."""

import json
from typing import Annotated

from fastapi import APIRouter, Query, Request, Response

from app import uploads
from app.dependencies import OwnerDep, SettingsDep, StoreDep, UploadSandboxDep
from app.http import decode_cursor, page_end
from app.links import dataset_links
from app.problems import problem_responses
from app.routes.parameters import HEADER_VALUES, CursorParameter, DatasetId, HeaderParameter, LimitParameter
from app.sandbox import Located, ingest, register, table_limits
from app.schemas import DatasetPage, DatasetView, dataset_item, dataset_view
from ism_jobs.store import Store

router = APIRouter(prefix="/datasets", tags=["data sets"])


@router.post(
    "",
    status_code=201,
    operation_id="uploadDataset",
    summary="Upload a table, or say where it is",
    openapi_extra=uploads.BODY,
    responses={
        200: {"model": DatasetView, "description": "The same table has been uploaded before"},
        **problem_responses(400, 413, 415, 422, 507),
    },
)
async def upload_dataset(
    request: Request,
    response: Response,
    sandbox: UploadSandboxDep,
    settings: SettingsDep,
    owner: OwnerDep,
    name: Annotated[
        str | None, Query(description="A name to show; by default the name of the file.", max_length=200)
    ] = None,
    header: HeaderParameter = "auto",
) -> DatasetView:
    """Send CSV, TSV, JSON, XLSX, Parquet, Feather (Arrow), Stata, SPSS, NPY or NPZ, optionally in gzip or ZIP.

    The file is the field `file` of a multipart form, or the raw body. The response describes each column. The id is a
    hash of the content: the same table uploaded again is the same data set and keeps its first name.

    The JSON object `{"uri": "s3://bucket/rows/"}` makes a data set by reference: its rows stay in their Parquet or CSV
    files, and its id is a hash of their names, sizes and times. Only supervised jobs can read it.
    """
    limits, store = table_limits(settings), Store.open(settings).of(owner)
    if given := await uploads.table_reference(request):
        roots, name = settings.table_roots, given.name or name
        located = Located(given.uri, name, HEADER_VALUES[header], roots)
        dataset, new = await register(sandbox, located, limits, store)
    else:
        async with uploads.receive_upload(request, settings, name, HEADER_VALUES[header]) as upload:
            dataset, new = await ingest(sandbox, upload, limits, store)
    response.status_code = 201 if new else 200
    response.headers["Location"] = dataset_links(dataset.id)["self"]
    view = dataset_view(dataset)
    if name not in (None, dataset.name):
        view.notes = [*view.notes, f"This table was uploaded before as {json.dumps(dataset.name)}; it keeps that name."]
    return view


@router.get("", operation_id="listDatasets", summary="List data sets", responses=problem_responses(422))
def list_datasets(
    request: Request,
    store: StoreDep,
    limit: LimitParameter = 50,
    cursor: CursorParameter = None,
) -> DatasetPage:
    """Data sets come newest first, one page at a time."""
    found, after = store.datasets.page(limit, decode_cursor(cursor))
    return DatasetPage(items=[dataset_item(dataset) for dataset in found], **page_end(request, after))


@router.get("/{id}", operation_id="getDataset", summary="Describe a data set", responses=problem_responses(404, 422))
def get_dataset(id: DatasetId, store: StoreDep) -> DatasetView:
    """The columns with types, missing values, ranges or levels, and the first rows."""
    return dataset_view(store.datasets.get(id))


@router.delete(
    "/{id}",
    status_code=204,
    operation_id="deleteDataset",
    summary="Delete a data set",
    responses=problem_responses(404, 409, 422),
)
def delete_dataset(id: DatasetId, store: StoreDep) -> None:
    """Delete a data set, unless a queued or running job needs it."""
    store.datasets.delete(id)
