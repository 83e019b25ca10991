"""Limits of a sandbox process: the memory it may use, and the size of the tables it may read."""

import resource
import sys
from contextlib import suppress
from pathlib import Path

import pyarrow as pa

from ism_jobs.settings import Settings
from ism_jobs.tables import Limits

DATA_PAGES = 5  # index of the data and stack pages in /proc/self/statm


def limit_memory(allowed: int) -> None:
    """Let this process allocate `allowed` more bytes; a larger allocation raises MemoryError.

    The limit counts writable memory, not mapped files. Systems other than Linux have no such limit.
    """
    pa.set_memory_pool(pa.system_memory_pool())  # Arrow's default pool reserves a gigabyte before the limit is set
    if sys.platform == "linux":
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
