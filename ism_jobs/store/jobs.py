"""Jobs in Redis: made, found, claimed, cancelled, put back, forgotten."""

import json
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from copy import copy
from typing import Any, Self
from uuid import uuid4

from ism_jobs.errors import Conflict, NotFound, Problem, TooMany
from ism_jobs.sentences import counted
from ism_jobs.settings import Settings
from ism_jobs.store import blobs, keys, scripts
from ism_jobs.store.attempts import Attempt, end_arguments, end_keys
from ism_jobs.store.datasets import keep
from ism_jobs.store.ownership import owned
from ism_jobs.store.paging import Place, page
from ism_jobs.store.queue import Tickets
from ism_jobs.store.records import Record, State
from ism_jobs.store.redis import Connection
from ism_jobs.store.sweep import forget_expired, look_for_tickets, lost, ticket_before
from ism_jobs.store.transactions import transaction

SWEEP_AT_ONCE = 100


class Jobs:
    """All jobs that are kept, by id."""

    def __init__(self, redis: Connection, settings: Settings) -> None:
        self._redis = redis
        self._settings = settings
        self._owner: str | None = None
        self.tickets = Tickets(redis)
        self._claim = redis.register_script(scripts.CLAIM)
        self._renew = redis.register_script(scripts.RENEW)
        self._end = redis.register_script(scripts.END)
        self._ask_to_stop = redis.register_script(scripts.ASK_TO_STOP)
        self._silent = redis.register_script(scripts.SILENT)
        self._forget = redis.register_script(scripts.FORGET_JOB)

    def of(self, owner: str) -> Self:
        """Those of one owner only."""
        seen = copy(self)
        seen._owner = owner
        return seen

    def create(
        self, specs: Sequence[tuple[str, dict[str, Any]]], batch: str | None = None, *, fresh: bool = False
    ) -> list[Record]:
        """Queue jobs, given as ids and specs: all of them or, when something fails, none.

        Where an id is taken, nothing is made and what is there is given back, if all of it still is. `fresh` ids are
        random, so nobody looks whether they are taken.
        """
        now, owner = time.time(), self._owner or ""
        records = [Record(id, State.QUEUED, spec, now, batch, owner) for id, spec in specs]
        taken = [keys.job(record.id) for record in records]

        def make(pipe: Connection) -> bool:
            if not fresh and pipe.exists(*taken):
                return False
            self._check_open(self._redis.scard(keys.open_jobs(owner)) + len(records))
            pipe.multi()
            for record in records:
                self._write(pipe, record)
            if batch is not None:
                made = json.dumps([record.id for record in records])
                pipe.hset(keys.batch(batch), mapping={"owner": owner, "created": now, "jobs": made})
                pipe.expire(keys.batch(batch), self._settings.job_seconds)
            for id in {record.dataset for record in records}:
                keep(pipe, id, self._settings.dataset_seconds)
            return True

        if not transaction(self._redis, make, *(() if fresh else taken)):
            return [self.get(record.id) for record in records]
        try:
            self._check_made(records, owner)
        except (NotFound, TooMany):
            for record in records:
                with suppress(Conflict, NotFound):  # a worker has been quicker
                    self.cancel(record.id)
                    self.delete(record.id)
            raise
        return records

    def _check_made(self, records: Sequence[Record], owner: str) -> None:
        """A data set may have been deleted, or other jobs made, just before these were."""
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
            raise TooMany(f"At most {most} may wait or run here at once; try again when some have ended.")

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
        """One job."""
        raw = owned(self._redis, keys.job(id), id, self._owner)
        if raw is None:
            raise NotFound(f"There is no job {json.dumps(id)}; it may have expired, or been deleted.")
        return Record.parsed(id, raw)

    def batch(self, id: str) -> tuple[float, list[Record]]:
        """When a batch was made, and its jobs, less those that are gone."""
        raw = owned(self._redis, keys.batch(id), id, self._owner)
        if raw is None:
            raise NotFound(f"There is no batch {json.dumps(id)}; it may have expired.")
        return float(raw[b"created"]), self._several(json.loads(raw[b"jobs"]))

    def page(
        self, limit: int, after: Place | None, is_wanted: Callable[[Record], bool]
    ) -> tuple[list[Record], Place | None]:
        """The newest jobs that are wanted, and where the next page begins."""

        def load(ids: Sequence[str]) -> dict[str, Record]:
            return {record.id: record for record in self._several(ids)}

        return page(self._redis, keys.jobs(self._owner or ""), load, limit, after, is_wanted)

    def _several(self, ids: Sequence[str]) -> list[Record]:
        with self._redis.pipeline(transaction=False) as pipe:
            for id in ids:
                pipe.hgetall(keys.job(id))
            found = [Record.parsed(id, raw) for id, raw in zip(ids, pipe.execute(), strict=True) if raw]
        return [record for record in found if self._owner in (None, record.owner)]

    def claim(self, id: str, worker: str) -> Attempt | None:
        """Begin a job, unless it is begun or ended already."""
        record, claim = self.get(id), uuid4().hex
        number = self._claim(
            keys=[keys.job(id), keys.QUEUED, keys.RUNNING, keys.events(id)],
            args=[id, worker, self._settings.lease_seconds, self._settings.events_kept, claim],
        )
        if not number:
            return None
        keep(self._redis, record.dataset, self._settings.dataset_seconds)
        return Attempt(self._redis, self._settings, record, number, claim)

    def renew(self, id: str, worker: str) -> bool:
        """A sign of life from the worker that has the job; tells whether it has been asked to stop."""
        keys_, arguments = [keys.job(id), keys.RUNNING], [id, worker, self._settings.lease_seconds]
        return bool(self._renew(keys=keys_, args=arguments) == 2)

    def cancel(self, id: str) -> Record:
        """Cancel a job that waits, or ask one that runs to stop at its next step."""
        while True:
            record = self.get(id)
            if record.state.ended:
                raise Conflict(f"The job has {record.state} already; there is nothing to cancel.")
            if record.state is State.RUNNING:
                done = self._ask_to_stop(keys=[keys.job(id)])
            else:
                done = self._finish(record, State.CANCELLED)
                if done and record.ticket:
                    self.tickets.tear(record.ticket)
            if done:
                return self.get(id)

    def delete(self, id: str) -> None:
        """Forget an ended job and all it made."""
        record = self.get(id)
        if not record.state.ended:
            raise Conflict(f"The job is {record.state}; cancel it first.")
        its_own = [keys.job(id), keys.events(id), keys.checkpoint(id), keys.saved(id)]
        self._forget(keys=[*its_own, keys.jobs(record.owner)], args=[id])
        if record.batch is not None:
            self._forget_empty(record.batch)

    def _forget_empty(self, batch: str) -> None:
        """A batch goes with its last job."""
        ids = self._redis.hget(keys.batch(batch), "jobs")
        if ids and not self._redis.exists(*(keys.job(id) for id in json.loads(ids))):
            self._redis.delete(keys.batch(batch))

    def workers(self) -> int:
        """How many workers are alive."""
        return self.tickets.workers(2 * self._settings.lease_seconds)

    def counts(self) -> dict[str, float]:
        """How many wait and run now, and totals over the jobs that have ended."""
        with self._redis.pipeline(transaction=False) as pipe:
            pipe.zcard(keys.QUEUED)
            pipe.zcard(keys.RUNNING)
            pipe.hgetall(keys.TOTALS)
            queued, running, totals = pipe.execute()
        return {name.decode(): float(value) for name, value in totals.items()} | {"queued": queued, "running": running}

    def artifact(self, record: Record, name: str) -> bytes:
        """One output of a job that succeeded."""
        value = None
        if name in record.artifacts:
            value = blobs.get(self._redis, keys.artifact(record.id, record.attempt, name))
        if value is None:
            raise NotFound(f"This job has no {name}.")
        return value

    def put_back(self, record: Record, *, crashed: bool) -> bool:
        """Queue a running job again, before all that were made later; tells whether it still was at this attempt.

        One that was asked to stop ends instead.
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

    def abandoned(self, id: str, worker: str, *, crashed: bool = True, problem: Problem | None = None) -> None:
        """The process in which this worker ran the job is gone: if the job has not ended, put it back.

        It fails instead where there is a problem for which the process was ended.
        """
        raw = self._redis.hgetall(keys.job(id))
        if not raw or raw.get(b"worker") != worker.encode():
            return
        record = Record.parsed(id, raw)
        if problem is not None and record.state is State.RUNNING:
            self._finish(record, State.FAILED, error=json.dumps(problem.document()))
        else:
            self._recover(record, crashed)

    def _recover(self, record: Record, crashed: bool) -> None:
        """Put back a running job that lost its process, or fail it when that has happened too often."""
        if record.state is not State.RUNNING:
            return
        crashes = record.crashes + int(crashed)
        if crashes < self._settings.max_attempts:
            self.put_back(record, crashed=crashed)
            return
        self._finish(record, State.FAILED, error=json.dumps(lost(crashes).document()))

    def sweep(self) -> None:
        """Put back jobs whose workers gave no sign of life, write lost tickets anew, forget the oldest that expired."""
        seconds, _ = self._redis.time()
        interval = self._settings.sign_of_life
        for id in self._silent(keys=[keys.RUNNING, keys.SWEPT], args=[2 * interval, 2 * interval, SWEEP_AT_ONCE]):
            with suppress(NotFound):
                record = self.get(id.decode())
                lease = self._redis.zscore(keys.RUNNING, id)  # after the record: another sweep may have been quicker
                if lease is not None and lease <= seconds:
                    self._recover(record, crashed=True)
        waiting = self._redis.zrangebyscore(keys.QUEUED, "-inf", seconds - interval, start=0, num=SWEEP_AT_ONCE)
        look_for_tickets(self._redis, self.tickets, [id.decode() for id in waiting], seconds, interval)
        forget_expired(self._redis, SWEEP_AT_ONCE)

    def _finish(self, record: Record, state: State, **fields: str) -> bool:
        return bool(
            self._end(
                keys=end_keys(record),
                args=end_arguments(record.id, record.state, record.attempt, state, self._settings, fields),
            )
        )

    def _announce(self, pipe: Connection, id: str) -> None:
        pipe.xadd(keys.events(id), {"kind": "state", "data": ""}, maxlen=self._settings.events_kept, approximate=True)
