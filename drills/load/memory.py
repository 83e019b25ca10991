"""Measure the memory of the service's processes over time."""

import asyncio
import statistics
import time
from collections import defaultdict
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import psutil

SAMPLE_SECONDS = 1.0
WORK_HORSE = "work-horse"  # RQ's word for the process that a worker forks for one job
TOLERATED_SHARE, TOLERATED_BYTES = 0.10, 10 * 2**20  # smaller growth is noise: a tenth, or a few buffers


@dataclass(frozen=True)
class Growth:
    """The memory of one process in bytes: after warm-up and at the end."""

    process: str
    before: float
    after: float

    @property
    def grew(self) -> bool:
        """Whether the process grew by more than noise."""
        return self.after - self.before > max(TOLERATED_BYTES, TOLERATED_SHARE * self.before)


class Memory:
    """Samples the resident memory of a process and its descendants, except work-horses."""

    def __init__(self, root: int) -> None:
        self._root = psutil.Process(root)
        self._samples: dict[tuple[int, str], list[tuple[float, int]]] = defaultdict(list)

    async def watch(self) -> None:
        """Sample until cancelled."""
        while True:
            now = time.monotonic()
            for one in [self._root, *self._root.children(recursive=True)]:
                with suppress(psutil.NoSuchProcess):
                    if (role := _role(one)) != WORK_HORSE:
                        self._samples[one.pid, role].append((now, one.memory_info().rss))
            await asyncio.sleep(SAMPLE_SECONDS)

    def growth(self, warm: float, span: float) -> list[Growth]:
        """Compare the medians of the `span` seconds from time `warm` on and of the last `span` seconds.

        Processes that did not live through both are left out.
        """
        end = max(at for samples in self._samples.values() for at, _ in samples)
        found = []
        for (pid, role), samples in sorted(self._samples.items()):
            before = [bytes for at, bytes in samples if warm <= at <= warm + span]
            after = [bytes for at, bytes in samples if at >= end - span]
            if samples[0][0] <= warm and before and after:
                found.append(Growth(f"{role} ({pid})", statistics.median(before), statistics.median(after)))
        return found


def _role(process: psutil.Process) -> str:
    """Return what the process is for, as its command line shows."""
    words: list[str] = process.cmdline()
    text = " ".join(words)
    if "redis-server" in text or "valkey-server" in text:
        return "redis"
    for name in ("forkserver", "resource_tracker"):
        if name in text:
            return name
    role = next((word for word in words if word in ("serve", "api", "worker")), "other")
    return WORK_HORSE if role == "worker" and "worker" in process.parent().cmdline() else role


def rows(growths: list[Growth]) -> list[tuple[Any, ...]]:
    """Return the rows of a table, in MB."""
    return [
        (one.process, f"{one.before / 1e6:.1f} MB", f"{one.after / 1e6:.1f} MB", "grew" if one.grew else "")
        for one in growths
    ]
