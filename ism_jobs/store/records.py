"""The record of a job, as it is stored in Redis; finding and listing records."""

import json
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Self

from ism_jobs import schema_versions
from ism_jobs.errors import NotFound
from ism_jobs.store import keys
from ism_jobs.store.ownership import SCAN_BATCH_SIZE, OwnedCollection, Position
from ism_jobs.store.redis import Connection, script

STATES_PER_CALL = 2_000  # jobs whose state one call reads, a millisecond; more than may have the same time of creation


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
    trace: str | None = None  # the W3C traceparent of the request that posted it, if traces are recorded
    place: int = 0  # its place among the queued jobs of its owner, the least first; 0 in earlier releases
    owner: str = ""  # the name of the API key that posted it; empty if the service has no API keys
    started: float | None = None
    finished: float | None = None
    attempt: int = 0  # how often a worker has started it; reports of earlier attempts are ignored
    crashes: int = 0  # how often its process ended unexpectedly while its worker lived, since it made progress
    losses: int = 0  # how often its worker was lost, since it made progress
    progressed: int = 0  # progress level of its last checkpoint (see worker/checkpoint.py)
    setback_at: int = 0  # progress level when its process or worker last ended unexpectedly
    cancel_requested: bool = False  # whether a client has asked a running job to stop
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

    @property
    def priority(self) -> int:
        """Among the queued jobs of its owner: those of the highest priority run first."""
        return int(self.spec.get("priority", 0))

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
            trace=fields.get("trace"),
            place=int(fields.get("place", 0)),
            owner=fields.get("owner", ""),
            started=_number(fields.get("started")),
            finished=_number(fields.get("finished")),
            attempt=int(fields.get("attempt", 0)),
            crashes=int(fields.get("crashes", 0)),
            losses=int(fields.get("losses", 0)),
            progressed=int(fields.get("progressed", 0)),
            setback_at=int(fields.get("setback_at", 0)),
            cancel_requested="cancel" in fields,
            version=int(fields.get("version", 0)),
            ticket=fields.get("ticket"),
            progress=_document(fields.get("progress")),
            best=_document(fields.get("best")),
            error=_document(fields.get("error")),
            summary=_document(fields.get("summary")),
            artifacts=json.loads(fields.get("artifacts", "[]")),
        )


@dataclass(frozen=True)
class JobFilter:
    """Which jobs a list shows. None stands for all."""

    states: frozenset[State] | None = None
    batch: str | None = None
    dataset: str | None = None
    label: str | None = None
    created_after: float | None = None  # seconds since 1970; compared to the microsecond, as clients see times

    @property
    def only_open(self) -> bool:
        """Whether the list shows queued and running jobs only."""
        return self.states is not None and not any(state.ended for state in self.states)

    def matches(self, record: Record) -> bool:
        """Return whether a job is in the list."""
        wanted = {"batch": self.batch, "dataset": self.dataset}
        return (
            all(value is None or getattr(record, name) == value for name, value in wanted.items())
            and (self.states is None or record.state in self.states)
            and (self.label is None or record.spec.get("label") == self.label)
            and (self.created_after is None or round(record.created, 6) > self.created_after)
        )


ALL_JOBS = JobFilter()


class JobReader(OwnedCollection):
    """Finds and lists jobs."""

    def __init__(self, redis: Connection) -> None:
        super().__init__(redis)
        self._jobs_in_states = script(redis, "jobs_in_states")

    def get(self, id: str) -> Record:
        """Return the record of a job."""
        raw = self._read(keys.job(id), id)
        if raw is None:
            raise NotFound(f"There is no job {json.dumps(id)}; it may have expired, or been deleted.")
        return Record.parsed(id, raw)

    def page(
        self, limit: int, after: Position | None, wanted: JobFilter = ALL_JOBS
    ) -> tuple[list[Record], Position | None]:
        """Return a page of wanted jobs, the newest first, and the position after which the next page begins."""
        ids = self._candidates(wanted)
        if ids is not None and len(ids) <= SCAN_BATCH_SIZE:
            found = sorted(filter(wanted.matches, self.several(ids)), key=_position, reverse=True)
            left = [record for record in found if after is None or _position(record) < after]
            return left[:limit], _position(left[limit - 1]) if len(left) > limit else None

        if wanted.states is not None:
            return self._page_in_states(limit, after, wanted, wanted.states)

        def load(ids: Sequence[str]) -> dict[str, Record]:
            return {record.id: record for record in self.several(ids)}

        index = keys.jobs(self._owner or "")
        return self._page(index, load, limit, after, wanted.matches, wanted.created_after)

    def _page_in_states(
        self, limit: int, after: Position | None, wanted: JobFilter, states: Collection[State]
    ) -> tuple[list[Record], Position | None]:
        """Return a page of jobs in some states. Redis finds them, so that the others need not be read and parsed."""
        time, id = ("+inf", "") if after is None else (repr(after[0]), after[1])
        oldest = "-inf" if wanted.created_after is None else f"({wanted.created_after!r}"
        limits = [limit, STATES_PER_CALL, keys.job("%s"), *states]
        found: list[Record] = []
        while True:
            ids, *last = self._jobs_in_states(keys=[keys.jobs(self._owner or "")], args=[time, id, oldest, *limits])
            for record in filter(wanted.matches, self.several([each.decode() for each in ids])):
                found.append(record)
                if len(found) == limit:
                    return found, _position(record)
            if not last:
                return found, None
            time, id = (each.decode() for each in last)

    def _candidates(self, wanted: JobFilter) -> list[str] | None:
        """Return the ids of a smaller list that contains all wanted jobs, or None if there is none."""
        if wanted.batch is not None:
            batch = self._read(keys.batch(wanted.batch), wanted.batch)
            return json.loads(batch[b"jobs"]) if batch else []
        if wanted.only_open:
            return [id.decode() for id in self._redis.smembers(keys.open_jobs(self._owner or ""))]
        return None

    def several(self, ids: Sequence[str]) -> list[Record]:
        """Return the records of several jobs, without those that do not exist."""
        with self._redis.pipeline(transaction=False) as pipe:
            for id in ids:
                pipe.hgetall(keys.job(id))
            found = [Record.parsed(id, raw) for id, raw in zip(ids, pipe.execute(), strict=True) if raw]
        return [record for record in found if self._owner in (None, record.owner)]


def _position(record: Record) -> Position:
    return record.created, record.id


def _number(text: str | None) -> float | None:
    return float(text) if text else None


def _document(text: str | None) -> dict[str, Any] | None:
    document: dict[str, Any] | None = json.loads(text) if text else None
    return document
