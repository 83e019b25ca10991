"""The process in which a worker runs jobs. It is forked once and runs many small jobs, one after the other.

A fork copies the page tables of the numerics, and what the first job imports and connects is lost with its process: for
a tiny job that costs more than the job. So the process stays, as long as its jobs are small and end well.
"""

import os
import random
import select
import signal
import time
from collections.abc import Callable
from contextlib import suppress

from ism_jobs.logs import log
from ism_jobs.processes import resident_bytes

MOST_JOBS = 200  # that one process runs
SMALL_SECONDS = 2.0  # a job that takes longer is not small; its process ends, with all the memory that it has touched
GROWTH_BYTES = 64 * 2**20  # by which a process may grow before it ends
DONE, LAST = b"d", b"l"  # answers of the process after a job: it waits for the next one, or it ends
DIED = b""  # what is read if there is no answer


class Horse:
    """A forked process that calls `run` with each id that it is given, until `run` returns False."""

    def __init__(self, prepare: Callable[[], None], run: Callable[[str], bool]) -> None:
        orders, self._orders = os.pipe()
        self._answers, answers = os.pipe()
        self.pid = os.fork()
        if self.pid == 0:
            try:
                os.setpgrp()
                os.close(self._orders)
                os.close(self._answers)
                random.seed()  # other numbers than in the processes forked before
                prepare()
                _serve(orders, answers, run)
            except Exception as error:
                log.error("job process failed", exc_info=error)
            finally:
                os._exit(1)
        os.close(orders)
        os.close(answers)
        self._is_alive = True

    def is_ready(self) -> bool:
        """Return whether the process waits for a job."""
        if self._is_alive and os.waitpid(self.pid, os.WNOHANG)[0]:
            self._close()
        return self._is_alive

    def start(self, id: str) -> None:
        """Let the process run a job."""
        with suppress(BrokenPipeError):  # it has died; `wait` says so
            os.write(self._orders, id.encode() + b"\n")

    def wait(self, seconds: float) -> bool | None:
        """Return whether the job has ended, or False if the process has; None if neither happens in this time."""
        if not select.select([self._answers], [], [], seconds)[0]:
            return None
        answer = os.read(self._answers, 1)
        if answer != DONE:
            os.waitpid(self.pid, 0)
            self._close()
        return answer != DIED

    def dismiss(self) -> None:
        """End the process."""
        if self.is_ready():
            with suppress(ProcessLookupError):
                os.killpg(self.pid, signal.SIGKILL)
            os.waitpid(self.pid, 0)
            self._close()

    def _close(self) -> None:
        self._is_alive = False
        os.close(self._orders)
        os.close(self._answers)


def _serve(orders: int, answers: int, run: Callable[[str], bool]) -> None:
    """Run jobs until there are no more orders, or this process should be replaced."""
    most = resident_bytes(os.getpid()) + GROWTH_BYTES
    with os.fdopen(orders, encoding="utf-8") as lines:
        for number, line in enumerate(lines, 1):
            began = time.monotonic()
            ended_well = run(line.strip())
            is_small = time.monotonic() - began < SMALL_SECONDS and resident_bytes(os.getpid()) < most
            goes_on = ended_well and is_small and number < MOST_JOBS
            os.write(answers, DONE if goes_on else LAST)
            if not goes_on:
                os._exit(0)
    os._exit(0)
