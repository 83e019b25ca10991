"""`ism worker` and `ism serve`, forked from a process that has imported everything.

A worker takes 0.1 s of CPU time to start instead of 2.1 s, a service with one worker 1.5 s instead of 5 s.
"""

import multiprocessing
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing import resource_tracker
from pathlib import Path

from ism_cli import serve
from ism_cli.main import main
from ism_cli.supervisor import SUPERVISED, Part
from tests.support.forks import forks_of
from tools.local_service import free_port, wait_until_ready

PRELOADED = ("tests.support.warm_numerics", "worker.rq_worker", "app.main")
FORK = multiprocessing.get_context("fork")


class ForkedCommand:
    """`ism` with arguments, the environment of this process and `variables`. It has the methods of a `Popen`."""

    def __init__(self, arguments: list[str], log: Path, variables: dict[str, str]) -> None:
        log.touch()
        process = forks_of(*PRELOADED).Process(target=_run, args=(arguments, log, {**os.environ, **variables}))
        process.start()
        assert process.pid is not None
        self._process, self.pid = process, process.pid
        self.terminate, self.kill = process.terminate, process.kill

    def poll(self) -> int | None:
        """Return the exit code, or None while the process runs."""
        return self._process.exitcode

    def wait(self, seconds: float | None = None) -> int:
        """Return the exit code when the process has ended."""
        self._process.join(seconds)
        assert self._process.exitcode is not None
        return self._process.exitcode


def forked_worker(log: Path, variables: dict[str, str]) -> ForkedCommand:
    """Start `ism worker`."""
    return ForkedCommand(["worker"], log, variables)


@contextmanager
def forked_service(data_dir: Path, *, workers: int = 2, **variables: str) -> Iterator[tuple[str, ForkedCommand]]:
    """Run `ism serve` until the block ends, as `tools.local_service.running_service` does."""
    port, log = free_port(), data_dir / "serve.log"
    arguments = ["serve", "--port", str(port), "--workers", str(workers), "--data-dir", str(data_dir)]
    process = ForkedCommand(arguments, log, variables)
    url = f"http://127.0.0.1:{port}"
    try:
        wait_until_ready(url, process, log, probe="/readyz" if workers else "/healthz")
        yield url, process
    finally:
        process.terminate()
        process.wait(60)


class ForkedPart:
    """A process that a forked `ism serve` supervises. It has the methods of a `Popen` that the supervisor calls."""

    def __init__(self, part: Part, stdin: int) -> None:
        environment = {**part.environment, SUPERVISED: "1"}
        self._process = FORK.Process(target=_run_part, args=(list(part.arguments), environment, stdin))
        self._process.start()
        self.kill = self._process.kill

    def poll(self) -> int | None:
        return self._process.exitcode

    def send_signal(self, signum: int) -> None:
        assert self._process.pid is not None
        os.kill(self._process.pid, signum)

    def wait(self, seconds: float | None = None) -> int:
        self._process.join(seconds)
        if self._process.exitcode is None:
            raise subprocess.TimeoutExpired(self._process.name, seconds or 0)
        return self._process.exitcode


def _run(arguments: list[str], log: Path, environment: dict[str, str]) -> None:
    with log.open("ab") as file:
        for stream in (sys.stdout, sys.stderr):
            os.dup2(file.fileno(), stream.fileno())
    setattr(serve, "_greet", lambda *_: None)  # noqa: B010  # in a thread, with which a process must not fork
    setattr(Part, "start", lambda part, stdin: ForkedPart(part, stdin))  # noqa: B010
    _run_in(environment, arguments)


def _run_part(arguments: list[str], environment: dict[str, str], stdin: int) -> None:
    os.setsid()
    os.dup2(stdin, 0)
    os.closerange(3, os.sysconf("SC_OPEN_MAX"))  # above all the pipe that tells when the supervisor dies
    resource_tracker._resource_tracker._fd = None  # type: ignore[attr-defined]
    _run_in(environment, arguments)


def _run_in(environment: dict[str, str], arguments: list[str]) -> None:
    os.environ.clear()
    os.environ.update(environment)
    main(arguments)
