"""What the API answers with: the documents, and how they are made from what is kept."""

from datetime import UTC, datetime
from typing import Any

from pydantic import BaseModel, Field

from app.problems import ProblemView
from ism_jobs.store import Dataset, Record, State
from ism_jobs.tables import Column

TABLES = ("W", "embedding", "labels", "stability", "trace", "metrics")
PLOTS = ("embedding", "loadings", "trace")


class DatasetView(BaseModel):
    """A data set: its columns with their types, what is missing, ranges or levels, and its first rows."""

    id: str = Field(description="A hash of the content and its owner: the same table, uploaded again, has the same id.")
    name: str
    rows: int
    columns: list[Column]
    preview: list[list[float | str | None]] = Field(description="The first rows.")
    format: str = Field(description="The format it was uploaded in.", examples=["csv"])
    notes: list[str] = Field(description="What was assumed when it was read.")
    bytes: int = Field(description="Its size as uploaded.")
    created: datetime
    links: dict[str, str]


class DatasetItem(BaseModel):
    """A data set in a list."""

    id: str
    name: str
    rows: int
    columns: int
    created: datetime


class DatasetPage(BaseModel):
    """Data sets, the newest first."""

    items: list[DatasetItem]
    next: str | None = Field(description="The cursor of the next page; null at the end.")


class ProgressView(BaseModel):
    """How far a running job is."""

    stage: str = Field(examples=["ascent"])
    iteration: int
    max_iter: int
    objective: float | None
    change: float | None
    angle: float | None
    elapsed_seconds: float
    remaining_seconds: float | None = Field(description="An estimate; null while there is nothing to base one on.")
    fold: int | None = None
    folds: int | None = None
    trying: dict[str, Any] | None = Field(
        None, description="While settings are chosen: the scale and q in hand, how many were tried, the best score."
    )


class JobView(BaseModel):
    """A job and where it stands."""

    id: str
    state: State
    label: str | None
    metadata: dict[str, str]
    dataset: str
    batch: str | None
    spec: dict[str, Any] = Field(description="The job as it was posted, defaults filled in.")
    created: datetime
    started: datetime | None
    finished: datetime | None
    attempt: int = Field(description="How often a worker has begun it.")
    position: int | None = Field(description="How many jobs wait before it; null once it has begun, and in lists.")
    progress: ProgressView | None
    error: ProblemView | None
    metrics: dict[str, int | float | None] | None = Field(description="Once it has succeeded.")
    links: dict[str, str]


class JobPage(BaseModel):
    """Jobs, the newest first."""

    items: list[JobView]
    next: str | None = Field(description="The cursor of the next page; null at the end.")


def dataset_view(dataset: Dataset) -> DatasetView:
    """All that is known of a data set."""
    description = dataset.description
    return DatasetView(
        id=dataset.id,
        name=dataset.name,
        rows=description.rows,
        columns=description.columns,
        preview=description.preview,
        format=description.format,
        notes=description.notes,
        bytes=dataset.size,
        created=_time(dataset.created),
        links={"self": f"/datasets/{dataset.id}", "jobs": f"/jobs?dataset={dataset.id}"},
    )


def dataset_item(dataset: Dataset) -> DatasetItem:
    """A data set in a list."""
    description = dataset.description
    return DatasetItem(
        id=dataset.id,
        name=dataset.name,
        rows=description.rows,
        columns=len(description.columns),
        created=_time(dataset.created),
    )


def job_view(record: Record, position: int | None = None) -> JobView:
    """All that is known of a job."""
    return JobView(
        id=record.id,
        state=record.state,
        label=record.spec.get("label"),
        metadata=record.spec.get("metadata") or {},
        dataset=record.dataset,
        batch=record.batch,
        spec=record.spec,
        created=_time(record.created),
        started=_time(record.started) if record.started else None,
        finished=_time(record.finished) if record.finished else None,
        attempt=record.attempt,
        position=position,
        progress=ProgressView(**record.progress) if record.progress else None,
        error=ProblemView(**record.error) if record.error else None,
        metrics=record.summary["metrics"] if record.summary else None,
        links=_links(record),
    )


def _links(record: Record) -> dict[str, str]:
    self = f"/jobs/{record.id}"
    links = {"self": self, "events": f"{self}/events"}
    if not record.state.ended:
        links["cancel"] = f"{self}/cancel"
    if record.state is State.SUCCEEDED:
        tables = [name for name in TABLES if name in record.artifacts]
        links |= {name: f"{self}/{name}" for name in ("result", *tables, "model", "transform")}
        links |= {f"{name}_plot": f"{self}/plots/{name}.svg" for name in PLOTS}
    if record.batch:
        links["batch"] = f"/batches/{record.batch}"
    return links


def _time(seconds: float) -> datetime:
    return datetime.fromtimestamp(seconds, UTC)
