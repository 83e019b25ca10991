"""Limits of sandbox processes: the memory that one and all of them may use, and the size of tables they may read."""

import ctypes
import resource
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from multiprocessing.process import BaseProcess
from pathlib import Path

import pyarrow as pa

from ism_jobs.logs import log
from ism_jobs.processes import resident_bytes
from ism_jobs.settings import Settings
from ism_jobs.tables import Limits

DATA_PAGES = 5  # index of the data and stack pages in /proc/self/statm
M_MMAP_THRESHOLD = -3  # from <malloc.h>
MMAP_BYTES = 1 << 17  # allocations from this size on are returned to the system when they are freed: glibc's default
POLL_SECONDS = 0.1  # between two polls of the memory of all sandbox processes


class SharedMemory:
    """Keeps the memory of all sandbox processes together below a limit: beyond it, the largest is killed.

    What a process has of the fork server does not count: it was copied without taking up memory.
    """

    def __init__(self, most: int) -> None:
        self.most = most
        self._lock = threading.Lock()
        self._held_at_start: dict[BaseProcess, int] = {}
        self._killed: set[BaseProcess] = set()
        self._is_watching = False

    @contextmanager
    def watch(self, process: BaseProcess) -> Iterator[None]:
        """Count a process that has just started."""
        with self._lock:
            self._held_at_start[process] = resident_bytes(process.pid or 0)
            if not self._is_watching:
                self._is_watching = True
                threading.Thread(target=self._watch, daemon=True).start()
        try:
            yield
        finally:
            with self._lock:
                del self._held_at_start[process]
                self._killed.discard(process)

    def has_killed(self, process: BaseProcess) -> bool:
        """Return whether a process was killed because all together used too much memory."""
        return process in self._killed

    def _watch(self) -> None:
        pause = threading.Event()
        while True:
            pause.wait(POLL_SECONDS)
            with self._lock:
                if not self._held_at_start:
                    self._is_watching = False
                    return
                self._check()

    def _check(self) -> None:
        held = {each: max(0, resident_bytes(each.pid or 0) - start) for each, start in self._held_at_start.items()}
        if sum(held.values()) > self.most:
            largest = max(held, key=held.__getitem__)
            log.warning("sandbox processes use too much memory together", bytes=sum(held.values()), most=self.most)
            self._killed.add(largest)
            largest.kill()


def limit_memory(allowed: int) -> None:
    """Let this process allocate `allowed` more bytes; a larger allocation raises MemoryError.

    The limit counts writable memory, not mapped files. Systems other than Linux have no such limit.

    Arrow first reserves as many bytes for each column of a CSV file as its block has. Once such a reservation was
    freed, glibc would take the next ones from the heap, which small arrays between them fragment: 200×2,000 numbers
    took up 7 GB of addresses and 0.3 GB of memory. A threshold that has been set stays as it is.
    """
    pa.set_memory_pool(pa.system_memory_pool())  # Arrow's default pool reserves a gigabyte before the limit is set
    if sys.platform == "linux":
        with suppress(AttributeError):  # another C library
            ctypes.CDLL(None).mallopt(M_MMAP_THRESHOLD, MMAP_BYTES)
        held = int(Path("/proc/self/statm").read_text().split()[DATA_PAGES]) * resource.getpagesize()
        _, hard_limit = resource.getrlimit(resource.RLIMIT_DATA)
        with suppress(ValueError):  # the hard limit is lower already
            resource.setrlimit(resource.RLIMIT_DATA, (held + allowed, hard_limit))


def table_limits(settings: Settings) -> Limits:
    """Return the limits on uploaded tables."""
    return Limits(
        bytes=settings.max_inflated_bytes,
        rows=settings.max_rows,
        columns=settings.max_columns,
        cells=settings.max_cells,
        name_length=settings.max_name_length,
        text_length=settings.max_text_bytes,
    )
