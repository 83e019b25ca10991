"""The time and memory that a planned job will probably take, from earlier jobs on tables of a similar size."""

import json
from collections.abc import Mapping
from statistics import median
from typing import Any

from app.schemas import EstimateView
from ism_jobs.errors import NotFound
from ism_jobs.store import JobFilter, Record, State, Store

MOST_JOBS = 200  # of the latest jobs that have succeeded
SIMILAR = 4  # largest ratio between the numbers of cells of two similar tables


class Estimator:
    """Estimates from the latest jobs of the owner. It reads them once, when it is made."""

    def __init__(self, store: Store) -> None:
        succeeded = JobFilter(frozenset({State.SUCCEEDED}))
        self._earlier = store.jobs.page(MOST_JOBS, None, succeeded)[0]
        self._cells = _cells(store, {record.dataset for record in self._earlier})

    def of(self, spec: Mapping[str, Any], cells: int) -> EstimateView | None:
        """Return the medians over similar jobs; None if there are none."""
        similar = [record for record in self._earlier if self._is_similar(record, spec, cells)]
        seconds = [time for record in similar if (time := _metric(record, "seconds_total")) is not None]
        memory = [bytes for record in similar if (bytes := _metric(record, "peak_memory_bytes")) is not None]
        if not seconds:
            return None
        return EstimateView(
            jobs=len(similar), seconds=median(seconds), memory_bytes=int(median(memory)) if memory else None
        )

    def _is_similar(self, record: Record, spec: Mapping[str, Any], cells: int) -> bool:
        """Return whether a job had the same paradigm and kind of kernel, and a table of a similar size."""
        own = self._cells.get(record.dataset, 0)
        if own > SIMILAR * cells or cells > SIMILAR * own:
            return False
        return all(_kind(record.spec.get(name)) == _kind(spec.get(name)) for name in ("paradigm", "kernel", "q"))


def _cells(store: Store, datasets: set[str]) -> dict[str, int]:
    found = {}
    for id in datasets:
        try:
            description = store.datasets.get(id).description
        except NotFound:  # deleted since
            continue
        found[id] = description.rows * len(description.columns)
    return found


def _kind(value: Any) -> str:
    """Return what of a setting the time depends on: the name of a kernel, and whether it is to be chosen."""
    if isinstance(value, dict) and "name" in value:
        return f"{value['name']} auto" if "auto" in value.values() else str(value["name"])
    return value if isinstance(value, str) else json.dumps(value)


def _metric(record: Record, name: str) -> float | None:
    value: float | None = (record.summary or {}).get("metrics", {}).get(name)
    return value
