"""What the sweep puts in order: tickets that were lost, and entries of things that have expired."""

from collections.abc import Callable, Sequence

from ism_jobs.errors import Problem
from ism_jobs.sentences import counted
from ism_jobs.store import keys
from ism_jobs.store.queue import Tickets
from ism_jobs.store.records import State
from ism_jobs.store.redis import Connection
from ism_jobs.store.transactions import transaction


def lost(crashes: int) -> Problem:
    """What is told of a job that loses its process again and again."""
    return Problem(
        f"The process that ran this job has ended unexpectedly {counted(crashes, 'time')}, most likely for want of"
        " memory; try fewer rows or features, or give the workers more memory."
    )


def ticket_before(redis: Connection, created: float) -> str | None:
    """That of the last waiting job which was made before this time: who is put back waits behind it."""
    older = redis.zrevrangebyscore(keys.QUEUED, f"({created!r}", "-inf", start=0, num=1)
    ticket = redis.hget(keys.job(older[0].decode()), "ticket") if older else None
    return ticket.decode() if ticket else None


def look_for_tickets(redis: Connection, tickets: Tickets, jobs: Sequence[str], now: int, interval: int) -> None:
    """See that jobs which wait have a ticket in the queue."""
    with redis.pipeline(transaction=False) as pipe:
        for job in jobs:
            pipe.hget(keys.job(job), "ticket")
        names = [(ticket or b"").decode() for ticket in pipe.execute()]
    for job, position in zip(jobs, tickets.positions(names), strict=True):
        if position is None:
            _look_again(redis, tickets, job, now, interval)


def _look_again(redis: Connection, tickets: Tickets, id: str, now: int, interval: int) -> None:
    """Between queue and claim a ticket is nowhere for a moment; one that is nowhere for some seconds is lost."""
    key = keys.job(id)

    def change(pipe: Connection) -> None:
        fields = pipe.hmget(key, "state", "ticket", "missed", "missed_at")
        state, ticket, missed, missed_at = (value and value.decode() for value in fields)
        if state is None:
            pipe.multi()
            pipe.zrem(keys.QUEUED, id)
        elif state == State.QUEUED and tickets.position(ticket or "") is None:
            if missed != ticket:
                pipe.multi()
                pipe.hset(key, mapping={"missed": ticket or "", "missed_at": now})
            elif now - int(missed_at) >= interval:
                pipe.multi()
                pipe.hset(key, "ticket", tickets.write(pipe, id, at_front=True))

    transaction(redis, change, key)


def forget_expired(redis: Connection, at_once: int) -> None:
    """Take out of the lists of all owners, and of what runs, the oldest entries whose things are gone."""
    lists: list[tuple[str, Callable[[str], str]]] = [(keys.RUNNING, keys.job)]
    for owner in {"", *(name.decode() for name in redis.smembers(keys.OWNERS))}:
        lists += [(keys.jobs(owner), keys.job), (keys.datasets(owner), keys.dataset)]
    with redis.pipeline(transaction=False) as pipe:
        for index, _ in lists:
            pipe.zrange(index, 0, at_once - 1)
        found = zip(lists, pipe.execute(), strict=True)
        entries = [(index, id.decode(), key) for (index, key), ids in found for id in ids]
        for _, id, key in entries:
            pipe.exists(key(id))
        gone = [entry for entry, exists in zip(entries, pipe.execute(), strict=True) if not exists]
        for index, id, _ in gone:
            pipe.zrem(index, id)
        pipe.execute()
