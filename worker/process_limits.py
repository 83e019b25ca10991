"""Limits on the time and memory of a job process, enforced from outside because C code ignores signals."""

import os
import signal
import threading
import time
from contextlib import suppress
from types import TracebackType
from typing import Self

from ism_jobs.errors import OutOfMemory, Problem, TimeOver
from ism_jobs.logs import log
from ism_jobs.processes import computed_nanoseconds, resident_bytes

POLL_SECONDS = 0.1  # between two polls of the memory of the process
MIN_SAMPLE_SHARE = 0.05  # smallest share of the rows that the error message recommends
STALL_CHECKS = 10  # number of checks of the CPU time within `stall_seconds`


class ProcessWatchdog:
    """Kills a process that exceeds its time or memory limit; `problem` is the reason.

    It also kills a process that hangs: one that has not computed at all for `stall_seconds`, because it is stopped or
    its threads wait for each other. Such a process ends without a problem, as if it had crashed. A process that waits
    for Redis or for a cluster tries again every few seconds, and so does not hang.
    """

    def __init__(self, pid: int, seconds: float, memory: int, stall_seconds: float) -> None:
        self._pid = pid
        self._seconds = seconds
        self._memory = memory
        self._stall_seconds = stall_seconds
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self.problem: Problem | None = None

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._done.set()
        self._thread.join()

    def _watch(self) -> None:
        deadline = time.monotonic() + self._seconds
        computed, computed_at = -1, time.monotonic()
        check_at = polled_at = time.monotonic()
        while self.problem is None and not self._done.wait(POLL_SECONDS):
            now = time.monotonic()
            if now - polled_at > POLL_SECONDS + self._stall_seconds / 2:  # the worker was paused, and perhaps its job
                computed_at += now - polled_at
            polled_at = now
            held = resident_bytes(self._pid)
            if held > self._memory:
                self.problem = _too_large(held, self._memory)
            elif now > deadline:
                self.problem = _too_long(self._seconds)
            elif now >= check_at:
                check_at = now + self._stall_seconds / STALL_CHECKS
                if (so_far := computed_nanoseconds(self._pid)) != computed:
                    computed, computed_at = so_far, now
                elif now - computed_at > self._stall_seconds and so_far:
                    log.warning("job process hangs and is killed", seconds=round(now - computed_at))
                    break
        if not self._done.is_set():
            with suppress(ProcessLookupError):
                os.kill(self._pid, signal.SIGKILL)


def _too_long(seconds: float) -> TimeOver:
    return TimeOver(
        f"The job exceeded the time limit of {seconds:g} seconds; use fewer rows or features, a larger delta, or"
        " folds = 0."
    )


def _too_large(held: int, limit: int) -> OutOfMemory:
    share = limit / held / 2  # memory grows at most linearly with the rows; half, because it was still growing
    advice = (
        f"a sample of {share:.0%} of its rows should fit"
        if share > MIN_SAMPLE_SHARE
        else f"even {MIN_SAMPLE_SHARE:.0%} of its rows would not fit"
    )
    return OutOfMemory(
        f"The job was stopped because it used {_mib(held)} of memory, and the limit is {_mib(limit)}; {advice}. Use"
        " fewer rows or features, or raise the limit (ISM_JOB_MEMORY)."
    )


def _mib(size: int) -> str:
    return f"{size / 2**20:,.0f} MiB"
