"""Measure how long the job of a killed process waits until a worker starts its next attempt."""

import asyncio
import statistics
import time
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from redis.exceptions import RedisError

from drills.chaos.history import ENDED
from drills.chaos.processes import RestartedProcess
from drills.chaos.stack import Stack
from ism_jobs.schema_versions import JOB
from ism_jobs.store import keys

POLL_SECONDS = 0.1


@dataclass
class Recovery:
    """One job whose process was killed."""

    job: str
    attempt: int  # the attempt that was killed
    killed: float  # time.monotonic
    by: str  # the fault
    available_seconds: float = 0.0  # part of the wait in which a worker was awake, and Redis there and not full
    seconds: float | None = None  # until the next attempt started
    had_ended: bool = False  # the job had ended already and needed no further attempt


class Recoveries:
    """Finds the jobs of a process in Redis, and waits for their next attempt."""

    def __init__(self, stack: Stack) -> None:
        self._stack = stack
        self._redis = stack.inspect
        self._waiting: list[Recovery] = []
        self.full_stores = 0  # how many faults keep the store full, so that no job can start
        self.all: list[Recovery] = []

    async def jobs_of(self, pids: list[int]) -> list[tuple[str, int]]:
        """Return the (id, attempt) of the jobs that these workers run; none if Redis does not answer."""
        workers, found = await self._workers(), []
        with suppress(RedisError):
            for id in await self._redis.zrange(keys.running(JOB), 0, -1):
                worker, attempt = await self._redis.hmget(keys.job(id), "worker", "attempt")
                if workers.get(worker) in pids:
                    found.append((id, int(attempt)))
        return found

    async def available_workers(self) -> list[RestartedProcess]:
        """Return the workers that run and reach Redis; none if Redis does not answer."""
        known, proxies = set((await self._workers()).values()), self._stack.proxies
        return [
            worker
            for worker in self._stack.workers
            if worker.is_awake and worker.pid in known and proxies[worker.name].is_passable
        ]

    async def _workers(self) -> dict[str, int]:
        """Return the process ids of all registered workers by their RQ names."""
        found = {}
        with suppress(RedisError):
            for key in await self._redis.smembers("rq:workers"):
                found[key.rsplit(":", 1)[1]] = int(await self._redis.hget(key, "pid") or 0)
        return found

    def killed(self, jobs: list[tuple[str, int]], by: str) -> None:
        """Record that the process of these jobs was killed just now."""
        lost = [Recovery(id, attempt, time.monotonic(), by) for id, attempt in jobs]
        self._waiting += lost
        self.all += lost

    async def watch(self) -> None:
        """Watch for the next attempts until cancelled."""
        last = time.monotonic()
        while True:
            await asyncio.sleep(POLL_SECONDS)
            passed, last = time.monotonic() - last, time.monotonic()
            if self._waiting:
                available = passed if await self.available_workers() and not self.full_stores else 0.0
                with suppress(RedisError):
                    await self._update(available)

    async def _update(self, available: float) -> None:
        for one in list(self._waiting):
            one.available_seconds += available
            state, attempt = await self._redis.hmget(keys.job(one.job), "state", "attempt")
            if int(attempt or 0) > one.attempt:
                one.seconds = time.monotonic() - one.killed
                one.available_seconds = min(one.available_seconds, one.seconds)
            elif state in ENDED:
                one.had_ended = True
            else:
                continue
            self._waiting.remove(one)

    def document(self) -> dict[str, Any]:
        """Return median and maximum in seconds, over all and by fault, with and without times without a worker."""
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
        "worst_available": max((one.available_seconds for one in group if one.seconds is not None), default=None),
    }
