"""Batches: several jobs that were posted together, compared by their metric."""

import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Self

from ism_client.datasets import parse_time
from ism_client.events import ENDED, check_deadline, remaining
from ism_client.http import PATIENT_RETRIES, Http, path_of
from ism_client.jobs import Job
from ism_client.progress import ProgressBar

FIRST_POLL_SECONDS, MAX_POLL_SECONDS = 0.25, 5.0  # pause between two polls: the first, and the longest
POLL_GROWTH = 1.5  # factor by which each pause is longer than the one before


@dataclass
class Batch:
    """A batch as the service last described it.

    batch = client.submit_batch(dataset=dataset, paradigm="supervised", target="class", q=[2, 3])
    batch.wait(progress=True)
    print(batch.best().id, batch.table())
    """

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

    def refresh(self) -> Self:
        """Get the current state from the service."""
        self._update(self._http.json("GET", path_of("batches", self.id), retries=PATIENT_RETRIES))
        return self

    def wait(self, *, progress: bool | None = None, timeout: float | None = None) -> Self:
        """Wait until all jobs have ended, successfully or not. Raises TimeoutError after `timeout` seconds.

        client.batch(id).wait(timeout=600)
        """
        deadline = None if timeout is None else time.monotonic() + timeout
        interval = FIRST_POLL_SECONDS
        with ProgressBar(progress, unit="job") as bar:
            while not self.refresh().ended:
                bar.show(
                    "Jobs", self._ended_jobs(), sum(self.states.values()), f"{self.states.get('running', 0)} running"
                )
                check_deadline(deadline)
                self._http.sleep(remaining(deadline, interval))
                interval = min(MAX_POLL_SECONDS, interval * POLL_GROWTH)
            bar.show("Jobs", self._ended_jobs(), sum(self.states.values()))
        return self

    def table(self) -> list[dict[str, Any]]:
        """Return a row for each job, best first: its id, state, settings and metrics.

        for row in client.batch(id).table():
            print(row["kernel"], row["q"], row["accuracy"])
        """
        self.refresh()
        return [_flat(job) for job in self.document.get("jobs") or ()]

    def frame(self) -> Any:
        """Return the table as a pandas DataFrame."""
        import pandas

        return pandas.DataFrame(self.table())

    def jobs(self) -> list[Job]:
        """Return the jobs in the order of the table."""
        self.refresh()
        return [
            Job.of(self._http, self._http.json("GET", path_of("jobs", job["id"])))
            for job in self.document.get("jobs") or ()
        ]

    def best(self) -> Job:
        """Return the best job by the metric. Raises LookupError if no job has succeeded yet."""
        for row in self.table():
            if row.get("state") == "succeeded":
                return Job.of(self._http, self._http.json("GET", path_of("jobs", row["id"])))
        raise LookupError(f"No job of batch {self.id} has succeeded; its states are {self.states}.")

    def csv(self) -> str:
        """Return the table as CSV."""
        return self._http.request("GET", path_of("batches", self.id), params={"format": "csv"}).text

    def cancel(self) -> Self:
        """Cancel every job that has not ended."""
        self._update(self._http.json("POST", path_of("batches", self.id, "cancel")))
        return self

    def retry(self) -> Self:
        """Queue every job that has failed once more.

        client.batch(id).retry().wait()
        """
        self._update(self._http.json("POST", path_of("batches", self.id, "retry")))
        return self

    def delete(self) -> None:
        """Delete the batch and its jobs. Raises ApiError (409) while a job is queued or running."""
        self._http.request("DELETE", path_of("batches", self.id))

    def _ended_jobs(self) -> int:
        return sum(count for state, count in self.states.items() if state in ENDED)

    def _update(self, document: Mapping[str, Any]) -> None:
        self.label = document.get("label")
        self.created = parse_time(document.get("created"))
        self.states = dict(document.get("states") or {})
        self.metric = document.get("metric")
        self.document = dict(document)


def _flat(job: Mapping[str, Any]) -> dict[str, Any]:
    row = {name: value for name, value in job.items() if name not in ("settings", "metrics")}
    return {**row, **(job.get("settings") or {}), **(job.get("metrics") or {})}
