"""The file of a table, decompressed into a temporary file if necessary, so that it can be read twice."""

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

CHUNK_BYTES = 1 << 20  # that are read at a time
GZIP_SIGNATURE = b"\x1f\x8b"


def open_source(path: Path, limits: Limits) -> tuple[IO[bytes], bool]:
    """Open a file, decompressed if necessary; return it and whether it was compressed."""
    file = path.open("rb")
    try:
        limits.check_bytes(size_of(file))
        if head(file, 2) == GZIP_SIGNATURE:
            decompressed = _decompressed(path, limits)
            file.close()
            return decompressed, True
    except BaseException:
        file.close()
        raise
    return file, False


def size_of(file: IO[bytes]) -> int:
    """Return the size of a file in bytes."""
    return os.fstat(file.fileno()).st_size


def head(file: IO[bytes], count: int) -> bytes:
    """Return the first bytes of a file; the next read starts at 0 again."""
    file.seek(0)
    first = file.read(count)
    file.seek(0)
    return first


def iter_chunks(file: IO[bytes], offset: int = 0) -> Iterator[bytes]:
    """Yield the bytes of a file from an offset on, piece by piece."""
    file.seek(offset)
    while piece := file.read(CHUNK_BYTES):
        yield piece


@contextmanager
def translate_disk_full() -> Iterator[None]:
    """Turn the system's error about a full disk into StoreFull."""
    try:
        yield
    except OSError as error:
        if error.errno != errno.ENOSPC:
            raise
        raise StoreFull("The disk for uploads is full; try again later, or send a smaller file.") from error


@translate_disk_full()
def spooled(pieces: Iterator[bytes], limits: Limits, what: str = "The file") -> IO[bytes]:
    """Write the pieces to a file without a name, which vanishes when it is closed, even by a crash."""
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


def _decompressed(path: Path, limits: Limits) -> IO[bytes]:
    # Arrow, because a file of very many members takes minutes with Python's gzip
    with pa.CompressedInputStream(pa.OSFile(str(path)), "gzip") as decompressing:
        return spooled(iter(lambda: _more(decompressing), b""), limits)


def _more(decompressing: Any) -> bytes:
    try:
        piece: bytes = decompressing.read(CHUNK_BYTES)
    except OSError as error:
        raise InvalidTable(
            "The file starts as a gzip file but cannot be decompressed: it is truncated or damaged. Compress it again."
        ) from error
    return piece


class Mapped:
    """A file mapped into memory, for libraries that read far ahead."""

    def __init__(self, file: IO[bytes], start: int = 0) -> None:
        self.memory = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        self._start = start

    def reader(self) -> Any:
        """Return the mapped file as an Arrow file."""
        return pa.BufferReader(pa.py_buffer(memoryview(self.memory)[self._start :]))

    def release_pages(self) -> None:
        """Release the memory of the pages that were read; reading them again loads them again."""
        self.memory.madvise(mmap.MADV_DONTNEED)
