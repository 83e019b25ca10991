"""Recovery of jobs: after a crash, a lost worker or a lost ticket, and on request.

Workers make these repairs at intervals. A job that its own process has ended too often fails.
"""

import json
from collections.abc import Callable
from enum import StrEnum

from ism_jobs import schema_versions
from ism_jobs.errors import NotFound, Problem
from ism_jobs.sentences import counted
from ism_jobs.settings import Settings
from ism_jobs.store import keys
from ism_jobs.store.datasets import extend_expiry
from ism_jobs.store.queue import Tickets
from ism_jobs.store.records import Record, State
from ism_jobs.store.redis import Connection, script, transaction

SCHEMAS = range(1, schema_versions.JOB + 1)  # the schema versions of jobs that this process can run
SWEEP_LIMIT = 100  # most queued jobs, most running jobs, and most ids of each list that one sweep checks
# A lost worker is rarely the fault of its job: power may have failed. But a job can take its machine down each time.
LOSSES_PER_CRASH = 10
OF_AN_END = (  # fields of a job that has ended, which one that is retried does not have
    *("worker", "error", "finished", "started", "cancel", "finish", "progress", "best"),
    *("crashes", "losses", "progressed", "setback_at", "missed", "missed_at"),
)

Announce = Callable[[Connection, str], None]  # adds an event to a pipeline: the state of this job has changed
Finish = Callable[..., bool]  # ends a job: record, state, fields


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

    def __init__(
        self, redis: Connection, settings: Settings, tickets: Tickets, announce: Announce, finish: Finish
    ) -> None:
        self._redis = redis
        self._settings = settings
        self._tickets = tickets
        self._announce = announce
        self._finish = finish
        self._expired_leases = script(redis, "expired_leases")

    def requeue_or_fail(self, record: Record, setback: Setback | None) -> None:
        """Requeue a running job whose process has ended, or fail it if that has happened too often."""
        if record.state is not State.RUNNING:
            return
        most = self._settings.max_attempts * (LOSSES_PER_CRASH if setback is Setback.LOSS else 1)
        if setback is not None and (count := _setbacks(record)[setback] + 1) >= most:
            self._finish(record, State.FAILED, error=json.dumps(too_many(setback, count).document()))
        else:
            self.requeue(record, setback)

    def requeue(self, record: Record, setback: Setback | None) -> bool:
        """Queue a running job again, before all jobs created later.

        A job that is to be cancelled ends instead. Return False if it has ended or another attempt has begun.
        """
        key, schema, redis = keys.job(record.id), record.schema, self._redis
        if redis.hexists(key, "cancel"):
            return self._finish(record, State.CANCELLED)
        counts = _setbacks(record)
        changes: dict[str, str | int] = {}
        if setback is not None:
            changes = {str(each): counts[each] + (each is setback) for each in Setback}
            changes["setback_at"] = record.progressed

        def change(pipe: Connection) -> bool:
            behind = _ticket_before(redis, record.created, schema)
            state, attempt = pipe.hmget(key, "state", "attempt")
            if state != State.RUNNING.encode() or int(attempt) != record.attempt:
                return False
            pipe.multi()
            ticket = self._tickets.write(pipe, record.id, schema, at_front=True, behind=behind)
            pipe.hset(key, mapping={"state": State.QUEUED, "ticket": ticket} | changes)
            pipe.hdel(key, "worker")
            pipe.hincrby(key, "version", 1)
            pipe.zrem(keys.running(schema), record.id)
            pipe.zadd(keys.queued(schema), {record.id: record.created})
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
            pipe.hdel(key, *OF_AN_END)
            pipe.hset(key, mapping={"state": State.QUEUED, "ticket": ticket})
            pipe.hincrby(key, "version", 1)
            pipe.persist(key)
            pipe.persist(keys.events(record.id))
            pipe.zadd(keys.jobs(record.owner), {record.id: record.created})
            pipe.zadd(keys.queued(schema), {record.id: record.created})
            pipe.sadd(keys.open_jobs(record.owner), record.id)
            pipe.sadd(keys.dataset_jobs(record.dataset), record.id)
            extend_expiry(pipe, record.dataset, self._settings.dataset_seconds)
            self._announce(pipe, record.id)
            return True

        return transaction(self._redis, change, key)

    def sweep(self) -> None:
        """Requeue jobs whose lease has expired, write lost tickets again, remove ids of expired entries."""
        seconds, _ = self._redis.time()
        interval, lease = self._settings.heartbeat_interval, self._settings.lease_seconds
        for schema in SCHEMAS:
            running, limits = keys.running(schema), [2 * interval, 2 * interval, SWEEP_LIMIT, lease]
            for id in self._expired_leases(keys=[running, keys.swept(schema)], args=limits):
                raw = self._redis.hgetall(keys.job(id.decode()))
                until = self._redis.zscore(running, id)  # read again: another sweep may have requeued the job
                if raw and until is not None and until <= seconds:
                    self.requeue_or_fail(Record.parsed(id.decode(), raw), Setback.LOSS)
            replace_lost_tickets(self._redis, self._tickets, schema, SWEEP_LIMIT, seconds, interval)
        remove_expired(self._redis, SWEEP_LIMIT)


def _setbacks(record: Record) -> dict[Setback, int]:
    """Return how often a job was interrupted since it last made progress."""
    if record.progressed > record.setback_at:
        return dict.fromkeys(Setback, 0)
    return {Setback.CRASH: record.crashes, Setback.LOSS: record.losses}


def _ticket_before(redis: Connection, created: float, schema: int) -> str | None:
    """Return the ticket of the last queued job created before this time; a requeued job goes right behind it."""
    older = redis.zrevrangebyscore(keys.queued(schema), f"({created!r}", "-inf", start=0, num=1)
    ticket = redis.hget(keys.job(older[0].decode()), "ticket") if older else None
    return ticket.decode() if ticket else None


def replace_lost_tickets(redis: Connection, tickets: Tickets, schema: int, most: int, now: int, interval: int) -> None:
    """Write a new ticket for each queued job whose ticket has been missing for `interval` seconds.

    The oldest `most` jobs of a schema version are checked.
    """
    jobs = [id.decode() for id in redis.zrange(keys.queued(schema), 0, most - 1)]
    with redis.pipeline(transaction=False) as pipe:
        for job in jobs:
            pipe.hget(keys.job(job), "ticket")
        names = [(ticket or b"").decode() for ticket in pipe.execute()]
    for job, position in zip(jobs, tickets.positions(names, schema), strict=True):
        if position is None:
            _replace_if_lost(redis, tickets, schema, job, now, interval)


def _replace_if_lost(redis: Connection, tickets: Tickets, schema: int, id: str, now: int, interval: int) -> None:
    """Write a new ticket if the old one stays missing.

    A ticket is missing for a moment while a worker takes it and claims the job.
    """
    key = keys.job(id)

    def change(pipe: Connection) -> None:
        fields = pipe.hmget(key, "state", "ticket", "missed", "missed_at")
        state, ticket, missed, missed_at = (value and value.decode() for value in fields)
        if state != State.QUEUED:  # expired, or cancelled by an earlier release, which does not know this list
            pipe.multi()
            pipe.zrem(keys.queued(schema), id)
        elif tickets.position(ticket or "", schema) is None:
            if missed != ticket:
                pipe.multi()
                pipe.hset(key, mapping={"missed": ticket or "", "missed_at": now})
            elif abs(now - int(missed_at)) >= interval:  # the clock may have been set back
                pipe.multi()
                pipe.hset(key, "ticket", tickets.write(pipe, id, schema, at_front=True))

    transaction(redis, change, key)


def remove_expired(redis: Connection, most: int) -> None:
    """Remove ids of expired entries from the lists. The oldest `most` ids of each list are checked."""
    lists: list[tuple[str, Callable[[str], str]]] = [(keys.running(schema), keys.job) for schema in SCHEMAS]
    for owner in {"", *(name.decode() for name in redis.smembers(keys.OWNERS))}:
        lists += [(keys.jobs(owner), keys.job), (keys.datasets(owner), keys.dataset), (keys.batches(owner), keys.batch)]
    with redis.pipeline(transaction=False) as pipe:
        for index, _ in lists:
            pipe.zrange(index, 0, most - 1)
        found = zip(lists, pipe.execute(), strict=True)
        entries = [(index, id.decode(), key) for (index, key), ids in found for id in ids]
        for _, id, key in entries:
            pipe.exists(key(id))
        gone = [entry for entry, exists in zip(entries, pipe.execute(), strict=True) if not exists]
        for index, id, _ in gone:
            pipe.zrem(index, id)
        pipe.execute()
