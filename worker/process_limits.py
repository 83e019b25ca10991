"""Limits that a job's process is held to from outside, since inside of C code it hears nothing."""

import os
import signal
import threading
import time
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Self

from ism_jobs.errors import OutOfMemory, Problem, TimeOver

LOOK_SECONDS = 0.1
PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")


class Watch:
    """Ends a process that runs for too long or holds too much memory; `problem` is why, if it has."""

    def __init__(self, pid: int, seconds: float, memory: int) -> None:
        self._pid = pid
        self._seconds = seconds
        self._memory = memory
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._look, daemon=True)
        self.problem: Problem | None = None

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._done.set()
        self._thread.join()

    def _look(self) -> None:
        deadline = time.monotonic() + self._seconds
        while self.problem is None and not self._done.wait(LOOK_SECONDS):
            held = resident_bytes(self._pid)
            if held > self._memory:
                self.problem = _too_large(held, self._memory)
            elif time.monotonic() > deadline:
                self.problem = _too_long(self._seconds)
        if self.problem is not None:
            with suppress(ProcessLookupError):
                os.kill(self._pid, signal.SIGKILL)


def resident_bytes(pid: int) -> int:
    """What a process holds of the machine's memory; 0 when it is gone, or the system does not tell."""
    try:
        return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * PAGE_BYTES
    except (OSError, IndexError):
        return 0


def _too_long(seconds: float) -> TimeOver:
    return TimeOver(
        f"The job ran for {seconds:g} seconds, the limit of this service; try fewer rows or features, a wider delta, or"
        " folds = 0."
    )


def _too_large(held: int, limit: int) -> OutOfMemory:
    share = limit / held / 2  # what is held grows no faster than with the rows, and was still growing
    advice = f"a sample of {share:.0%} of its rows should fit" if share > 0.05 else "a worker alone needs more"
    return OutOfMemory(
        f"The job was ended when it held {_mib(held)} of memory, and {_mib(limit)} are allowed; {advice}. Give fewer"
        " rows or features, or allow more memory (ISM_JOB_MEMORY)."
    )


def _mib(size: int) -> str:
    return f"{size / 2**20:,.0f} MiB"
