"""Jobs in Redis: create, find, claim, cancel, finish, requeue, delete."""

import json
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any
from uuid import uuid4

from ism_jobs.errors import Conflict, NotFound, Problem, TooMany
from ism_jobs.sentences import counted
from ism_jobs.settings import Settings
from ism_jobs.store import keys
from ism_jobs.store.attempts import Attempt, finish_arguments, finish_keys
from ism_jobs.store.datasets import extend_expiry
from ism_jobs.store.ownership import OwnedCollection, Position
from ism_jobs.store.queue import Tickets
from ism_jobs.store.records import Record, State
from ism_jobs.store.redis import Connection, get_chunks, script, transaction
from ism_jobs.store.sweep import remove_expired, replace_lost_tickets, ticket_before, too_many_crashes

SWEEP_LIMIT = 100  # most queued jobs, most running jobs, and most ids of each list that one sweep checks


class Jobs(OwnedCollection):
    """All jobs, by id."""

    def __init__(self, redis: Connection, settings: Settings) -> None:
        super().__init__(redis)
        self._settings = settings
        self.tickets = Tickets(redis)
        self._claim = script(redis, "claim")
        self._renew_lease = script(redis, "renew_lease")
        self._finish_job = script(redis, "finish")
        self._request_cancel = script(redis, "request_cancel")
        self._request_finish = script(redis, "request_finish")
        self._expired_leases = script(redis, "expired_leases")
        self._delete_job = script(redis, "delete_job")

    def create(
        self, specs: Sequence[tuple[str, dict[str, Any]]], batch: str | None = None, *, ids_are_random: bool = False
    ) -> list[Record]:
        """Queue jobs, given as ids and specs: all of them, or none if something fails.

        If one of the ids is taken, no job is created and the existing jobs are returned. Random ids are not checked.
        Creation is a transaction of Python commands (MULTI/EXEC). Most later changes of the state are Lua scripts.
        """
        now, owner = time.time(), self._owner or ""
        records = [Record(id, State.QUEUED, spec, now, batch, owner) for id, spec in specs]
        new_keys = [keys.job(record.id) for record in records]

        def write(pipe: Connection) -> bool:
            if not ids_are_random and pipe.exists(*new_keys):
                return False
            self._check_open(self._redis.scard(keys.open_jobs(owner)) + len(records))
            pipe.multi()
            for record in records:
                self._write(pipe, record)
            if batch is not None:
                ids = json.dumps([record.id for record in records])
                pipe.hset(keys.batch(batch), mapping={"owner": owner, "created": now, "jobs": ids})
                pipe.expire(keys.batch(batch), self._settings.job_seconds)
            for id in {record.dataset for record in records}:
                extend_expiry(pipe, id, self._settings.dataset_seconds)
            return True

        if not transaction(self._redis, write, *(() if ids_are_random else new_keys)):
            return [self.get(record.id) for record in records]
        try:
            self._check_created(records, owner)
        except (NotFound, TooMany):
            for record in records:
                with suppress(Conflict, NotFound):  # a worker has claimed it meanwhile
                    self.cancel(record.id)
                    self.delete(record.id)
            raise
        return records

    def _check_created(self, records: Sequence[Record], owner: str) -> None:
        """Raise if a data set was deleted, or the limit of open jobs was exceeded, while these jobs were created."""
        ids = sorted({record.dataset for record in records})
        with self._redis.pipeline(transaction=False) as pipe:
            for id in ids:
                pipe.exists(keys.dataset(id))
            pipe.scard(keys.open_jobs(owner))
            *there, open = pipe.execute()
        for id, is_there in zip(ids, there, strict=True):
            if not is_there:
                raise NotFound(f"The data set {json.dumps(id)} has just been deleted; upload the table again.")
        self._check_open(open)

    def _check_open(self, open: int) -> None:
        if open > self._settings.max_open_jobs:
            most = counted(self._settings.max_open_jobs, "job")
            raise TooMany(f"At most {most} may be queued or running at once; try again when some have ended.")

    def _write(self, pipe: Connection, record: Record) -> None:
        fields: dict[str, str | float] = {
            "state": record.state,
            "owner": record.owner,
            "spec": json.dumps(record.spec),
            "created": record.created,
            "ticket": self.tickets.write(pipe, record.id),
        }
        if record.batch is not None:
            fields["batch"] = record.batch
        pipe.hset(keys.job(record.id), mapping=fields)
        pipe.zadd(keys.jobs(record.owner), {record.id: record.created})
        pipe.sadd(keys.open_jobs(record.owner), record.id)
        if record.owner:
            pipe.sadd(keys.OWNERS, record.owner)
        pipe.zadd(keys.QUEUED, {record.id: record.created})
        pipe.sadd(keys.dataset_jobs(record.dataset), record.id)
        self._announce(pipe, record.id)

    def get(self, id: str) -> Record:
        """Return the record of a job."""
        raw = self._read(keys.job(id), id)
        if raw is None:
            raise NotFound(f"There is no job {json.dumps(id)}; it may have expired, or been deleted.")
        return Record.parsed(id, raw)

    def batch(self, id: str) -> tuple[float, list[Record]]:
        """Return the time of creation of a batch, and its jobs without those that were deleted or expired."""
        raw = self._read(keys.batch(id), id)
        if raw is None:
            raise NotFound(f"There is no batch {json.dumps(id)}; it may have expired.")
        return float(raw[b"created"]), self._several(json.loads(raw[b"jobs"]))

    def page(
        self, limit: int, after: Position | None, is_wanted: Callable[[Record], bool]
    ) -> tuple[list[Record], Position | None]:
        """Return a page of wanted jobs, the newest first, and the position after which the next page begins."""

        def load(ids: Sequence[str]) -> dict[str, Record]:
            return {record.id: record for record in self._several(ids)}

        return self._page(keys.jobs(self._owner or ""), load, limit, after, is_wanted)

    def _several(self, ids: Sequence[str]) -> list[Record]:
        with self._redis.pipeline(transaction=False) as pipe:
            for id in ids:
                pipe.hgetall(keys.job(id))
            found = [Record.parsed(id, raw) for id, raw in zip(ids, pipe.execute(), strict=True) if raw]
        return [record for record in found if self._owner in (None, record.owner)]

    def claim(self, id: str, worker: str) -> Attempt | None:
        """Start a job; return None if it is not queued any more."""
        record, claim, settings = self.get(id), uuid4().hex, self._settings
        number = self._claim(
            keys=[keys.job(id), keys.QUEUED, keys.RUNNING, keys.events(id), *keys.of_dataset(record.dataset)],
            args=[id, worker, settings.lease_seconds, settings.events_kept, claim, settings.dataset_seconds],
        )
        if not number:
            return None
        return Attempt(self._redis, self._settings, record, number, claim)

    def renew_lease(self, id: str, worker: str) -> bool:
        """Renew the lease of the worker that runs the job; return whether the job is to be cancelled."""
        keys_, arguments = [keys.job(id), keys.RUNNING], [id, worker, self._settings.lease_seconds]
        return bool(self._renew_lease(keys=keys_, args=arguments) == 2)

    def cancel(self, id: str) -> Record:
        """Cancel a queued job, or ask a running one to stop at its next step."""
        while True:
            record = self.get(id)
            if record.state.ended:
                raise Conflict(f"The job has already ended ({record.state}); there is nothing to cancel.")
            if record.state is State.RUNNING:
                done = self._request_cancel(keys=[keys.job(id)])
            else:
                done = self._finish(record, State.CANCELLED)
                if done and record.ticket:
                    self.tickets.remove(record.ticket)
            if done:
                return self.get(id)

    def finish(self, id: str) -> Record:
        """Ask a queued or running job to end soon, with the best result so far."""
        if not self._request_finish(keys=[keys.job(id)]):
            raise Conflict(f"The job has already ended ({self.get(id).state}); there is nothing to finish.")
        return self.get(id)

    def picture(self, id: str) -> bytes:
        """Return the latest picture of a job."""
        if (value := get_chunks(self._redis, keys.picture(id))) is None:
            raise NotFound("This job has no picture yet.")
        return value

    def delete(self, id: str) -> None:
        """Delete an ended job and its artifacts."""
        record = self.get(id)
        if not record.state.ended:
            raise Conflict(f"The job is {record.state}; cancel it first.")
        if not self._delete_job(keys=[*keys.of_job(id), keys.artifact_keys(id), keys.jobs(record.owner)], args=[id]):
            raise Conflict("The job has just been created again; cancel it first.")
        if record.batch is not None:
            self._delete_if_empty(record.batch)

    def _delete_if_empty(self, batch: str) -> None:
        """Delete a batch if its last job has been deleted."""
        ids = self._redis.hget(keys.batch(batch), "jobs")
        if ids and not self._redis.exists(*(keys.job(id) for id in json.loads(ids))):
            self._redis.delete(keys.batch(batch))

    def workers(self) -> int:
        """Return the number of workers that are alive."""
        return self.tickets.workers(2 * self._settings.lease_seconds)

    def counts(self) -> dict[str, float]:
        """Return how many jobs are queued and running, and totals over all ended jobs."""
        with self._redis.pipeline(transaction=False) as pipe:
            pipe.zcard(keys.QUEUED)
            pipe.zcard(keys.RUNNING)
            pipe.hgetall(keys.TOTALS)
            queued, running, totals = pipe.execute()
        return {name.decode(): float(value) for name, value in totals.items()} | {"queued": queued, "running": running}

    def artifact(self, record: Record, name: str) -> bytes:
        """Return one output of a job that succeeded."""
        key = keys.artifact(record.id, record.attempt, name)
        if name not in record.artifacts or (value := get_chunks(self._redis, key)) is None:
            raise NotFound(f"This job has no {name}.")
        return value

    def requeue(self, record: Record, *, crashed: bool) -> bool:
        """Queue a running job again, before all jobs created later.

        A job that is to be cancelled ends instead. Return False if it has ended or another attempt has begun.
        """
        if self._redis.hexists(keys.job(record.id), "cancel"):
            return self._finish(record, State.CANCELLED)

        def change(pipe: Connection) -> bool:
            behind = ticket_before(self._redis, record.created)
            state, attempt = pipe.hmget(keys.job(record.id), "state", "attempt")
            if state != State.RUNNING.encode() or int(attempt) != record.attempt:
                return False
            pipe.multi()
            ticket = self.tickets.write(pipe, record.id, at_front=True, behind=behind)
            pipe.hset(keys.job(record.id), mapping={"state": State.QUEUED, "ticket": ticket})
            pipe.hdel(keys.job(record.id), "worker")
            pipe.hincrby(keys.job(record.id), "version", 1)
            pipe.hincrby(keys.job(record.id), "crashes", int(crashed))
            pipe.zrem(keys.RUNNING, record.id)
            pipe.zadd(keys.QUEUED, {record.id: record.created})
            self._announce(pipe, record.id)
            return True

        return transaction(self._redis, change, keys.job(record.id))

    def recover(self, id: str, worker: str, *, crashed: bool = True, problem: Problem | None = None) -> None:
        """Requeue the job of a worker process that has ended, unless the job has ended too.

        The job fails instead if the process was killed because of a `problem`.
        """
        raw = self._redis.hgetall(keys.job(id))
        if not raw or raw.get(b"worker") != worker.encode():
            return
        record = Record.parsed(id, raw)
        if problem is not None and record.state is State.RUNNING:
            self._finish(record, State.FAILED, error=json.dumps(problem.document()))
        else:
            self._requeue_or_fail(record, crashed)

    def _requeue_or_fail(self, record: Record, crashed: bool) -> None:
        """Requeue a running job whose process has ended, or fail it if that has happened too often."""
        if record.state is not State.RUNNING:
            return
        crashes = record.crashes + int(crashed)
        if crashes < self._settings.max_attempts:
            self.requeue(record, crashed=crashed)
            return
        self._finish(record, State.FAILED, error=json.dumps(too_many_crashes(crashes).document()))

    def sweep(self) -> None:
        """Requeue jobs whose lease has expired, write lost tickets again, remove ids of expired entries."""
        seconds, _ = self._redis.time()
        interval = self._settings.heartbeat_interval
        for id in self._expired_leases(keys=[keys.RUNNING, keys.SWEPT], args=[2 * interval, 2 * interval, SWEEP_LIMIT]):
            with suppress(NotFound):
                record = self.get(id.decode())
                lease = self._redis.zscore(keys.RUNNING, id)  # read again: another sweep may have requeued the job
                if lease is not None and lease <= seconds:
                    self._requeue_or_fail(record, crashed=True)
        waiting = self._redis.zrangebyscore(keys.QUEUED, "-inf", seconds - interval, start=0, num=SWEEP_LIMIT)
        replace_lost_tickets(self._redis, self.tickets, [id.decode() for id in waiting], seconds, interval)
        remove_expired(self._redis, SWEEP_LIMIT)

    def _finish(self, record: Record, state: State, **fields: str) -> bool:
        return bool(
            self._finish_job(
                keys=finish_keys(record),
                args=finish_arguments(record.id, record.state, record.attempt, state, self._settings, fields),
            )
        )

    def _announce(self, pipe: Connection, id: str) -> None:
        pipe.xadd(keys.events(id), {"kind": "state", "data": ""}, maxlen=self._settings.events_kept, approximate=True)
