"""The rows of a data set: some of its columns, and how groups of rows differ from the rest."""

from typing import Annotated

from fastapi import APIRouter, Depends, Query, Request, Response
from pydantic import BaseModel, ConfigDict, Field

from app.deps import ChildrenDep, SettingsDep, StoreDep
from app.http.negotiation import BY_ACCEPT, chosen_format, content, etag_of, is_known, not_modified
from app.http.negotiation import documented as documented_content
from app.problems import documented
from app.routes.datasets import DatasetId
from app.routes.results import TABLE_FORMATS, TABLE_SCHEMA, Format
from app.sandbox import tasks as chores
from app.services.group_differences import GroupView
from ism_jobs.errors import FieldError, InvalidParameter
from ism_jobs.sentences import did_you_mean, listed, named, nearest
from ism_jobs.store import Dataset
from ism_jobs.tables import Column

router = APIRouter(prefix="/datasets/{id}", tags=["data sets"])

MOST_GROUPS = 100

Row = Annotated[int, Field(strict=True, ge=0, lt=2**31)]


def _dataset(id: DatasetId, store: StoreDep) -> Dataset:
    return store.datasets.get(id)


DatasetDep = Annotated[Dataset, Depends(_dataset)]


class Groups(BaseModel):
    """Groups of rows, by their numbers; the first row is 0."""

    model_config = ConfigDict(extra="forbid")

    groups: list[Annotated[list[Row], Field(min_length=1)]] = Field(
        min_length=1, max_length=MOST_GROUPS, examples=[[[0, 1, 2], [5, 8]]]
    )
    columns: list[str] | None = Field(None, description="The columns to compare; all by default.", examples=[["x"]])


class DifferencesView(BaseModel):
    """How each group of rows differs from all other rows of the table."""

    groups: list[GroupView]


@router.get(
    "/rows",
    operation_id="getRows",
    summary="The rows, or some columns of them",
    response_class=Response,
    responses={
        **documented_content(*TABLE_FORMATS, description="The table", json_schema=TABLE_SCHEMA),
        **documented(404, 406, 413, 422),
    },
)
async def get_rows(
    request: Request,
    dataset: DatasetDep,
    children: ChildrenDep,
    settings: SettingsDep,
    column: Annotated[
        list[str] | None, Query(description="The name of a column, once for each; all columns by default.")
    ] = None,
    format: Format = None,
) -> Response:
    """As JSON, CSV, NPY (the numbers only) or Parquet, in the order in which they were uploaded."""
    chosen = chosen_format(request, format, TABLE_FORMATS)
    columns = _columns(dataset, column)
    if chosen == "npy" and all(one.kind == "text" for one in columns):
        sentence = "NPY holds numbers only, and all of these columns are text; ask for json, csv or parquet."
        raise InvalidParameter(sentence, [FieldError("format", sentence)])
    names = [one.name for one in columns]
    etag = etag_of(dataset.id, names, chosen)
    if is_known(request, etag):
        return not_modified(etag, BY_ACCEPT)
    body = await children.run(chores.select, dataset.id, names, chosen, settings)
    return content(request, body, chosen, f"rows-{dataset.id}", etag, BY_ACCEPT)


@router.post(
    "/differences",
    operation_id="compareRows",
    summary="How groups of rows differ from the rest",
    responses=documented(404, 413, 422),
)
async def compare_rows(
    dataset: DatasetDep, groups: Groups, children: ChildrenDep, settings: SettingsDep
) -> DifferencesView:
    """Means of numbers and shares of texts, in each group and in all rows outside it, the largest difference first."""
    columns = _columns(dataset, groups.columns)
    rows = dataset.description.rows
    last = max(map(max, groups.groups))
    if last >= rows:
        sentence = f"There is no row {last:,}; the table has {rows:,} rows, and the first is row 0."
        raise InvalidParameter(sentence, [FieldError("groups", sentence)])
    found = await children.run(chores.contrast, dataset.id, columns, groups.groups, settings)
    return DifferencesView(groups=found)


def _columns(dataset: Dataset, names: list[str] | None) -> list[Column]:
    """The columns of these names, each once."""
    columns = {column.name: column for column in dataset.description.columns}
    if not names:
        return list(columns.values())
    for name in names:
        if name not in columns:
            there = f"the table has {listed(list(columns), quoted=True)}."
            sentence = did_you_mean(f"There is no column {named(name)}", nearest(name, columns), there)
            raise InvalidParameter(sentence, [FieldError("column", sentence)])
    return [columns[name] for name in dict.fromkeys(names)]
