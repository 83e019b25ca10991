"""The service under test: a Redis, some APIs and workers as users start them, each on a network of its own to Redis."""

import asyncio
import os
import random
import sys
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
from redis.asyncio import Redis

from drills.processes import Kept
from drills.proxy import Link
from ism_cli.embedded import find_executable
from tools.local_service import free_port

READY_SECONDS = 240
# Jobs lose their process here far more often than a poisoned one may.
SETTINGS = {"ISM_MAX_ATTEMPTS": "1000", "ISM_WORKER_THREADS": "1", "ISM_LOG_LEVEL": "info"}


@dataclass(frozen=True, eq=False)
class Stack:
    """All of its processes, their links to Redis by name, and the harness's own undisturbed connection."""

    redis: Kept
    apis: list[Kept]
    workers: list[Kept]
    links: dict[str, Link]
    urls: list[str]
    inspect: Any  # redis.asyncio.Redis

    @property
    def processes(self) -> list[Kept]:
        """Redis first."""
        return [self.redis, *self.apis, *self.workers]

    def url(self, rng: random.Random) -> str:
        """One of the APIs."""
        return rng.choice(self.urls)

    async def ready(self) -> None:
        """Wait until every API answers and finds a worker."""
        deadline = time.monotonic() + READY_SECONDS
        async with httpx.AsyncClient(timeout=5) as client:
            for url in self.urls:
                while not await _is_ready(client, url):
                    if time.monotonic() > deadline:
                        raise TimeoutError(f"{url} was not ready after {READY_SECONDS} seconds.")
                    await asyncio.sleep(0.2)


async def _is_ready(client: httpx.AsyncClient, url: str) -> bool:
    try:
        return (await client.get(f"{url}/readyz")).status_code == 200
    except httpx.HTTPError:
        return False


@asynccontextmanager
async def running(folder: Path, *, apis: int, workers: int) -> AsyncIterator[Stack]:
    """Started, and kept running whatever dies, until the end; then all is gone but the folder with the logs."""
    port = free_port()
    plain = {name: value for name, value in os.environ.items() if not name.startswith("ISM_")}
    redis = Kept("redis", _redis_command(folder, port), plain, folder)
    links: dict[str, Link] = {}
    kept: dict[str, list[Kept]] = {"api": [], "worker": []}
    urls = []
    for role, count in (("api", apis), ("worker", workers)):
        for number in range(1, count + 1):
            name, arguments = f"{role} {number}", [role]
            links[name] = Link(port)
            if role == "api":
                arguments += ["--port", str(free_port())]
                urls.append(f"http://127.0.0.1:{arguments[-1]}")
            environment = {**plain, **SETTINGS, "ISM_REDIS_URL": f"redis://127.0.0.1:{await links[name].open()}/0"}
            kept[role].append(Kept(name, [sys.executable, "-m", "ism_cli.main", *arguments], environment, folder))
    inspect = Redis(port=port, decode_responses=True, socket_timeout=1, socket_connect_timeout=1)
    stack = Stack(redis, kept["api"], kept["worker"], links, urls, inspect)
    keeping = []
    try:
        for process in stack.processes:
            process.start()
            keeping.append(asyncio.create_task(process.keep()))
        await stack.ready()
        yield stack
    finally:
        for task in keeping:
            task.cancel()
        await inspect.aclose()
        for link in links.values():
            await link.close()
        for process in reversed(stack.processes):
            process.close()


def _redis_command(folder: Path, port: int) -> list[str]:
    """As docs/operations.md wants it: what was acknowledged is on disk."""
    return [
        find_executable(),
        *("--port", str(port), "--bind", "127.0.0.1", "--dir", str(folder.resolve()), "--save", ""),
        *("--appendonly", "yes", "--appendfsync", "always", "--maxmemory-policy", "noeviction"),
    ]
