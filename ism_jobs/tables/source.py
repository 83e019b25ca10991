"""The bytes of a table as a file that can be read twice: compressed ones are inflated into a temporary file."""

import errno
import mmap
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

import pyarrow as pa

from ism_jobs.errors import InvalidTable, StoreFull
from ism_jobs.tables.limits import Limits

CHUNK = 1 << 20
GZIP = b"\x1f\x8b"


def open_source(path: Path, limits: Limits) -> tuple[IO[bytes], bool]:
    """The file, inflated if need be, and whether it was compressed."""
    file = path.open("rb")
    try:
        limits.check_bytes(size_of(file))
        if head(file, 2) == GZIP:
            inflated = _inflated(path, limits)
            file.close()
            return inflated, True
    except BaseException:
        file.close()
        raise
    return file, False


def size_of(file: IO[bytes]) -> int:
    """Its bytes."""
    return os.fstat(file.fileno()).st_size


def head(file: IO[bytes], count: int) -> bytes:
    """Its first bytes; the next read starts at 0 again."""
    file.seek(0)
    first = file.read(count)
    file.seek(0)
    return first


def chunks(file: IO[bytes], offset: int = 0) -> Iterator[bytes]:
    """Its bytes from there on, a piece at a time."""
    file.seek(offset)
    while piece := file.read(CHUNK):
        yield piece


@contextmanager
def disk_full_is_a_problem() -> Iterator[None]:
    """Turn the system's error about a full disk into StoreFull."""
    try:
        yield
    except OSError as error:
        if error.errno != errno.ENOSPC:
            raise
        raise StoreFull("The disk for uploads is full; try again later, or send a smaller file.") from error


@disk_full_is_a_problem()
def spooled(pieces: Iterator[bytes], limits: Limits, what: str = "The file") -> IO[bytes]:
    """The pieces in a file without a name: it is gone once closed, also after a crash."""
    file: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115 - the reader of the table closes it
    written = 0
    try:
        for piece in pieces:
            written += len(piece)
            limits.check_bytes(written, what)
            file.write(piece)
        file.flush()
    except BaseException:
        file.close()
        raise
    file.seek(0)
    return file


def _inflated(path: Path, limits: Limits) -> IO[bytes]:
    # by Arrow: a file of very many members takes Python's gzip minutes
    with pa.CompressedInputStream(pa.OSFile(str(path)), "gzip") as inflating:
        return spooled(iter(lambda: _more(inflating), b""), limits)


def _more(inflating: Any) -> bytes:
    try:
        piece: bytes = inflating.read(CHUNK)
    except OSError as error:
        raise InvalidTable(
            "The file starts as a gzip file but cannot be inflated: it is cut short or damaged. Compress it again."
        ) from error
    return piece


class Mapped:
    """The file in memory without a copy, for libraries that read far ahead."""

    def __init__(self, file: IO[bytes], start: int = 0) -> None:
        self.memory = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        self._start = start

    def reader(self) -> Any:
        """As a file of Arrow's."""
        return pa.BufferReader(pa.py_buffer(memoryview(self.memory)[self._start :]))

    def forget(self) -> None:
        """Take what was read out of this process's memory; it is still there when it is read again."""
        self.memory.madvise(mmap.MADV_DONTNEED)
