"""Repairs that workers make at intervals: lost tickets are written again, ids of expired entries are removed."""

from collections.abc import Callable

from ism_jobs import schema_versions
from ism_jobs.errors import Problem
from ism_jobs.sentences import counted
from ism_jobs.store import keys
from ism_jobs.store.queue import Tickets
from ism_jobs.store.records import Record, State
from ism_jobs.store.redis import Connection, transaction

Announce = Callable[[Connection, str], None]  # adds an event to a pipeline: the state of this job has changed


def too_many_crashes(crashes: int) -> Problem:
    """Return the problem of a job whose worker process has ended unexpectedly too often."""
    return Problem(
        f"The process that ran this job has ended unexpectedly {counted(crashes, 'time')}, most likely because"
        " it ran out of memory; try fewer rows or features, or give the workers more memory."
    )


def _ticket_before(redis: Connection, created: float, schema: int) -> str | None:
    """Return the ticket of the last queued job created before this time; a requeued job goes right behind it."""
    older = redis.zrevrangebyscore(keys.queued(schema), f"({created!r}", "-inf", start=0, num=1)
    ticket = redis.hget(keys.job(older[0].decode()), "ticket") if older else None
    return ticket.decode() if ticket else None


def requeue(redis: Connection, tickets: Tickets, record: Record, crashed: bool, announce: Announce) -> bool:
    """Queue a running job again, before all jobs created later; return False if another attempt has begun."""
    key, schema = keys.job(record.id), record.schema

    def change(pipe: Connection) -> bool:
        behind = _ticket_before(redis, record.created, schema)
        state, attempt = pipe.hmget(key, "state", "attempt")
        if state != State.RUNNING.encode() or int(attempt) != record.attempt:
            return False
        pipe.multi()
        ticket = tickets.write(pipe, record.id, schema, at_front=True, behind=behind)
        pipe.hset(key, mapping={"state": State.QUEUED, "ticket": ticket})
        pipe.hdel(key, "worker")
        pipe.hincrby(key, "version", 1)
        pipe.hincrby(key, "crashes", int(crashed))
        pipe.zrem(keys.running(schema), record.id)
        pipe.zadd(keys.queued(schema), {record.id: record.created})
        announce(pipe, record.id)
        return True

    return transaction(redis, change, key)


def replace_lost_tickets(redis: Connection, tickets: Tickets, schema: int, most: int, now: int, interval: int) -> None:
    """Write a new ticket for each queued job whose ticket has been missing for `interval` seconds.

    The oldest `most` jobs of a schema version are checked.
    """
    waiting = redis.zrangebyscore(keys.queued(schema), "-inf", now - interval, start=0, num=most)
    jobs = [id.decode() for id in waiting]
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
            elif now - int(missed_at) >= interval:
                pipe.multi()
                pipe.hset(key, "ticket", tickets.write(pipe, id, schema, at_front=True))

    transaction(redis, change, key)


def remove_expired(redis: Connection, most: int) -> None:
    """Remove ids of expired entries from the lists. The oldest `most` ids of each list are checked."""
    schemas = range(1, schema_versions.JOB + 1)
    lists: list[tuple[str, Callable[[str], str]]] = [(keys.running(schema), keys.job) for schema in schemas]
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
