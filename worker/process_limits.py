"""Limits on the time and memory of a job process, enforced from outside because C code ignores signals."""

import os
import signal
import threading
import time
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Self

from ism_jobs.errors import OutOfMemory, Problem, TimeOver

POLL_SECONDS = 0.1  # between two polls of the memory of the process
MIN_SAMPLE_SHARE = 0.05  # smallest share of the rows that the error message recommends
PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")


class ProcessWatchdog:
    """Kills a process that exceeds its time or memory limit. `problem` is the reason, if it was killed."""

    def __init__(self, pid: int, seconds: float, memory: int) -> None:
        self._pid = pid
        self._seconds = seconds
        self._memory = memory
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
        while self.problem is None and not self._done.wait(POLL_SECONDS):
            held = resident_bytes(self._pid)
            if held > self._memory:
                self.problem = _too_large(held, self._memory)
            elif time.monotonic() > deadline:
                self.problem = _too_long(self._seconds)
        if self.problem is not None:
            with suppress(ProcessLookupError):
                os.kill(self._pid, signal.SIGKILL)


def resident_bytes(pid: int) -> int:
    """Return the resident memory of a process in bytes; 0 if it has ended or the system has no /proc."""
    try:
        return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * PAGE_BYTES
    except (OSError, IndexError):
        return 0


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
