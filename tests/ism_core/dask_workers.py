"""Dask workers that tests start and kill."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from distributed import Client, LocalCluster, Worker

from tests.support.forks import forks_of

PRELOADED = ("distributed.http.worker.prometheus.core", "ism_core.engines.dask", "tests.support.warm_numerics")


class Processes:
    """Dask workers of one thread each, in processes of their own."""

    def __init__(self, cluster: LocalCluster) -> None:
        self.address: str = cluster.scheduler_address
        self.scheduler = cluster.scheduler
        self._processes: list[Any] = []

    @staticmethod
    @contextmanager
    def of_a_scheduler() -> "Iterator[Processes]":
        """None yet."""
        with LocalCluster(n_workers=0, dashboard_address="127.0.0.1:0") as scheduler:
            processes = Processes(scheduler)
            try:
                yield processes
            finally:
                processes.kill()

    def be(self, count: int) -> None:
        """Start as many as are missing, and wait for them."""
        forks = forks_of(*PRELOADED)
        alive = [process for process in self._processes if is_running(process.pid)]
        started = [forks.Process(target=work_for, args=(self.address,), daemon=True) for _ in range(count - len(alive))]
        for process in started:
            process.start()
        self._processes = alive + started
        with Client(self.address, set_as_default=False) as client:
            client.wait_for_workers(count, timeout=120)

    def lose_one(self) -> None:
        """Kill the first worker."""
        self._processes[0].kill()
        self._processes[0].join(30)

    def kill(self) -> None:
        for process in self._processes:
            process.kill()
            process.join(30)


def is_running(pid: int) -> bool:
    """Return whether a process has not ended; `Process.is_alive` is late if the server of the forks is busy."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except (FileNotFoundError, ProcessLookupError):
        return False


def work_for(address: str) -> None:
    async def work() -> None:
        async with Worker(address, nthreads=1, memory_limit=0, dashboard=False) as worker:
            await worker.finished()

    asyncio.run(work())
