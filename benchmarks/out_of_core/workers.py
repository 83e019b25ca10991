"""Dask workers with a memory limit, one of which may be killed."""

import os
import re
import resource
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from benchmarks.measuring import Row

ONE_THREAD = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}
UNITS = {"GiB": 2**30, "MiB": 2**20}


class Cluster:
    """A scheduler and workers, processes of their own."""

    def __init__(self, engine: "object", workers: list[subprocess.Popen[bytes]], lost_after: float | None) -> None:
        self.engine = engine
        self._workers = workers
        self._lost_after = lost_after
        self._killer: threading.Timer | None = None
        self._used_before = 0.0

    def begin(self) -> None:
        """Begin to count, and let a worker be killed if one shall be."""
        self._used_before = sum(_cpu_seconds(worker.pid) for worker in self._workers)
        if self._lost_after is not None:
            victim = self._workers[0]
            self._killer = threading.Timer(self._lost_after, lambda: os.kill(victim.pid, signal.SIGKILL))
            self._killer.start()

    def usage(self) -> Row:
        """Return the CPU time and the peak memory of the workers that are alive."""
        alive = [worker for worker in self._workers if worker.poll() is None]
        if self._killer is not None:
            self._killer.cancel()
            assert len(alive) < len(self._workers), "the solve ended before a worker was killed"
            return {"workers left": len(alive)}
        used = sum(_cpu_seconds(worker.pid) for worker in alive) - self._used_before
        return {"workers' CPU s": used, "largest worker GiB": max(_peak(worker.pid) for worker in alive) / 2**30}


@contextmanager
def cluster(processes: int, limit: str, lost_after: float | None) -> Iterator[Cluster]:
    """Start workers of one thread and limited memory."""
    from ism_core.engines import Dask

    number, unit = re.fullmatch(r"([0-9.]+)(.+)", limit).groups()
    size = int(float(number) * UNITS[unit])
    running: list[subprocess.Popen[bytes]] = []
    port = _free_port()
    address = f"tcp://127.0.0.1:{port}"
    common = ["--no-dashboard", "--host", "127.0.0.1"]

    def start(*arguments: str, bytes_at_most: int | None = None) -> subprocess.Popen[bytes]:
        def limited() -> None:
            if bytes_at_most is not None:
                resource.setrlimit(resource.RLIMIT_DATA, (bytes_at_most, bytes_at_most))

        command = [sys.executable, "-m", "distributed.cli." + arguments[0], *arguments[1:]]
        process = subprocess.Popen(
            command, env={**os.environ, **ONE_THREAD}, stderr=subprocess.DEVNULL, preexec_fn=limited
        )
        running.append(process)
        return process

    try:
        start("dask_scheduler", "--port", str(port), *common)
        options = ["--nthreads", "1", "--no-nanny", "--memory-limit", limit, *common]
        workers = [start("dask_worker", address, *options, bytes_at_most=size) for _ in range(processes)]
        with Dask(_answering(address)) as engine:
            engine._client.wait_for_workers(processes, timeout=120)
            yield Cluster(engine, workers, lost_after)
    finally:
        for process in reversed(running):
            process.kill()
            process.wait()


def _free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])


def _answering(address: str) -> str:
    """Wait until the scheduler listens."""
    host, port = address.removeprefix("tcp://").split(":")
    for _ in range(600):
        with socket.socket() as connection:
            if connection.connect_ex((host, int(port))) == 0:
                return address
        time.sleep(0.1)
    raise TimeoutError(f"No scheduler answers at {address}.")


def _cpu_seconds(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _peak(pid: int) -> float:
    line = next(line for line in Path(f"/proc/{pid}/status").read_text().splitlines() if line.startswith("VmHWM:"))
    return 1024 * float(line.split()[1])
