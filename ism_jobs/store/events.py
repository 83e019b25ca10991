"""Reads the events of jobs, in order, for clients that follow a job.

Who writes them: `Attempt.report` (lua/report.lua) those of a running job; lua/claim.lua, lua/end.lua and
`Jobs._announce` those of kind "state".
"""

import asyncio
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Self

from ism_jobs import schema_versions
from ism_jobs.settings import Settings
from ism_jobs.store import keys
from ism_jobs.store.redis import AsyncConnection, async_connections

START = "0-0"  # an id before that of every event
LONGEST_WAIT = 15.0  # seconds; a follower then reads the job again, even if no event has come
CONNECTIONS = 8  # to Redis, shared by all followers of one process
READ_BATCH_SIZE = 500  # events of a job that one command reads
BLOCK_MILLISECONDS = 100  # how long one XREAD blocks; followers that join meanwhile are in the next one


@dataclass(frozen=True)
class Event:
    """Something that happened to a job.

    `kind` is "state" (the state has changed), "trial", "choice", "step", "resample", "validation" or "picture". `data`
    is JSON; it is empty if the kind is "state". A picture is large, so that only the latest is stored, outside of the
    events; `data` has its number.
    """

    id: str
    kind: str
    data: str


@dataclass(frozen=True, eq=False)
class _Follower:
    """A client that has seen all events up to `last`, and waits for more."""

    key: str
    last: str
    new: "asyncio.Future[list[Event]]"

    def receive(self, events: list[Event]) -> bool:
        """Deliver the events that this follower has not seen; return whether there are any."""
        new = [event for event in events if _order(event.id) > _order(self.last)]
        if new and not self.new.done():
            self.new.set_result(new)
        return bool(new)


class Events:
    """Reads events, and waits for new ones. One task waits for all followers, however many there are.

    Each follower first reads the existing events. Then one XREAD asks for new events of all followed jobs. For each job
    it starts at the follower that is furthest behind. The task ends when no follower is left.
    """

    def __init__(self, redis: AsyncConnection) -> None:
        self._redis = redis
        self._followers: set[_Follower] = set()
        self._reading: asyncio.Task[None] | None = None

    @classmethod
    def open(cls, settings: Settings) -> Self:
        """Open the events in the Redis of the settings."""
        return cls(async_connections(settings.required_redis_url, CONNECTIONS))

    async def close(self) -> None:
        """Close the connections to Redis."""
        if self._reading is not None:
            self._reading.cancel()
            await asyncio.wait([self._reading])
        await self._redis.aclose()

    async def last(self, job: str) -> str:
        """Return the id of the newest event of a job."""
        newest = await self._redis.xrevrange(keys.events(job), count=1)
        return newest[0][0].decode() if newest else START

    async def after(self, job: str, last: str, seconds: float) -> list[Event]:
        """Return the events after `last`; wait up to `seconds` for the first. Raises if Redis fails meanwhile."""
        key = keys.events(job)
        answer = await self._redis.xread({key: last}, count=READ_BATCH_SIZE)
        if answer or seconds <= 0:
            return _parsed(answer).get(key, [])
        follower = _Follower(key, last, asyncio.get_running_loop().create_future())
        self._followers.add(follower)
        if self._reading is None or self._reading.done():
            self._reading = asyncio.create_task(self._read())
        try:
            await asyncio.wait([follower.new], timeout=min(seconds, LONGEST_WAIT))
            return follower.new.result() if follower.new.done() else []
        finally:
            self._followers.discard(follower)

    async def _read(self) -> None:
        while self._followers:
            # A snapshot: followers that join later may need older events than this command reads.
            waiting = list(self._followers)
            try:
                answer = await self._redis.xread(_oldest(waiting), count=READ_BATCH_SIZE, block=BLOCK_MILLISECONDS)
                events = _parsed(answer)
                self._followers.difference_update(one for one in waiting if one.receive(events.get(one.key, [])))
            except Exception as error:  # each follower raises it to its own caller
                for follower in self._followers:
                    if not follower.new.done():
                        follower.new.set_exception(error)
                self._followers.clear()


def _oldest(followers: Iterable[_Follower]) -> dict[str, str]:
    """Return for each key the last-seen event of the follower that is furthest behind."""
    oldest: dict[str, str] = {}
    for follower in followers:
        oldest[follower.key] = min(oldest.get(follower.key, follower.last), follower.last, key=_order)
    return oldest


def _order(id: str) -> tuple[int, int]:
    time, number = id.split("-")
    return int(time), int(number)


def _parsed(answer: Any) -> dict[str, list[Event]]:
    return {key.decode(): [_event(id, entry) for id, entry in entries] for key, entries in answer}


def _event(id: bytes, entry: dict[bytes, bytes]) -> Event:
    """Return an entry of the stream. One that only a newer release can read becomes a change of state without data."""
    if int(entry.get(b"schema", 1)) > schema_versions.EVENT:
        return Event(id.decode(), "state", "")
    return Event(id.decode(), entry[b"kind"].decode(), entry[b"data"].decode())
