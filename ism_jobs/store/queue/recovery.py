"""Recovery of jobs: after a crash, a lost worker or a lost ticket, and on request.

Workers make these repairs at intervals. A job fails if its process has ended unexpectedly too often.
"""

import json
from collections.abc import Callable
from enum import StrEnum

from ism_jobs.errors import NotFound, Problem
from ism_jobs.sentences import counted
from ism_jobs.settings import Settings
from ism_jobs.store import keys
from ism_jobs.store.datasets import extend_expiry
from ism_jobs.store.queue.order import add_to_queue, place_of
from ism_jobs.store.queue.tickets import SCHEMAS, Tickets
from ism_jobs.store.records import Record, State
from ism_jobs.store.redis import Connection, script, transaction

SWEEP_LIMIT = 100  # most queued jobs, most running jobs, and most ids of each list that one sweep checks
OWNERS_PER_SWEEP = 10  # about so many; with 1,000 owners all lists are checked within four minutes
DUE_AFTER = 0.9  # of an interval; workers do not wake up at the same moment of each
# A lost worker is rarely the fault of its job: power may have failed. But a job can take its machine down each time.
LOSSES_PER_CRASH = 10
FIELDS_RESET_BY_RETRY = (  # fields that a retry deletes
    *("worker", "error", "finished", "started", "cancel", "finish", "progress", "best"),
    *("crashes", "losses", "progressed", "setback_at", "stored"),
)

Announce = Callable[[Connection, str], None]  # adds an event to a pipeline: the state of this job has changed
End = Callable[..., bool]  # ends a job: record, state, fields


class Setback(StrEnum):
    """Why an attempt ended unexpectedly. The value is the field of the record that counts it."""

    CRASH = "crashes"  # the process of the job ended while its worker lived
    LOSS = "losses"  # the worker is gone


def too_many(setback: Setback, count: int) -> Problem:
    """Return the problem of a job that was interrupted too often without progress."""
    if setback is Setback.LOSS:
        return Problem(
            f"The worker that ran this job was lost {counted(count, 'time')} without progress in between; look into"
            " the log of the service, then retry the job."
        )
    return Problem(
        f"The process that ran this job has ended unexpectedly {counted(count, 'time')}, most likely because"
        " it ran out of memory; try fewer rows or features, or give the workers more memory."
    )


class Recovery:
    """Brings jobs back into the queue."""

    def __init__(self, redis: Connection, settings: Settings, tickets: Tickets, announce: Announce, end: End) -> None:
        self._redis = redis
        self._settings = settings
        self._tickets = tickets
        self._announce = announce
        self._end = end
        self._begin_sweep = script(redis, "begin_sweep")
        self._expired_leases = script(redis, "expired_leases")
        self._remove_expired = script(redis, "remove_expired")
        self._cursor = 0  # of the owners whose lists the next sweep checks

    def requeue_or_fail(self, record: Record, setback: Setback | None) -> None:
        """Requeue a running job whose process has ended, or fail it if that has happened too often."""
        if record.state is not State.RUNNING:
            return
        most = self._settings.max_attempts * (LOSSES_PER_CRASH if setback is Setback.LOSS else 1)
        if setback is not None and (count := _setbacks(record)[setback] + 1) >= most:
            self._end(record, State.FAILED, error=json.dumps(too_many(setback, count).document()))
        else:
            self.requeue(record, setback)

    def requeue(self, record: Record, setback: Setback | None) -> bool:
        """Queue a running job again, before the jobs of its owner and priority that were posted later.

        A job that is to be cancelled ends instead. Return False if it has ended or another attempt has begun.
        """
        key, schema, redis = keys.job(record.id), record.schema, self._redis
        if redis.hexists(key, "cancel"):
            return self._end(record, State.CANCELLED)
        counts = _setbacks(record)
        changes: dict[str, str | int] = {}
        if setback is not None:
            changes = {str(each): counts[each] + (each is setback) for each in Setback}
            changes["setback_at"] = record.progressed

        def change(pipe: Connection) -> bool:
            state, attempt = pipe.hmget(key, "state", "attempt")
            if state != State.RUNNING.encode() or int(attempt) != record.attempt:
                return False
            pipe.multi()
            ticket = self._tickets.write(pipe, record.id, schema, at_front=True)
            pipe.hset(key, mapping={"state": State.QUEUED, "ticket": ticket} | changes)
            pipe.hdel(key, "worker")
            pipe.hincrby(key, "version", 1)
            pipe.zrem(keys.running(schema), record.id)
            self._add_to_queue(pipe, record)
            self._announce(pipe, record.id)
            return True

        return transaction(redis, change, key)

    def retry(self, record: Record) -> bool:
        """Queue a job that has failed or was cancelled; return False if it is in another state."""
        key, schema = keys.job(record.id), record.schema

        def change(pipe: Connection) -> bool:
            if pipe.hget(key, "state") not in (State.FAILED.encode(), State.CANCELLED.encode()):
                return False
            if not self._redis.exists(keys.dataset(record.dataset)):
                raise NotFound(f"The data set {json.dumps(record.dataset)} is gone; upload the table and post the job.")
            pipe.multi()
            ticket = self._tickets.write(pipe, record.id, schema)
            pipe.hdel(key, *FIELDS_RESET_BY_RETRY)
            pipe.hset(key, mapping={"state": State.QUEUED, "ticket": ticket})
            pipe.hincrby(key, "version", 1)
            pipe.persist(key)
            pipe.persist(keys.events(record.id))
            pipe.zadd(keys.jobs(record.owner), {record.id: record.created})
            self._add_to_queue(pipe, record)
            pipe.sadd(keys.open_jobs(record.owner), record.id)
            pipe.sadd(keys.dataset_jobs(record.dataset), record.id)
            extend_expiry(pipe, record.dataset, self._settings.dataset_seconds)
            self._announce(pipe, record.id)
            return True

        return transaction(self._redis, change, key)

    def _add_to_queue(self, pipe: Connection, record: Record) -> None:
        place = record.place or place_of(record.created, 0, record.priority)
        add_to_queue(pipe, record.id, record.owner, record.schema, record.created, place)

    def sweep_if_due(self) -> None:
        """Sweep, unless another worker has begun a sweep within the last interval."""
        if self._begin_sweep(keys=[keys.LAST_SWEEP], args=[DUE_AFTER * self._settings.heartbeat_interval]):
            self.sweep()

    def sweep(self) -> None:
        """Requeue jobs whose lease has expired, write lost tickets again, remove ids of expired entries."""
        interval, lease = self._settings.heartbeat_interval, self._settings.lease_seconds
        for schema in SCHEMAS:
            running, limits = keys.running(schema), [2 * interval, 2 * interval, SWEEP_LIMIT, lease]
            for id in self._expired_leases(keys=[running, keys.swept(schema)], args=limits):
                raw = self._redis.hgetall(keys.job(id.decode()))
                until = self._redis.zscore(running, id)  # read again: another sweep may have requeued the job
                if raw and until is not None and until <= self._redis.time()[0]:
                    self.requeue_or_fail(Record.parsed(id.decode(), raw), Setback.LOSS)
            self._tickets.balance(schema, SWEEP_LIMIT)
        self._forget_expired()

    def _forget_expired(self) -> None:
        """Remove ids of expired entries from the oldest of each list, for some owners at each sweep."""
        self._cursor, names = self._redis.sscan(keys.OWNERS, self._cursor, count=OWNERS_PER_SWEEP)
        lists = [(keys.running(schema), keys.job("%s")) for schema in SCHEMAS]
        for owner in {"", *(name.decode() for name in names)}:
            lists.append((keys.jobs(owner), keys.job("%s")))
            lists.append((keys.datasets(owner), keys.dataset("%s")))
            lists.append((keys.batches(owner), keys.batch("%s")))
        self._remove_expired(keys=[name for name, _ in lists], args=[SWEEP_LIMIT, *(entry for _, entry in lists)])


def _setbacks(record: Record) -> dict[Setback, int]:
    """Return how often a job was interrupted since it last made progress."""
    if record.progressed > record.setback_at:
        return dict.fromkeys(Setback, 0)
    return {Setback.CRASH: record.crashes, Setback.LOSS: record.losses}
