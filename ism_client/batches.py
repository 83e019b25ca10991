"""Batches: several jobs that were posted together, compared by their metric."""

import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Self

from ism_client.datasets import parse_time
from ism_client.events import ENDED, check_deadline, remaining
from ism_client.jobs import Job
from ism_client.pictures import table_html
from ism_client.progress import ProgressBar
from ism_client.transport import PATIENT_RETRIES, Http, path_of, run

FIRST_POLL_SECONDS, MAX_POLL_SECONDS = 0.25, 5.0  # pause between two polls: the first, and the longest
POLL_GROWTH = 1.5  # factor by which each pause is longer than the one before


@dataclass
class BatchFields:
    """A batch as the service last described it, and what can be asked of the service, for both clients."""

    id: str
    label: str | None = None
    created: datetime | None = None
    states: dict[str, int] = field(default_factory=dict)  # number of jobs in each state
    metric: str | None = None  # the metric that the jobs are sorted by
    document: dict[str, Any] = field(default_factory=dict, repr=False, compare=False)  # the full answer of the service
    _http: Http = field(kw_only=True, repr=False, compare=False)

    @classmethod
    def of(cls, http: Http, document: Mapping[str, Any]) -> Self:
        """Create it from an answer of the service."""
        batch = cls(document["id"], _http=http)
        batch._update(document)
        return batch

    @property
    def ended(self) -> bool:
        """Whether all jobs have ended."""
        return sum(self.states.values()) == self._ended_jobs()

    def _repr_html_(self) -> str:
        if "jobs" not in self.document:  # a batch of a list
            return table_html(("batch", *self.states), [[self.id, *map(str, self.states.values())]])
        heads = ("id", "state", "kernel", "q", *([self.metric] if self.metric else []))
        rows = [_flat(job) for job in self.document.get("jobs") or ()]
        return table_html(heads, [[_cell(row.get(name)) for name in heads] for row in rows])

    async def _refresh(self) -> Self:
        self._update(await self._http.json("GET", path_of("batches", self.id), retries=PATIENT_RETRIES))
        return self

    async def _wait(self, progress: bool | None, timeout: float | None) -> Self:
        deadline = None if timeout is None else time.monotonic() + timeout
        interval = FIRST_POLL_SECONDS
        with ProgressBar(progress, unit="job") as bar:
            while not (await self._refresh()).ended:
                running = f"{self.states.get('running', 0)} running"
                bar.show("Jobs", self._ended_jobs(), sum(self.states.values()), running)
                check_deadline(deadline)
                await self._http.wire.sleep(remaining(deadline, interval))
                interval = min(MAX_POLL_SECONDS, interval * POLL_GROWTH)
            bar.show("Jobs", self._ended_jobs(), sum(self.states.values()))
        return self

    async def _table(self) -> list[dict[str, Any]]:
        await self._refresh()
        return [_flat(job) for job in self.document.get("jobs") or ()]

    async def _jobs(self) -> list[dict[str, Any]]:
        return [await self._job(row["id"]) for row in await self._table()]

    async def _best(self) -> dict[str, Any]:
        for row in await self._table():
            if row.get("state") == "succeeded":
                return await self._job(row["id"])
        raise LookupError(f"No job of batch {self.id} has succeeded; its states are {self.states}.")

    async def _job(self, id: str) -> dict[str, Any]:
        document: dict[str, Any] = await self._http.json("GET", path_of("jobs", id))
        return document

    async def _csv(self) -> str:
        return (await self._http.request("GET", path_of("batches", self.id), params={"format": "csv"})).text

    async def _do(self, action: str) -> Self:
        """Post "cancel" or "retry"."""
        self._update(await self._http.json("POST", path_of("batches", self.id, action)))
        return self

    async def _delete(self) -> None:
        await self._http.request("DELETE", path_of("batches", self.id))

    def _ended_jobs(self) -> int:
        return sum(count for state, count in self.states.items() if state in ENDED)

    def _update(self, document: Mapping[str, Any]) -> None:
        self.label = document.get("label")
        self.created = parse_time(document.get("created"))
        self.states = dict(document.get("states") or {})
        self.metric = document.get("metric")
        self.document = dict(document)


class Batch(BatchFields):
    """A batch as the service last described it.

    batch = client.submit_batch(dataset=dataset, paradigm="supervised", target="class", q=[2, 3])
    batch.wait(progress=True)
    print(batch.best().id, batch.table())
    """

    def refresh(self) -> Self:
        """Get the current state from the service."""
        return run(self._refresh())

    def wait(self, *, progress: bool | None = None, timeout: float | None = None) -> Self:
        """Wait until all jobs have ended, successfully or not. Raises TimeoutError after `timeout` seconds.

        client.batch(id).wait(timeout=600)
        """
        return run(self._wait(progress, timeout))

    def table(self) -> list[dict[str, Any]]:
        """Return a row for each job, best first: its id, state, settings and metrics.

        for row in client.batch(id).table():
            print(row["kernel"], row["q"], row["accuracy"])
        """
        return run(self._table())

    def frame(self) -> Any:
        """Return the table as a pandas DataFrame."""
        import pandas

        return pandas.DataFrame(self.table())

    def jobs(self) -> list[Job]:
        """Return the jobs in the order of the table."""
        return [Job.of(self._http, document) for document in run(self._jobs())]

    def best(self) -> Job:
        """Return the best job by the metric. Raises LookupError if no job has succeeded yet."""
        return Job.of(self._http, run(self._best()))

    def csv(self) -> str:
        """Return the table as CSV."""
        return run(self._csv())

    def cancel(self) -> Self:
        """Cancel every job that has not ended."""
        return run(self._do("cancel"))

    def retry(self) -> Self:
        """Queue every job that has failed once more.

        client.batch(id).retry().wait()
        """
        return run(self._do("retry"))

    def delete(self) -> None:
        """Delete the batch and its jobs. Raises ApiError (409) while a job is queued or running."""
        run(self._delete())


def _flat(job: Mapping[str, Any]) -> dict[str, Any]:
    row = {name: value for name, value in job.items() if name not in ("settings", "metrics")}
    return {**row, **(job.get("settings") or {}), **(job.get("metrics") or {})}


def _cell(value: Any) -> str:
    return "" if value is None else f"{value:.4g}" if isinstance(value, float) else str(value)
