"""What happened to a job, in order, for those who follow it."""

from dataclasses import dataclass
from typing import Self

from redis.asyncio import Redis

from ism_jobs.connection import AsyncConnection
from ism_jobs.settings import Settings
from ism_jobs.store import keys

START = "0-0"
LONGEST_WAIT = 15.0  # seconds; Redis may be silent for so long, and a connection must not take that for its death


@dataclass(frozen=True)
class Event:
    """`kind` is "state" (look at the job again), "step" or "validation"; `data` is JSON, or empty."""

    id: str
    kind: str
    data: str


class Events:
    """Reads events, and waits for them without a thread each."""

    def __init__(self, redis: AsyncConnection) -> None:
        self._redis = redis

    @classmethod
    def open(cls, settings: Settings) -> Self:
        """The events in the Redis of the settings."""
        return cls(Redis.from_url(settings.required_redis_url, socket_timeout=LONGEST_WAIT + 10))

    async def close(self) -> None:
        """Let go of Redis."""
        await self._redis.aclose()

    async def last(self, job: str) -> str:
        """The id of the newest event."""
        newest = await self._redis.xrevrange(keys.events(job), count=1)
        return newest[0][0].decode() if newest else START

    async def after(self, job: str, last: str, seconds: float) -> list[Event]:
        """The events after one, waiting up to some seconds for the first."""
        block = max(1, int(1000 * min(seconds, LONGEST_WAIT)))
        answer = await self._redis.xread({keys.events(job): last}, count=500, block=block)
        if not answer:
            return []
        (_, entries), *_ = answer
        return [Event(id.decode(), entry[b"kind"].decode(), entry[b"data"].decode()) for id, entry in entries]
