"""Limits of a sandbox process: the memory it may use, and the size of the tables it may read."""

import ctypes
import resource
import sys
from contextlib import suppress
from pathlib import Path

import pyarrow as pa

from ism_jobs.settings import Settings
from ism_jobs.tables import Limits

DATA_PAGES = 5  # index of the data and stack pages in /proc/self/statm
M_MMAP_THRESHOLD = -3  # from <malloc.h>
MMAP_BYTES = 1 << 17  # allocations from this size on are returned to the system when they are freed: glibc's default


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
