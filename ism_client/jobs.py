"""Jobs: following one to its end, and taking what it made."""

import json
import os
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any, Self

import httpx

from ism_client.datasets import LONGEST_READING, moment
from ism_client.downloads import download
from ism_client.errors import ApiError, JobFailed
from ism_client.events import ENDED, Event, NoStream, check, follow, is_last, remaining
from ism_client.http import PATIENT, Http, path_of
from ism_client.progress import ProgressBar, is_shown
from ism_client.results import Floats, Projection, Result
from ism_client.tables import opened

LONG_POLL = 30.0  # seconds that the service holds a request back until something changes
BETWEEN_POLLS = 0.5


@dataclass(frozen=True)
class Progress:
    """Where a running job is."""

    stage: str
    iteration: int | None = None
    max_iter: int | None = None
    objective: float | None = None
    change: float | None = None
    angle: float | None = None
    elapsed_seconds: float | None = None
    remaining_seconds: float | None = None
    fold: int | None = None
    folds: int | None = None

    @classmethod
    def of(cls, document: Mapping[str, Any]) -> Self:
        """Read from the service's answer."""
        return cls(**{name: document.get(name) for name in cls.__dataclass_fields__})  # type: ignore[arg-type]


@dataclass
class Job:
    """A job as last heard of; `refresh`, `wait` and `events` bring it up to date.

    job = client.submit(dataset, paradigm="supervised", target="class", q=2)
    result = job.wait(progress=True).result()
    """

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
    error: dict[str, Any] | None = None
    position: int | None = None  # in the queue; 0 is next
    metrics: dict[str, float | None] | None = None  # once it has succeeded
    links: dict[str, str] = field(default_factory=dict, repr=False)
    document: dict[str, Any] = field(default_factory=dict, repr=False, compare=False)  # all that the service said
    _http: Http = field(kw_only=True, repr=False, compare=False)

    @classmethod
    def of(cls, http: Http, document: Mapping[str, Any]) -> Self:
        """Read from the service's answer."""
        job = cls(document["id"], _http=http)
        job._absorb(document)
        return job

    @property
    def ended(self) -> bool:
        """Whether it has succeeded, failed or been cancelled."""
        return self.state in ENDED

    def refresh(self) -> Self:
        """Ask the service how it stands."""
        self._absorb(self._http.json("GET", self._path()))
        return self

    def wait(self, *, progress: bool | None = None, timeout: float | None = None) -> Self:
        """Wait for the end; JobFailed if that is no success, TimeoutError after `timeout` seconds.

        `progress` shows a bar on stderr; when not said, only on a terminal.

        job.wait(progress=True)
        """
        shown = is_shown(progress)
        with ProgressBar(shown) as bar:
            for event in (
                self.events(timeout=timeout) if shown else self._polled(_deadline(timeout), every_change=False)
            ):
                bar.tell(event)
        if self.state != "succeeded":
            raise JobFailed(self)
        return self

    def events(self, last_event_id: str = "", *, timeout: float | None = None) -> Iterator[Event]:
        """What happens, from the beginning or after an event already seen, until the job's end.

        Broken connections are resumed. Where no stream of events comes through, the job is polled, and there are
        events of type "state" only.

        for event in job.events():
            print(event.type, event.data)
        """
        deadline = _deadline(timeout)
        try:
            for event in follow(self._http, self._path("events"), last_event_id, deadline):
                if event.type == "state" and isinstance(event.data, dict):
                    self._absorb(event.data)
                yield event
        except NoStream:
            yield from self._polled(deadline, every_change=True)

    def result(self) -> Result:
        """What it found; ApiError (409) while it has not succeeded.

        job.result().W
        """
        return Result.of(self._http, self.id, self._http.json("GET", self._path("result")))

    def download(self, name: str, path: str | os.PathLike[str] | None = None) -> Path:
        """Write an artifact to a file in the format of the file's suffix.

        job.download("W", "W.npy")
        job.download("embedding", "figures/wine.svg")
        job.download("model.onnx")
        """
        return download(self._http, self.id, name, path)

    def transform(self, rows: Any, names: Sequence[str] | None = None, *, header: bool | None = None) -> Floats:
        """Project new rows (a path, an open file, a frame, an array, a list of dicts) with the job's W.

        job.transform("new.csv")
        """
        return self.project(rows, names, header=header).values

    def project(self, rows: Any, names: Sequence[str] | None = None, *, header: bool | None = None) -> Projection:
        """The same with what was noticed: columns that were ignored, text that was never seen before.

        print(job.project("new.csv").notes)
        """
        return Projection.of(json.loads(self.transformed(rows, "json", names, header=header)))

    def transformed(
        self, rows: Any, format: str, names: Sequence[str] | None = None, *, header: bool | None = None
    ) -> bytes:
        """The same as the bytes of a file, without the notes except in JSON: "csv", "npy", "parquet" or "json".

        Path("projected.csv").write_bytes(job.transformed("new.csv", "csv"))
        """
        with opened(rows, names) as payload:
            return self._http.request(
                "POST",
                self._path("transform"),
                params={"format": format, "header": None if header is None else str(header).lower()},
                body=payload.body,
                timeout=max(self._http.timeout, LONGEST_READING),
                retries=None if payload.replayable else 0,
            ).content

    def cancel(self) -> Self:
        """Cancel it; a running job stops within an iteration. ApiError (409) if it has ended already."""
        try:
            self._absorb(self._http.json("POST", self._path("cancel")))
        except ApiError as error:
            # The first of two tries may have been heard and its answer lost: cancelled is what was asked for
            if error.status != httpx.codes.CONFLICT or self.ended or self.refresh().state != "cancelled":
                raise
        return self

    def delete(self) -> None:
        """Delete it and all it made; ApiError (409) while it is open."""
        self._http.request("DELETE", self._path())

    def _absorb(self, document: Mapping[str, Any]) -> None:
        for name in ("state", "label", "dataset", "batch", "attempt", "error", "position", "metrics"):
            setattr(self, name, document.get(name, getattr(self, name)))
        for name in ("created", "started", "finished"):
            setattr(self, name, moment(document.get(name)))
        self.spec = dict(document.get("spec") or {})
        self.links = dict(document.get("links") or {})
        self.metadata = dict(document.get("metadata") or {})
        self.progress = Progress.of(document["progress"]) if document.get("progress") else None
        self.document = dict(document)

    def _polled(self, deadline: float | None, *, every_change: bool) -> Iterator[Event]:
        etag = ""
        while True:
            held = remaining(deadline, LONG_POLL)
            response = self._http.request(
                "GET",
                self._path(),
                params={"wait": max(1, int(held))},
                headers={"If-None-Match": etag} if etag and every_change else None,
                timeout=self._http.timeout + held,
                retries=PATIENT,
            )
            if response.status_code != httpx.codes.NOT_MODIFIED:
                etag = response.headers.get("ETag", "")
                event = Event("state", self._http.read(response))
                self._absorb(event.data)
                yield event
                if is_last(event):
                    return
            check(deadline)
            self._http.sleep(remaining(deadline, BETWEEN_POLLS))

    def _path(self, *parts: str) -> str:
        return path_of("jobs", self.id, *parts)


def _deadline(timeout: float | None) -> float | None:
    return None if timeout is None else time.monotonic() + timeout
