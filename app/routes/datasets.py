"""Data sets: upload, list, describe, delete."""

import json
from typing import Annotated, Literal

from fastapi import APIRouter, Path, Query, Request, Response

from app import uploads
from app.deps import OwnerDep, ReadersDep, SettingsDep, StoreDep
from app.http import pagination as cursors
from app.problems import documented
from app.sandbox.tasks import ingest
from app.schemas.jobs import DatasetPage, DatasetView, dataset_item, dataset_view

router = APIRouter(prefix="/datasets", tags=["data sets"])

Header = Annotated[
    Literal["auto", "true", "false"],
    Query(description="Whether a CSV's first line names the columns."),
]
DatasetId = Annotated[str, Path(description="The id of a data set.", max_length=100)]
HEADERS: dict[str, bool | None] = {"auto": None, "true": True, "false": False}


@router.post(
    "",
    status_code=201,
    operation_id="uploadDataset",
    summary="Upload a table",
    openapi_extra=uploads.BODY,
    responses={
        200: {"model": DatasetView, "description": "The same table was there already"},
        **documented(400, 413, 415, 422, 507),
    },
)
async def upload_dataset(
    request: Request,
    response: Response,
    readers: ReadersDep,
    settings: SettingsDep,
    owner: OwnerDep,
    name: Annotated[str | None, Query(description="A name to show; the file's by default.", max_length=200)] = None,
    header: Header = "auto",
) -> DatasetView:
    """CSV, TSV, Parquet, NPY, NPZ or JSON records, gzip allowed: as the field `file` of a form, or as the raw body.

    The answer describes each column. The id is a hash of the content, so the same table twice is one data set, under
    its first name.
    """
    async with uploads.received(request, settings, name, HEADERS[header]) as upload:
        dataset, new = await readers.run(ingest, upload, settings, owner)
    response.status_code = 201 if new else 200
    response.headers["Location"] = f"/datasets/{dataset.id}"
    view = dataset_view(dataset)
    if name not in (None, dataset.name):
        view.notes = [*view.notes, f"This table was there already, as {json.dumps(dataset.name)}; it keeps that name."]
    return view


@router.get("", operation_id="listDatasets", summary="List data sets", responses=documented(422))
def list_datasets(
    store: StoreDep,
    limit: Annotated[int, Query(ge=1, le=1000)] = 50,
    cursor: Annotated[str | None, Query(description="From `next` of the page before.", max_length=200)] = None,
) -> DatasetPage:
    """The newest first."""
    found, after = store.datasets.page(limit, cursors.decode(cursor))
    return DatasetPage(items=[dataset_item(dataset) for dataset in found], next=cursors.encode(after))


@router.get("/{id}", operation_id="getDataset", summary="Describe a data set", responses=documented(404, 422))
def get_dataset(id: DatasetId, store: StoreDep) -> DatasetView:
    """Its columns with types, missing values, ranges or levels, and the first rows."""
    return dataset_view(store.datasets.get(id))


@router.delete(
    "/{id}",
    status_code=204,
    operation_id="deleteDataset",
    summary="Delete a data set",
    responses=documented(404, 409, 422),
)
def delete_dataset(id: DatasetId, store: StoreDep) -> None:
    """Refused while a job that waits or runs needs it."""
    store.datasets.delete(id)
