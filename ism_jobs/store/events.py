"""What happened to a job, in order, for those who follow it."""

from dataclasses import dataclass

from ism_jobs.connection import AsyncConnection
from ism_jobs.store import keys

START = "0-0"


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

    async def last(self, job: str) -> str:
        """The id of the newest event."""
        newest = await self._redis.xrevrange(keys.events(job), count=1)
        return newest[0][0].decode() if newest else START

    async def after(self, job: str, last: str, seconds: float) -> list[Event]:
        """The events after one, waiting up to some seconds for the first."""
        answer = await self._redis.xread({keys.events(job): last}, count=500, block=max(1, int(seconds * 1000)))
        if not answer:
            return []
        (_, entries), *_ = answer
        return [Event(id.decode(), entry[b"kind"].decode(), entry[b"data"].decode()) for id, entry in entries]
