"""Jobs: waiting for them, following their events, and downloading their results."""

import json
import os
import time
from collections.abc import AsyncGenerator, Iterator, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any, Self

import httpx

from ism_client.datasets import READ_TIMEOUT, parse_time
from ism_client.downloads import content, download
from ism_client.errors import JobFailed
from ism_client.events import ENDED, Event, NoStream, check_deadline, follow, is_last, remaining
from ism_client.pictures import Picture, table_html
from ism_client.progress import ProgressBar
from ism_client.results import Floats, Projection, Result
from ism_client.tables import opened
from ism_client.transport import PATIENT_RETRIES, Http, iterate, path_of, run

LONG_POLL_SECONDS = 30.0  # how long the service holds a request until the job changes
POLL_PAUSE_SECONDS = 0.5  # between two polls


@dataclass(frozen=True)
class Progress:
    """The progress of a running job."""

    stage: str
    iteration: int | None = None
    max_iter: int | None = None
    objective: float | None = None
    change: float | None = None
    angle: float | None = None
    elapsed_seconds: float | None = None
    remaining_seconds: float | None = None
    percent: int | None = None
    fold: int | None = None
    folds: int | None = None

    @classmethod
    def of(cls, document: Mapping[str, Any]) -> Self:
        """Create it from an answer of the service."""
        return cls(**{name: document.get(name) for name in cls.__dataclass_fields__})  # type: ignore[arg-type]


@dataclass
class JobFields:
    """A job as the service last described it, and what can be asked of the service, for both clients."""

    id: str
    state: str = "queued"
    label: str | None = None
    dataset: str | None = None
    batch: str | None = None
    spec: dict[str, Any] = field(default_factory=dict)
    metadata: dict[str, str] = field(default_factory=dict, repr=False)
    created: datetime | None = None
    started: datetime | None = None
    finished: datetime | None = None
    attempt: int | None = None
    progress: Progress | None = None
    best: dict[str, Any] | None = None  # score, q, kernel and scale of the best candidate so far
    error: dict[str, Any] | None = None
    cancel_requested: bool = False  # whether it is running and has been asked to stop
    position: int | None = None  # number of jobs ahead of it in the queue
    metrics: dict[str, float | None] | None = None  # after it has succeeded
    links: dict[str, str] = field(default_factory=dict, repr=False)
    document: dict[str, Any] = field(default_factory=dict, repr=False, compare=False)  # the full answer of the service
    _http: Http = field(kw_only=True, repr=False, compare=False)

    @classmethod
    def of(cls, http: Http, document: Mapping[str, Any]) -> Self:
        """Create it from an answer of the service."""
        job = cls(document["id"], _http=http)
        job._update(document)
        return job

    @property
    def ended(self) -> bool:
        """Whether the job has succeeded, failed or been cancelled."""
        return self.state in ENDED

    def _repr_html_(self) -> str:
        spec, metrics = self.spec, self.metrics or {}
        facts = {"job": self.id, "state": self.state, "label": self.label, "paradigm": spec.get("paradigm")}
        facts |= {"target": spec.get("target"), **metrics}
        return table_html(("", ""), [(name, value) for name, value in facts.items() if value is not None])

    async def _refresh(self) -> Self:
        self._update(await self._http.json("GET", self._path()))
        return self

    async def _do(self, action: str) -> Self:
        """Post "cancel", "finish" or "retry"."""
        self._update(await self._http.json("POST", self._path(action)))
        return self

    async def _delete(self) -> None:
        await self._http.request("DELETE", self._path())

    async def _wait(self, progress: bool | None, timeout: float | None) -> Self:
        with ProgressBar(progress) as bar:
            polled = self._poll(_deadline(timeout), every_change=False)
            async for event in self._events("", timeout) if bar.is_shown else polled:
                bar.show_event(event)
        if self.state != "succeeded":
            raise JobFailed(self)
        return self

    async def _events(self, last_event_id: str, timeout: float | None) -> AsyncGenerator[Event]:
        deadline = _deadline(timeout)
        try:
            async with aclosing(follow(self._http, self._path("events"), last_event_id, deadline)) as events:
                async for event in events:
                    if event.type == "state" and isinstance(event.data, dict):
                        self._update(event.data)
                    yield event
        except NoStream:
            async for event in self._poll(deadline, every_change=True):
                yield event

    async def _result(self) -> dict[str, Any]:
        document: dict[str, Any] = await self._http.json("GET", self._path("result"))
        return document

    async def _plot(self, name: str, format: str) -> Picture:
        return Picture(await content(self._http, self.id, name, format), format)

    async def _project(self, rows: Any, names: Sequence[str] | None, header: bool | None) -> Projection:
        return Projection.of(json.loads(await self._transformed(rows, "json", names, header)))

    async def _transformed(self, rows: Any, format: str, names: Sequence[str] | None, header: bool | None) -> bytes:
        with opened(rows, names) as payload:
            answer = await self._http.request(
                "POST",
                self._path("transform"),
                params={"format": format, "header": None if header is None else str(header).lower()},
                body=payload.body,
                timeout=max(self._http.timeout, READ_TIMEOUT),
                retries=None if payload.replayable else 0,
            )
        return answer.content

    def _update(self, document: Mapping[str, Any]) -> None:
        for name in (
            "state",
            "label",
            "dataset",
            "batch",
            "attempt",
            "best",
            "error",
            "position",
            "metrics",
            "cancel_requested",
        ):
            setattr(self, name, document.get(name, getattr(self, name)))
        for name in ("created", "started", "finished"):
            setattr(self, name, parse_time(document.get(name)))
        self.spec = dict(document.get("spec") or {})
        self.links = dict(document.get("links") or {})
        self.metadata = dict(document.get("metadata") or {})
        self.progress = Progress.of(document["progress"]) if document.get("progress") else None
        self.document = dict(document)

    async def _poll(self, deadline: float | None, *, every_change: bool) -> AsyncGenerator[Event]:
        etag = ""
        while True:
            held = remaining(deadline, LONG_POLL_SECONDS)
            response = await self._http.request(
                "GET",
                self._path(),
                params={"wait": max(1, int(held))},
                headers={"If-None-Match": etag} if etag and every_change else None,
                timeout=self._http.timeout + held,
                retries=PATIENT_RETRIES,
            )
            if response.status_code != httpx.codes.NOT_MODIFIED:
                etag = response.headers.get("ETag", "")
                event = Event("state", self._http.read(response))
                self._update(event.data)
                yield event
                if is_last(event):
                    return
            check_deadline(deadline)
            await self._http.wire.sleep(remaining(deadline, POLL_PAUSE_SECONDS))

    def _path(self, *parts: str) -> str:
        return path_of("jobs", self.id, *parts)


class Job(JobFields):
    """A job as the service last described it; `refresh`, `wait` and `events` update it.

    job = client.submit(dataset, paradigm="supervised", target="class", q=2)
    result = job.wait(progress=True).result()
    """

    def refresh(self) -> Self:
        """Get the current state from the service."""
        return run(self._refresh())

    def wait(self, *, progress: bool | None = None, timeout: float | None = None) -> Self:
        """Wait until the job ends. Raises JobFailed unless it succeeds, and TimeoutError after `timeout` seconds.

        `progress` shows a bar on stderr, by default on a terminal only.

        job.wait(progress=True)
        """
        return run(self._wait(progress, timeout))

    def events(self, last_event_id: str = "", *, timeout: float | None = None) -> Iterator[Event]:
        """Yield the events of the job, from the beginning or after a given event, until its end.

        Broken connections are resumed. If event streams do not work, the job is polled, and there are only events of
        type "state".

        for event in job.events():
            print(event.type, event.data)
        """
        return iterate(self._events(last_event_id, timeout))

    def result(self) -> Result:
        """Return the result. Raises ApiError (409) unless the job has succeeded.

        job.result().W
        """
        return Result.of(self._http, self.id, run(self._result()))

    def plot(self, name: str = "embedding", format: str = "svg") -> Picture:
        """Return a plot of the service: "embedding", "importance", "loadings" or "trace". A notebook shows it."""
        return run(self._plot(name, format))

    def download(self, name: str, path: str | os.PathLike[str] | None = None) -> Path:
        """Write a result to a file, in the format of the suffix of the file.

        job.download("W", "W.npy")
        job.download("embedding", "figures/wine.svg")
        job.download("model.onnx")
        """
        return run(download(self._http, self.id, name, path))

    def transform(self, rows: Any, names: Sequence[str] | None = None, *, header: bool | None = None) -> Floats:
        """Project new rows (a path, an open file, a frame, an array, a list of dicts) onto the axes of the job.

        job.transform("new.csv")
        """
        return self.project(rows, names, header=header).values

    def project(self, rows: Any, names: Sequence[str] | None = None, *, header: bool | None = None) -> Projection:
        """Like `transform`, with notes, for example about ignored columns and unknown text values.

        print(job.project("new.csv").notes)
        """
        return run(self._project(rows, names, header))

    def transformed(
        self, rows: Any, format: str, names: Sequence[str] | None = None, *, header: bool | None = None
    ) -> bytes:
        """Like `transform`, as the bytes of a "csv", "npy", "parquet" or "json" file. JSON includes the notes.

        Path("projected.csv").write_bytes(job.transformed("new.csv", "csv"))
        """
        return run(self._transformed(rows, format, names, header))

    def cancel(self) -> Self:
        """Cancel the job; a running job stops after its current iteration. Raises ApiError (409) if it has
        already succeeded or failed.
        """
        return run(self._do("cancel"))

    def finish(self) -> Self:
        """End the search and keep the best result so far. Raises ApiError (409) if the job has ended.

        job.finish().wait().result()
        """
        return run(self._do("finish"))

    def retry(self) -> Self:
        """Queue the job again if it has failed or was cancelled; it begins anew. Raises ApiError (409) otherwise.

        job.retry().wait()
        """
        return run(self._do("retry"))

    def delete(self) -> None:
        """Delete the job and its results. Raises ApiError (409) while it is queued or running."""
        run(self._delete())


def _deadline(timeout: float | None) -> float | None:
    return None if timeout is None else time.monotonic() + timeout
