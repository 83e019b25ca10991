"""The record of a job, as it is stored in Redis."""

import json
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Self

from ism_jobs import schema_versions


class State(StrEnum):
    """The state of a job."""

    QUEUED = "queued"
    RUNNING = "running"
    SUCCEEDED = "succeeded"
    FAILED = "failed"
    CANCELLED = "cancelled"

    @property
    def ended(self) -> bool:
        """Whether the state is final."""
        return self not in (State.QUEUED, State.RUNNING)


@dataclass(frozen=True)
class Record:
    """A snapshot of one job. `version` grows with every change."""

    id: str
    state: State
    spec: dict[str, Any]
    created: float
    schema: int = schema_versions.JOB
    posted: str | None = None  # a hash of the request with an idempotency key; None if there was no key
    batch: str | None = None
    owner: str = ""  # the name of the API key that posted it; empty if the service has no API keys
    started: float | None = None
    finished: float | None = None
    attempt: int = 0  # how often a worker has started it; reports of earlier attempts are ignored
    crashes: int = 0  # how often its worker process ended unexpectedly
    version: int = 0
    ticket: str | None = None  # the id of its job in RQ
    progress: dict[str, Any] | None = None
    best: dict[str, Any] | None = None  # the best candidate so far, of which there is a picture
    error: dict[str, Any] | None = None
    summary: dict[str, Any] | None = None  # objective and metrics; only of a job that succeeded
    artifacts: list[str] = field(default_factory=list)

    @property
    def dataset(self) -> str:
        """The id of the job's data set."""
        return str(self.spec["dataset"])

    @classmethod
    def parsed(cls, id: str, raw: dict[bytes, bytes]) -> Self:
        """Parse the fields of a hash in Redis."""
        fields = {name.decode(): value.decode() for name, value in raw.items()}
        return cls(
            id=id,
            state=State(fields["state"]),
            spec=json.loads(fields["spec"]),
            created=float(fields["created"]),
            schema=int(fields.get("schema", 1)),
            posted=fields.get("posted"),
            batch=fields.get("batch"),
            owner=fields.get("owner", ""),
            started=_number(fields.get("started")),
            finished=_number(fields.get("finished")),
            attempt=int(fields.get("attempt", 0)),
            crashes=int(fields.get("crashes", 0)),
            version=int(fields.get("version", 0)),
            ticket=fields.get("ticket"),
            progress=_document(fields.get("progress")),
            best=_document(fields.get("best")),
            error=_document(fields.get("error")),
            summary=_document(fields.get("summary")),
            artifacts=json.loads(fields.get("artifacts", "[]")),
        )


def _number(text: str | None) -> float | None:
    return float(text) if text else None


def _document(text: str | None) -> dict[str, Any] | None:
    document: dict[str, Any] | None = json.loads(text) if text else None
    return document
