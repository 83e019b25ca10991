"""Comparing the jobs of a batch: their settings and metrics side by side, best first."""

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa

from app.links import batch_links
from app.schemas import BatchItem, BatchRow, BatchView, utc
from ism_jobs.spec import GRID_FIELDS
from ism_jobs.store import Batch, Position, Record, State, Store

# The metrics that jobs are sorted by, in order of preference. The first one that all succeeded jobs have is used.
COMPARISON_METRICS = {
    "supervised": ("accuracy", "r2", "hsic_normalized"),
    "unsupervised": ("nmi_reference", "silhouette"),
    "semi_supervised": ("nmi_reference", "silhouette"),
    "alternative": ("nmi_reference", "novelty"),
}
SETTINGS = ("paradigm", *GRID_FIELDS)  # fields of a spec in which the jobs of a batch may differ


def read_batch(store: Store, id: str) -> BatchView:
    """Return a batch with its jobs, and the names of their data sets."""
    batch = store.batches.get(id)
    records = store.batches.records(batch)
    return batch_view(batch, records, store.datasets.names({record.dataset for record in records}))


def batch_page(store: Store, limit: int, after: Position | None) -> tuple[list[BatchItem], Position | None]:
    """Return a page of batches, and the position after which the next page begins."""
    batches, last = store.batches.page(limit, after)
    states = store.batches.states(batches)
    return [_item(*each) for each in zip(batches, states, strict=True)], last


def _item(batch: Batch, states: Counter[State]) -> BatchItem:
    return BatchItem(
        id=batch.id,
        label=batch.label,
        created=utc(batch.created),
        states={state.value: states[state] for state in State if states[state]},
        links=batch_links(batch.id),
    )


def batch_view(batch: Batch, records: Sequence[Record], names: Mapping[str, str]) -> BatchView:
    """Return the comparison as a document; `names` are those of the data sets, by id."""
    metric = _comparison_metric(records)
    rows = [_row(record, names.get(record.dataset)) for record in records]
    if metric is not None:
        rows.sort(key=lambda row: -_value(row, metric))
    item = _item(batch, Counter(record.state for record in records))
    return BatchView(**item.model_dump(), metric=metric, jobs=rows)


def batch_table(view: BatchView) -> pa.Table:
    """Return the comparison as a table."""
    settings = list(dict.fromkeys(name for row in view.jobs for name in row.settings))
    metrics = list(dict.fromkeys(name for row in view.jobs for name in row.metrics))
    columns: dict[str, pa.Array] = {
        "job": pa.array([row.id for row in view.jobs], pa.string()),
        "state": pa.array([row.state.value for row in view.jobs], pa.string()),
        "label": pa.array([row.label for row in view.jobs], pa.string()),
        "dataset_name": pa.array([row.dataset_name for row in view.jobs], pa.string()),
        "target": pa.array([_text(row.target) for row in view.jobs], pa.string()),
    }
    for name in settings:
        columns[name] = pa.array([_text(row.settings.get(name)) for row in view.jobs], pa.string())
    columns["sigma"] = pa.array([row.sigma for row in view.jobs], pa.float64())
    for name in metrics:
        column = f"{name}_found" if name in columns else name  # clusters and folds are both settings and metrics
        columns[column] = pa.array([row.metrics.get(name) for row in view.jobs], pa.float64())
    columns["error"] = pa.array([row.error for row in view.jobs], pa.string())
    return pa.table(columns)


def _row(record: Record, dataset_name: str | None) -> BatchRow:
    kernel = (record.summary or {}).get("kernel") or record.spec.get("kernel")
    sigma = kernel.get("sigma") if isinstance(kernel, dict) else None
    return BatchRow(
        id=record.id,
        state=record.state,
        label=record.spec.get("label"),
        dataset_name=dataset_name,
        target=record.spec.get("target"),
        sigma=sigma if isinstance(sigma, int | float) else None,
        settings={name: record.spec[name] for name in SETTINGS if record.spec.get(name) is not None},
        metrics=record.summary["metrics"] if record.summary else {},
        error=record.error["detail"] if record.error else None,
    )


def _comparison_metric(records: Sequence[Record]) -> str | None:
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
