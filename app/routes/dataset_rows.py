"""The rows of a data set: reading some columns, and comparing groups of rows."""

from typing import Annotated

from fastapi import APIRouter, Depends, Query, Request, Response

from app.dependencies import SandboxDep, StoreDep
from app.http import TAGS, VARY_ACCEPT, file_response, file_responses, negotiate_format, not_modified
from app.problems import problem_responses
from app.routes.parameters import TABLE_FORMATS, TABLE_SCHEMA, DatasetId, FormatParameter
from app.sandbox import select_rows
from app.schemas import DifferencesView, Groups, GroupView
from app.services import compare_groups, selected_rows
from ism_jobs.errors import FieldError, InvalidParameter
from ism_jobs.sentences import did_you_mean, listed, named, nearest
from ism_jobs.store import Dataset
from ism_jobs.tables import Column

router = APIRouter(prefix="/datasets/{id}", tags=["data sets"])


def _dataset(id: DatasetId, store: StoreDep) -> Dataset:
    return store.datasets.get(id)


DatasetDep = Annotated[Dataset, Depends(_dataset)]


@router.get(
    "/rows",
    operation_id="getRows",
    summary="Get the rows, or some columns of them",
    response_class=Response,
    responses={
        **file_responses(*TABLE_FORMATS, description="The table", json_schema=TABLE_SCHEMA),
        **problem_responses(404, 406, 413, 422),
    },
)
async def get_rows(
    request: Request,
    dataset: DatasetDep,
    store: StoreDep,
    sandbox: SandboxDep,
    column: Annotated[
        list[str] | None, Query(description="The name of a column; repeat it for several. All columns by default.")
    ] = None,
    offset: Annotated[int, Query(description="The number of rows to skip.", ge=0, le=2**53)] = 0,
    limit: Annotated[
        int | None, Query(description="The largest number of rows; all by default.", ge=1, le=2**53)
    ] = None,
    format: FormatParameter = None,
) -> Response:
    """The rows in upload order, as JSON, CSV, NPY (numeric columns only) or Parquet."""
    chosen = negotiate_format(request, format, TABLE_FORMATS)
    columns = _columns(dataset, column)
    if chosen == "npy" and all(one.kind == "text" for one in columns):
        sentence = "NPY holds numbers only, but all of these columns are text; use json, csv or parquet."
        raise InvalidParameter(sentence, [FieldError("format", sentence)])
    names = [one.name for one in columns]
    name = (dataset.id, *names, chosen, offset, limit)
    if etag := TAGS.known(request, name):
        return not_modified(etag, VARY_ACCEPT)
    body = await sandbox.run(select_rows, store.datasets.iter_packed(dataset.id), names, chosen, offset, limit)
    return file_response(request, body, chosen, f"rows-{dataset.id}", VARY_ACCEPT, name)


@router.post(
    "/differences",
    operation_id="compareRows",
    summary="Compare groups of rows with the rest",
    responses=problem_responses(404, 413, 422),
)
async def compare_rows(dataset: DatasetDep, groups: Groups, store: StoreDep, sandbox: SandboxDep) -> DifferencesView:
    """Compare the means of numbers and the shares of texts in each group with those in all other rows."""
    columns = _columns(dataset, groups.columns)
    rows = selected_rows(groups, dataset.description.rows)
    found = await sandbox.run(compare_groups, store.datasets.iter_packed(dataset.id), columns, rows)
    return DifferencesView(groups=[GroupView.model_validate(group) for group in found])


def _columns(dataset: Dataset, names: list[str] | None) -> list[Column]:
    """Return the columns with these names, without duplicates; all columns if there are no names."""
    columns = {column.name: column for column in dataset.description.columns}
    if not names:
        return list(columns.values())
    for name in names:
        if name not in columns:
            known = f"the table has {listed(list(columns), quoted=True)}."
            sentence = did_you_mean(f"There is no column {named(name)}", nearest(name, columns), known)
            raise InvalidParameter(sentence, [FieldError("column", sentence)])
    return [columns[name] for name in dict.fromkeys(names)]
