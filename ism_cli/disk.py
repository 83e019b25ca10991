"""A reserve of disk space for Redis, which exits if it cannot write its append-only file."""

import os
from contextlib import suppress
from pathlib import Path

LEAVE_AT = 3  # the disk is low until it has room for so many reserves


class DiskReserve:
    """A file that takes up `size` bytes while the disk has room, and is deleted when Redis needs them."""

    def __init__(self, folder: Path, size: int) -> None:
        self._file = folder / "reserve"
        self._size = size
        self.is_low = False  # whether less than `size` bytes are free besides the reserve

    def update(self) -> bool:
        """Look at the disk, and take or release the reserve. Return whether the state has changed."""
        was_low = self.is_low
        room = self.free_bytes() + (self._size if self._file.exists() else 0)
        self.is_low = room < (LEAVE_AT if was_low else 2) * self._size
        if not self.is_low and not self._file.exists():
            self._take()
        if self.is_low:
            self._file.unlink(missing_ok=True)
        return self.is_low != was_low

    def free_bytes(self) -> int:
        """Return the free bytes of the disk."""
        disk = os.statvfs(self._file.parent)
        return disk.f_bavail * disk.f_frsize

    def release(self) -> None:
        """Delete the file when the service stops."""
        with suppress(OSError):
            self._file.unlink(missing_ok=True)

    def _take(self) -> None:
        try:
            with self._file.open("wb") as file:
                if hasattr(os, "posix_fallocate") and self._size:
                    os.posix_fallocate(file.fileno(), 0, self._size)
        except OSError:  # another program was faster
            self.is_low = True
