"""What happened to a job, in order, for those who follow it."""

import asyncio
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Self

from ism_jobs.settings import Settings
from ism_jobs.store import keys
from ism_jobs.store.redis import AsyncConnection, async_connections

START = "0-0"
LONGEST_WAIT = 15.0  # seconds; after these who follows a job looks at it again, whether or not something happened
CONNECTIONS = 8
AT_ONCE = 500  # events
ROUND = 100  # milliseconds for which all followers are waited for; who comes meanwhile is among the next


@dataclass(frozen=True)
class Event:
    """`kind` is "state" (look at the job again), "step" or "validation"; `data` is JSON, or empty."""

    id: str
    kind: str
    data: str


@dataclass(frozen=True, eq=False)
class _Follower:
    """Someone who has seen all up to an event, and waits for more."""

    key: str
    last: str
    news: "asyncio.Future[list[Event]]"

    def told(self, events: list[Event]) -> bool:
        """Hand over those of the events that are new here; tells whether one was."""
        new = [event for event in events if _order(event.id) > _order(self.last)]
        if new and not self.news.done():
            self.news.set_result(new)
        return bool(new)


class Events:
    """Reads events, and waits for them: one task waits for all followers, however many they are.

    What is there already, each follower reads for itself. Then the task asks Redis for the events of all jobs that are
    followed, of each from where the follower with the least has got to. It ends when nobody is left to wait for.
    """

    def __init__(self, redis: AsyncConnection) -> None:
        self._redis = redis
        self._followers: set[_Follower] = set()
        self._reading: asyncio.Task[None] | None = None

    @classmethod
    def open(cls, settings: Settings) -> Self:
        """The events in the Redis of the settings."""
        return cls(async_connections(settings.required_redis_url, CONNECTIONS))

    async def close(self) -> None:
        """Let go of Redis."""
        if self._reading is not None:
            self._reading.cancel()
            await asyncio.wait([self._reading])
        await self._redis.aclose()

    async def last(self, job: str) -> str:
        """The id of the newest event."""
        newest = await self._redis.xrevrange(keys.events(job), count=1)
        return newest[0][0].decode() if newest else START

    async def after(self, job: str, last: str, seconds: float) -> list[Event]:
        """The events after one, waiting up to some seconds for the first; raises when Redis goes away meanwhile."""
        key = keys.events(job)
        answer = await self._redis.xread({key: last}, count=AT_ONCE)
        if answer or seconds <= 0:
            return _parsed(answer).get(key, [])
        follower = _Follower(key, last, asyncio.get_running_loop().create_future())
        self._followers.add(follower)
        if self._reading is None or self._reading.done():
            self._reading = asyncio.create_task(self._read())
        try:
            await asyncio.wait([follower.news], timeout=min(seconds, LONGEST_WAIT))
            return follower.news.result() if follower.news.done() else []
        finally:
            self._followers.discard(follower)

    async def _read(self) -> None:
        while self._followers:
            waiting = list(self._followers)  # those who come later may have seen less than is asked for here
            try:
                answer = await self._redis.xread(_oldest(waiting), count=AT_ONCE, block=ROUND)
                events = _parsed(answer)
                self._followers.difference_update(one for one in waiting if one.told(events.get(one.key, [])))
            except Exception as error:  # of all who wait, and theirs to tell
                for follower in self._followers:
                    if not follower.news.done():
                        follower.news.set_exception(error)
                self._followers.clear()


def _oldest(followers: Iterable[_Follower]) -> dict[str, str]:
    """For each key the least that one of its followers has seen."""
    oldest: dict[str, str] = {}
    for follower in followers:
        oldest[follower.key] = min(oldest.get(follower.key, follower.last), follower.last, key=_order)
    return oldest


def _order(id: str) -> tuple[int, int]:
    time, number = id.split("-")
    return int(time), int(number)


def _parsed(answer: Any) -> dict[str, list[Event]]:
    return {
        key.decode(): [Event(id.decode(), entry[b"kind"].decode(), entry[b"data"].decode()) for id, entry in entries]
        for key, entries in answer
    }
