"""The memory limit of a sandbox process, so that a malicious file cannot take the memory of the whole machine."""

import resource
import sys
from contextlib import suppress
from pathlib import Path

import pyarrow as pa

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
