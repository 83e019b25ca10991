"""What one process can learn about another: its memory, its computing time and its end."""

import ctypes
import os
import signal
import sys
from contextlib import suppress
from pathlib import Path

PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")
PROCESS_GROUP = 2  # index of the process group in /proc/…/stat, after the name of the process
PR_SET_PDEATHSIG = 1  # from <sys/prctl.h>


def resident_bytes(pid: int) -> int:
    """Return the resident memory of a process in bytes; 0 if it has ended or the system has no /proc."""
    try:
        return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * PAGE_BYTES
    except (OSError, IndexError):
        return 0


def computed_nanoseconds(pid: int) -> int:
    """Return the time that a process and the others of its group have computed; 0 if the system does not tell."""
    group, total = str(pid), 0
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(OSError, IndexError):  # the process has ended
            if (folder / "stat").read_text().rpartition(")")[2].split()[PROCESS_GROUP] == group:
                total += sum(int((task / "schedstat").read_text().split()[0]) for task in (folder / "task").iterdir())
    return total


def die_with_parent(parent: int) -> None:
    """Let the kernel kill this process when its parent dies (Linux only), or end it if the parent is dead already.

    `parent` is the process that has forked this one. The kernel sends no signal if it died before this call.
    """
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(1)
