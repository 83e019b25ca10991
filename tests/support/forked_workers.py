"""Workers that are forked from a process that has imported everything: 0.1 s of CPU time for each, instead of 3 s."""

import os
import sys
from pathlib import Path

from ism_cli.main import main
from tests.support.forks import forks_of


class ForkedWorker:
    """`ism worker` with the environment of this process and `variables`. It has the methods of a `Popen`."""

    def __init__(self, log: Path, variables: dict[str, str]) -> None:
        log.touch()
        forks = forks_of("worker.rq_worker", "tests.support.warm_numerics")
        process = forks.Process(target=_work, args=(log, {**os.environ, **variables}))
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


def _work(log: Path, environment: dict[str, str]) -> None:
    os.environ.clear()
    os.environ.update(environment)
    with log.open("ab") as file:
        for stream in (sys.stdout, sys.stderr):
            os.dup2(file.fileno(), stream.fileno())
    main(["worker"])
