"""How long the job of a killed process waits until a worker begins it again."""

import asyncio
import statistics
import time
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from redis.exceptions import RedisError

from drills.history import ENDED
from drills.processes import Kept
from drills.stack import Stack
from ism_jobs.store import keys

LOOK_SECONDS = 0.1


@dataclass
class Recovery:
    """One job that lost its process."""

    job: str
    attempt: int  # that was lost
    killed: float  # time.monotonic
    by: str
    served: float = 0.0  # seconds since then in which Redis was there for a worker, awake if not free
    seconds: float | None = None  # until it was begun again
    had_ended: bool = False  # it needed no further attempt


class Recoveries:
    """Finds out which job a process has, and waits for the job's next attempt."""

    def __init__(self, stack: Stack) -> None:
        self._stack = stack
        self._redis = stack.inspect
        self._waiting: list[Recovery] = []
        self.all: list[Recovery] = []

    async def jobs_of(self, pids: list[int]) -> list[tuple[str, int]]:
        """The (id, attempt) of the jobs that these workers run; none where Redis does not answer."""
        workers, found = await self._workers(), []
        with suppress(RedisError):
            for id in await self._redis.zrange(keys.RUNNING, 0, -1):
                worker, attempt = await self._redis.hmget(keys.job(id), "worker", "attempt")
                if workers.get(worker) in pids:
                    found.append((id, int(attempt)))
        return found

    async def awake(self) -> list[Kept]:
        """The workers that could take a job, or have one; none where Redis does not answer."""
        known, links = set((await self._workers()).values()), self._stack.links
        return [
            worker
            for worker in self._stack.workers
            if worker.awake and worker.pid in known and links[worker.name].passes
        ]

    async def _workers(self) -> dict[str, int]:
        """The process ids of all workers that have announced themselves, by RQ's names for them."""
        found = {}
        with suppress(RedisError):
            for key in await self._redis.smembers("rq:workers"):
                found[key.rsplit(":", 1)[1]] = int(await self._redis.hget(key, "pid") or 0)
        return found

    def killed(self, jobs: list[tuple[str, int]], by: str) -> None:
        """These have just lost their process."""
        lost = [Recovery(id, attempt, time.monotonic(), by) for id, attempt in jobs]
        self._waiting += lost
        self.all += lost

    async def watch(self) -> None:
        """Notice when a job is begun again."""
        last = time.monotonic()
        while True:
            await asyncio.sleep(LOOK_SECONDS)
            passed, last = time.monotonic() - last, time.monotonic()
            if self._waiting:
                served = passed if await self.awake() else 0.0
                with suppress(RedisError):
                    await self._look(served)

    async def _look(self, served: float) -> None:
        for one in list(self._waiting):
            one.served += served
            state, attempt = await self._redis.hmget(keys.job(one.job), "state", "attempt")
            if int(attempt or 0) > one.attempt:
                one.seconds = time.monotonic() - one.killed
                one.served = min(one.served, one.seconds)
            elif state in ENDED:
                one.had_ended = True
            else:
                continue
            self._waiting.remove(one)

    def document(self) -> dict[str, Any]:
        """Median and worst in seconds, over all and by what was killed; also without the time when nobody was there."""
        groups = {"all": self.all, **{by: [one for one in self.all if one.by == by] for by in _kinds(self.all)}}
        return {name: _summary(group) for name, group in groups.items()}


def _kinds(all: list[Recovery]) -> list[str]:
    return sorted({one.by for one in all})


def _summary(group: list[Recovery]) -> dict[str, Any]:
    seconds = [one.seconds for one in group if one.seconds is not None]
    return {
        "recovered": len(seconds),
        "never": sum(one.seconds is None and not one.had_ended for one in group),
        "median": statistics.median(seconds) if seconds else None,
        "worst": max(seconds, default=None),
        "worst_served": max((one.served for one in group if one.seconds is not None), default=None),
    }
