"""A batch as a table: its jobs, what differs between them, and how good each is, the best first."""

import json
from datetime import UTC, datetime
from typing import Any

import pyarrow as pa
from pydantic import BaseModel, Field

from ism_jobs.spec import GRID_FIELDS
from ism_jobs.store import Record, State

# By what jobs of a paradigm are compared: the first measure that all that succeeded have.
MEASURES = {
    "supervised": ("accuracy", "r2", "hsic_normalized"),
    "unsupervised": ("nmi_reference", "silhouette"),
    "semi_supervised": ("nmi_reference", "silhouette"),
    "alternative": ("nmi_reference", "novelty"),
}
SETTINGS = ("dataset", "paradigm", *GRID_FIELDS)


class BatchRow(BaseModel):
    """One job of a batch."""

    id: str
    state: State
    label: str | None
    settings: dict[str, Any] = Field(description="What the job was asked for.")
    metrics: dict[str, int | float | None] = Field(description="What it found; empty until it has succeeded.")
    error: str | None


class BatchView(BaseModel):
    """The jobs of a batch, the best first."""

    id: str
    created: datetime
    states: dict[str, int] = Field(description="How many jobs are in each state.", examples=[{"succeeded": 4}])
    metric: str | None = Field(description="What the jobs are sorted by; null until one has succeeded.")
    jobs: list[BatchRow]
    links: dict[str, str]


def batch_view(id: str, created: float, records: list[Record]) -> BatchView:
    """The comparison as a document."""
    metric = _measure(records)
    rows = [_row(record) for record in records]
    if metric is not None:
        rows.sort(key=lambda row: -_value(row, metric))
    states = {state.value: sum(record.state is state for record in records) for state in State}
    return BatchView(
        id=id,
        created=datetime.fromtimestamp(created, UTC),
        states={state: count for state, count in states.items() if count},
        metric=metric,
        jobs=rows,
        links={"self": f"/batches/{id}", "csv": f"/batches/{id}?format=csv", "jobs": f"/jobs?batch={id}"},
    )


def batch_table(view: BatchView) -> pa.Table:
    """The comparison as a table."""
    settings = list(dict.fromkeys(name for row in view.jobs for name in row.settings))
    metrics = list(dict.fromkeys(name for row in view.jobs for name in row.metrics))
    columns: dict[str, pa.Array] = {
        "job": pa.array([row.id for row in view.jobs], pa.string()),
        "state": pa.array([row.state.value for row in view.jobs], pa.string()),
        "label": pa.array([row.label for row in view.jobs], pa.string()),
    }
    for name in settings:
        columns[name] = pa.array([_text(row.settings.get(name)) for row in view.jobs], pa.string())
    for name in metrics:
        column = f"{name}_found" if name in columns else name  # clusters, folds: asked for, and found
        columns[column] = pa.array([row.metrics.get(name) for row in view.jobs], pa.float64())
    return pa.table(columns)


def _row(record: Record) -> BatchRow:
    return BatchRow(
        id=record.id,
        state=record.state,
        label=record.spec.get("label"),
        settings={name: record.spec[name] for name in SETTINGS if record.spec.get(name) is not None},
        metrics=record.summary["metrics"] if record.summary else {},
        error=record.error["detail"] if record.error else None,
    )


def _measure(records: list[Record]) -> str | None:
    done = [record for record in records if record.summary is not None]
    if not done:
        return None
    candidates = [name for record in done for name in MEASURES[record.spec["paradigm"]]]
    shared = [name for name in dict.fromkeys(candidates) if all(name in _metrics(record) for record in done)]
    return shared[0] if shared else "objective"


def _metrics(record: Record) -> dict[str, float | None]:
    return {} if record.summary is None else record.summary["metrics"]


def _value(row: BatchRow, metric: str) -> float:
    value = row.metrics.get(metric)
    return float("-inf") if value is None else value


def _text(value: Any) -> str | None:
    return value if value is None or isinstance(value, str) else json.dumps(value)
