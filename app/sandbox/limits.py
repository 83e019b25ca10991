"""How much memory a child may take: what reads files from anywhere must not take that of everybody else."""

import resource
import sys
from contextlib import suppress
from pathlib import Path

import pyarrow as pa


def bound(allowed: int) -> None:
    """Let this process take so many bytes besides those that it has; what would take more gets a MemoryError.

    Counted is what is written to, not the files that are mapped. Where there is no such limit (macOS), there is none.
    """
    pa.set_memory_pool(pa.system_memory_pool())  # Arrow's own has a gigabyte in hand that would not be counted
    if sys.platform == "linux":
        held = int(Path("/proc/self/statm").read_text().split()[5]) * resource.getpagesize()
        _, most = resource.getrlimit(resource.RLIMIT_DATA)
        with suppress(ValueError):  # there is a limit already, and it is lower
            resource.setrlimit(resource.RLIMIT_DATA, (held + allowed, most))
