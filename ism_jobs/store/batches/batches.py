"""Batches in Redis: find, list, cancel, retry, delete. `Jobs.create` writes a batch together with its jobs."""

import json
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Self

from ism_jobs.errors import Conflict, NotFound
from ism_jobs.sentences import counted
from ism_jobs.store import keys
from ism_jobs.store.jobs import Jobs
from ism_jobs.store.ownership import OwnedCollection, Position
from ism_jobs.store.records import Record, State
from ism_jobs.store.redis import Connection


@dataclass(frozen=True)
class Batch:
    """A batch and the ids of its jobs, including those that were deleted or expired."""

    id: str
    owner: str
    created: float
    jobs: tuple[str, ...]
    label: str | None = None
    notify: str | None = None  # the URL to notify when all jobs have ended

    @classmethod
    def parsed(cls, id: str, raw: dict[bytes, bytes]) -> Self:
        """Parse the fields of a hash in Redis."""
        label, notify = raw.get(b"label"), raw.get(b"notify")
        return cls(
            id=id,
            owner=raw.get(b"owner", b"").decode(),
            created=float(raw[b"created"]),
            jobs=tuple(json.loads(raw[b"jobs"])),
            label=None if label is None else label.decode(),
            notify=None if notify is None else notify.decode(),
        )


class Batches(OwnedCollection):
    """All batches, by id."""

    def __init__(self, redis: Connection, jobs: Jobs) -> None:
        super().__init__(redis)
        self._jobs = jobs

    def of(self, owner: str) -> Self:
        """Return the batches as one owner sees them."""
        view = super().of(owner)
        view._jobs = self._jobs.of(owner)
        return view

    def get(self, id: str) -> Batch:
        """Return a batch."""
        raw = self._read(keys.batch(id), id)
        if raw is None:
            raise NotFound(f"There is no batch {json.dumps(id)}; it may have expired, or been deleted.")
        return Batch.parsed(id, raw)

    def records(self, batch: Batch) -> list[Record]:
        """Return the jobs of a batch in the order in which they were posted, without deleted and expired ones."""
        return self._jobs.several(batch.jobs)

    def page(self, limit: int, after: Position | None) -> tuple[list[Batch], Position | None]:
        """Return a page of batches, the newest first, and the position after which the next page begins.

        Batches of release 0.2.0 and earlier are not listed.
        """

        def load(ids: Sequence[str]) -> dict[str, Batch]:
            with self._redis.pipeline(transaction=False) as pipe:
                for id in ids:
                    pipe.hgetall(keys.batch(id))
                return {id: Batch.parsed(id, raw) for id, raw in zip(ids, pipe.execute(), strict=True) if raw}

        return self._page(keys.batches(self._owner or ""), load, limit, after)

    def states(self, batches: Sequence[Batch]) -> list[Counter[State]]:
        """Return for each batch how many of its jobs are in each state."""
        with self._redis.pipeline(transaction=False) as pipe:
            for batch in batches:
                for id in batch.jobs:
                    pipe.hget(keys.job(id), "state")
            found = iter(pipe.execute())
        return [Counter(State(state.decode()) for _ in batch.jobs if (state := next(found))) for batch in batches]

    def cancel(self, id: str) -> Batch:
        """Cancel every job of a batch that has not ended."""
        batch = self.get(id)
        for record in self.records(batch):
            if not record.state.ended:
                with suppress(Conflict, NotFound):  # ended or deleted meanwhile
                    self._jobs.cancel(record.id)
        return batch

    def retry(self, id: str) -> Batch:
        """Queue every job of a batch that has failed once more: all of them, or none if a table is gone."""
        batch = self.get(id)
        failed = [record for record in self.records(batch) if record.state is State.FAILED]
        self._jobs.check_room(batch.owner, len(failed))
        for dataset in {record.dataset for record in failed}:
            if not self._redis.exists(keys.dataset(dataset)):
                raise Conflict(f"The data set {json.dumps(dataset)} is gone; upload the table and post the jobs again.")
        for record in failed:
            with suppress(Conflict, NotFound):  # retried or deleted meanwhile
                self._jobs.retry(record.id)
        return batch

    def delete(self, id: str) -> None:
        """Delete a batch and its jobs with their artifacts. All of them must have ended."""
        batch = self.get(id)
        records = self.records(batch)
        if open := sum(not record.state.ended for record in records):
            raise Conflict(f"{open} of {counted(len(records), 'job')} are queued or running; cancel the batch first.")
        for record in records:
            with suppress(NotFound):
                self._jobs.delete(record.id)
        self._redis.delete(keys.batch(id))  # if its last job has just been deleted, it is gone already
        self._redis.zrem(keys.batches(batch.owner), id)
