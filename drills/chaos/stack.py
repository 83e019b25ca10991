"""The service under test: a Redis, some APIs and workers, each connected to Redis through its own proxy."""

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

from drills.chaos.processes import RestartedProcess
from ism_cli.embedded import find_executable
from tools.local_service import free_port
from tools.process_clocks import Clocks
from tools.release_data import release_variables, unpack_last_release
from tools.tcp_proxy import TcpProxy

READY_SECONDS = 240  # time for the service to become ready, at first and after the faults
# The default number of attempts is for jobs that kill their process; here the drill kills it far more often.
# A process that hangs is killed after a minute by default, which is long for a run of five.
SETTINGS = {
    "ISM_MAX_ATTEMPTS": "1000",
    "ISM_STALL_SECONDS": "5",
    "ISM_WORKER_THREADS": "1",
    "ISM_LOG_LEVEL": "info",
}


@dataclass(frozen=True, eq=False)
class Stack:
    """The processes, their proxies to Redis by name, and the drill's own connection to Redis without a proxy."""

    redis: RestartedProcess
    apis: list[RestartedProcess]
    workers: list[RestartedProcess]
    proxies: dict[str, TcpProxy]
    clocks: Clocks
    urls: list[str]
    inspect: Any  # redis.asyncio.Redis
    folder: Path  # with Redis's files
    last_release: dict[str, str] | None  # variables with which a process is of the last release, if there is history

    @property
    def processes(self) -> list[RestartedProcess]:
        """Return all processes, Redis first."""
        return [self.redis, *self.apis, *self.workers]

    def url(self, rng: random.Random) -> str:
        """Return the address of a random API."""
        return rng.choice(self.urls)

    def bytes_of_redis(self) -> int:
        """Return the size of the largest file that Redis appends to."""
        return max((path.stat().st_size for path in self.folder.glob("appendonlydir/*.aof")), default=0)

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
    """Start the service and restart what dies until the block ends; then end everything. The logs stay in `folder`."""
    port = free_port()
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("ISM_")}
    clocks, release = Clocks(folder), folder / "last-release"
    last_release = release_variables(release) if unpack_last_release(release) else None
    redis = RestartedProcess("redis", _redis_command(folder, port), inherited | clocks.variables("redis"), folder)
    proxies: dict[str, TcpProxy] = {}
    by_role: dict[str, list[RestartedProcess]] = {"api": [], "worker": []}
    urls = []
    for role, count in (("api", apis), ("worker", workers)):
        for number in range(1, count + 1):
            name, arguments = f"{role} {number}", [role]
            proxies[name] = TcpProxy(port)
            if role == "api":
                arguments += ["--port", str(free_port())]
                urls.append(f"http://127.0.0.1:{arguments[-1]}")
            environment = {
                **inherited,
                **SETTINGS,
                **clocks.variables(name),
                "ISM_REDIS_URL": f"redis://127.0.0.1:{await proxies[name].open()}/0",
            }
            by_role[role].append(
                RestartedProcess(name, [sys.executable, "-m", "ism_cli.main", *arguments], environment, folder)
            )
    inspect = Redis(port=port, decode_responses=True, socket_timeout=1, socket_connect_timeout=1)
    stack = Stack(redis, by_role["api"], by_role["worker"], proxies, clocks, urls, inspect, folder, last_release)
    supervising = []
    try:
        for process in stack.processes:
            process.start()
            supervising.append(asyncio.create_task(process.supervise()))
        await stack.ready()
        yield stack
    finally:
        for task in supervising:
            task.cancel()
        await inspect.aclose()
        for proxy in proxies.values():
            await proxy.close()
        for process in reversed(stack.processes):
            process.close()


def _redis_command(folder: Path, port: int) -> list[str]:
    """Return the command as docs/operations.md recommends it: acknowledged writes are on disk."""
    return [
        find_executable(),
        *("--port", str(port), "--bind", "127.0.0.1", "--dir", str(folder.resolve()), "--save", ""),
        *("--appendonly", "yes", "--appendfsync", "always", "--maxmemory-policy", "noeviction"),
    ]
