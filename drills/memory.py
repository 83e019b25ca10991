"""The memory of a service's processes over time."""

import asyncio
import statistics
import time
from collections import defaultdict
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import psutil

LOOK_SECONDS = 1.0
WORK_HORSE = "work-horse"  # forked by a worker for one job
ALLOWED_SHARE, ALLOWED_BYTES = 0.10, 10 * 2**20  # growth that is none: a tenth, or as much as a few buffers


@dataclass(frozen=True)
class Growth:
    """One process: bytes when it was warm, and at the end."""

    process: str
    before: float
    after: float

    @property
    def grew(self) -> bool:
        """By more than what comes and goes."""
        return self.after - self.before > max(ALLOWED_BYTES, ALLOWED_SHARE * self.before)


class Memory:
    """Looks at the resident memory of a process and all below it, less those that live for one job."""

    def __init__(self, root: int) -> None:
        self._root = psutil.Process(root)
        self._seen: dict[tuple[int, str], list[tuple[float, int]]] = defaultdict(list)

    async def watch(self) -> None:
        """Until cancelled."""
        while True:
            now = time.monotonic()
            for one in [self._root, *self._root.children(recursive=True)]:
                with suppress(psutil.NoSuchProcess):
                    if (role := _role(one)) != WORK_HORSE:
                        self._seen[one.pid, role].append((now, one.memory_info().rss))
            await asyncio.sleep(LOOK_SECONDS)

    def growth(self, warm: float, span: float) -> list[Growth]:
        """Medians of `span` seconds from the moment `warm` on, and of the last; of those that lived through both."""
        end = max(at for looks in self._seen.values() for at, _ in looks)
        found = []
        for (pid, role), looks in sorted(self._seen.items()):
            before = [bytes for at, bytes in looks if warm <= at <= warm + span]
            after = [bytes for at, bytes in looks if at >= end - span]
            if looks[0][0] <= warm and before and after:
                found.append(Growth(f"{role} ({pid})", statistics.median(before), statistics.median(after)))
        return found


def _role(process: psutil.Process) -> str:
    """What the process is for, from its command."""
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
    """For a table, in MB."""
    return [
        (one.process, f"{one.before / 1e6:.1f} MB", f"{one.after / 1e6:.1f} MB", "grew" if one.grew else "")
        for one in growths
    ]
