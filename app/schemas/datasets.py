"""Documents about data sets: their columns, pages of them, and the differences between groups of rows."""

from datetime import UTC, datetime
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field

from app.links import dataset_links
from ism_jobs.checks import column_use
from ism_jobs.store import Dataset
from ism_jobs.tables import Column, Description

MAX_GROUPS = 100  # groups of rows in one request; each needs its own pass over the values of every column

Row = Annotated[int, Field(strict=True, ge=0, lt=2**31)]


class ColumnView(Column):
    """One column of a data set, and what a job makes of it unless the job says otherwise."""

    use: Literal["feature", "left_out"] = Field(
        description='Whether a job with features = "auto" learns from it. A column with another role is no feature.'
    )
    reason: str | None = Field(description="Why it is left out.", examples=["it numbers the rows"])

    @classmethod
    def of(cls, column: Column, rows: int) -> Self:
        """Return the document of a column."""
        reason = column_use(column, rows).reason
        return cls(**dict(column), use="feature" if reason is None else "left_out", reason=reason)


def table_document(name: str, description: Description) -> dict[str, Any]:
    """Return what a report says about a table."""
    columns = [ColumnView.of(column, description.rows).model_dump(mode="json") for column in description.columns]
    return {"name": name, "rows": description.rows, "columns": columns}


class DatasetView(BaseModel):
    """A data set: its columns with types, missing values, ranges or levels, and its first rows."""

    id: str = Field(
        description="A hash of the content and its owner. Uploading the same table again gives the same id."
    )
    name: str = Field(description="The name to show, by default the name of the uploaded file.")
    rows: int = Field(description="The number of rows.")
    columns: list[ColumnView] = Field(description="The columns, in the order of the table.")
    preview: list[list[float | str | None]] = Field(description="The first rows.")
    format: str = Field(description="The format of the uploaded file.", examples=["csv"])
    notes: list[str] = Field(description="Assumptions that were made while reading the file.")
    bytes: int = Field(description="The size of the uploaded file, or of all files of a table by reference, in bytes.")
    uri: str | None = Field(
        None, description="Where the rows of a data set by reference stay; null if they were uploaded."
    )
    sampled: int | None = Field(
        None, description="The number of rows that the columns are described by; null if it is all of them."
    )
    created: datetime = Field(description="The time of the upload.")
    links: dict[str, str] = Field(description="Paths of related resources.")


class TableReference(BaseModel):
    """A table whose rows stay where they are: Parquet or CSV files on a mounted path, in an object store or on the web.

    The service reads the footers of the files and a sample of the rows. Jobs read the rows part by part.
    """

    model_config = ConfigDict(extra="forbid")

    uri: str = Field(
        description="A file, a folder, or the files of a folder by a pattern such as *.csv; inside a place that the"
        " service allows (ISM_TABLE_ROOTS).",
        min_length=1,
        max_length=2_000,
        examples=["s3://bucket/rows/", "/data/rows/*.csv", "https://example.org/rows.parquet"],
    )
    name: str | None = Field(None, description="A name to show; by default the last part of the URI.", max_length=200)


class DatasetItem(BaseModel):
    """A data set in a list."""

    id: str = Field(description="The id of the data set.")
    name: str = Field(description="The name to show.")
    rows: int = Field(description="The number of rows.")
    columns: int = Field(description="The number of columns.")
    created: datetime = Field(description="The time of the upload.")


class DatasetPage(BaseModel):
    """One page of data sets, newest first."""

    items: list[DatasetItem] = Field(description="The data sets of this page.")
    next: str | None = Field(description="The cursor of the next page; null on the last page.")
    links: dict[str, str] = Field({}, description="Paths of this page, and of the next one if there is one.")


class Groups(BaseModel):
    """Groups of rows to compare with the rest of the table. Rows are numbered from 0."""

    model_config = ConfigDict(extra="forbid")

    groups: list[Annotated[list[Row], Field(min_length=1)]] | None = Field(
        None,
        description="The row numbers of each group.",
        min_length=1,
        max_length=MAX_GROUPS,
        examples=[[[0, 1, 2], [5, 8]]],
    )
    masks: list[str] | None = Field(
        None,
        description="The rows of each group as bits in base64, instead of `groups`: a bit for each row of the table,"
        " the first row in the lowest bit of the first byte. They are short if the table is long.",
        min_length=1,
        max_length=MAX_GROUPS,
        examples=[["BwE="]],
    )
    columns: list[str] | None = Field(None, description="The columns to compare; all by default.", examples=[["x"]])


class DifferenceView(BaseModel):
    """One column in a group of rows, compared with all other rows."""

    column: str = Field(description="The name of the column.")
    level: str | None = Field(
        description="For a text column, the level whose share differs most; null for a numeric column."
    )
    group: float | None = Field(
        description="The mean, or the share of the level, in the group; null if all its values are missing."
    )
    rest: float | None = Field(description="The mean, or the share of the level, in all other rows.")
    difference: float | None = Field(
        description="Group minus rest, in standard deviations of the whole column; null if it cannot be computed."
    )
    error: float | None = Field(
        description="The standard error of the difference; null if a side has fewer than two values."
    )


class GroupView(BaseModel):
    """A group of rows compared with all other rows."""

    rows: int = Field(description="The number of rows in the group.")
    differences: list[DifferenceView] = Field(description="One entry per column, largest difference first.")


class DifferencesView(BaseModel):
    """How each group of rows differs from all other rows of the table."""

    groups: list[GroupView] = Field(description="One entry per group, in the order of the request.")


def dataset_view(dataset: Dataset) -> DatasetView:
    """Return the full document of a data set."""
    description = dataset.description
    return DatasetView(
        id=dataset.id,
        name=dataset.name,
        rows=description.rows,
        columns=[ColumnView.of(column, description.rows) for column in description.columns],
        preview=description.preview,
        format=description.format,
        notes=description.notes,
        bytes=dataset.size,
        uri=description.uri,
        sampled=description.sampled,
        created=utc(dataset.created),
        links=dataset_links(dataset.id),
    )


def dataset_item(dataset: Dataset) -> DatasetItem:
    """Return the short document of a data set, for lists."""
    description = dataset.description
    return DatasetItem(
        id=dataset.id,
        name=dataset.name,
        rows=description.rows,
        columns=len(description.columns),
        created=utc(dataset.created),
    )


def utc(seconds: float) -> datetime:
    """Convert seconds since the epoch, as the store keeps them, into a time in UTC."""
    return datetime.fromtimestamp(seconds, UTC)
