"""Comparing the jobs of a batch: their settings and metrics side by side, best first."""

import json
from typing import Any

import pyarrow as pa

from app.links import batch_links
from app.schemas import BatchRow, BatchView, utc
from ism_jobs.spec import GRID_FIELDS
from ism_jobs.store import Record, State

# The metrics that jobs are sorted by, in order of preference. The first one that all succeeded jobs have is used.
COMPARISON_METRICS = {
    "supervised": ("accuracy", "r2", "hsic_normalized"),
    "unsupervised": ("nmi_reference", "silhouette"),
    "semi_supervised": ("nmi_reference", "silhouette"),
    "alternative": ("nmi_reference", "novelty"),
}
SETTINGS = ("dataset", "paradigm", *GRID_FIELDS)  # fields of a spec in which the jobs of a batch may differ


def batch_view(id: str, created: float, records: list[Record]) -> BatchView:
    """Return the comparison as a document."""
    metric = _comparison_metric(records)
    rows = [_row(record) for record in records]
    if metric is not None:
        rows.sort(key=lambda row: -_value(row, metric))
    states = {state.value: sum(record.state is state for record in records) for state in State}
    return BatchView(
        id=id,
        created=utc(created),
        states={state: count for state, count in states.items() if count},
        metric=metric,
        jobs=rows,
        links=batch_links(id),
    )


def batch_table(view: BatchView) -> pa.Table:
    """Return the comparison as a table."""
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
        column = f"{name}_found" if name in columns else name  # clusters and folds are both settings and metrics
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


def _comparison_metric(records: list[Record]) -> str | None:
    done = [record for record in records if record.summary is not None]
    if not done:
        return None
    candidates = [name for record in done for name in COMPARISON_METRICS[record.spec["paradigm"]]]
    shared = [name for name in dict.fromkeys(candidates) if all(name in _metrics(record) for record in done)]
    return shared[0] if shared else "objective"


def _metrics(record: Record) -> dict[str, float | None]:
    return {} if record.summary is None else record.summary["metrics"]


def _value(row: BatchRow, metric: str) -> float:
    value = row.metrics.get(metric)
    return float("-inf") if value is None else value


def _text(value: Any) -> str | None:
    return value if value is None or isinstance(value, str) else json.dumps(value)
