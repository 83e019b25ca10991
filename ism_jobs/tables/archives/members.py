"""Open a ZIP archive and read its members; neither takes more memory or bytes than the limits allow."""

import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from lzma import LZMAError
from typing import IO

from ism_jobs.errors import InvalidTable, TooLarge, UnsupportedFormat
from ism_jobs.tables.source import CHUNK_BYTES

COMPRESSIONS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)  # others may need gigabytes of memory
LONGEST_DIRECTORY = 1 << 24  # bytes of the list of an archive's members

# What zipfile raises for a damaged or encrypted archive.
DAMAGED = (zipfile.BadZipFile, zlib.error, EOFError, OSError, RuntimeError, NotImplementedError, ValueError, LZMAError)


@contextmanager
def opened_archive(file: IO[bytes], what: str) -> Iterator[zipfile.ZipFile]:
    """Open an archive; `what` names it in messages. The file stays open."""
    with _unpacking_errors(what):
        archive = zipfile.ZipFile(_BoundedReads(file))
    with archive:
        yield archive


def files_of(archive: zipfile.ZipFile) -> list[zipfile.ZipInfo]:
    """Return the members that are files."""
    return [member for member in archive.infolist() if not member.filename.endswith("/")]


def iter_pieces(archive: zipfile.ZipFile, member: zipfile.ZipInfo, what: str) -> Iterator[bytes]:
    """Yield the content of a member. It has no more bytes than the archive's list declares."""
    if member.compress_type not in COMPRESSIONS:
        raise UnsupportedFormat(
            f'{what} compresses "{member.filename[:40]}" in an unusual way. Save it with the compression "deflate".'
        )
    with _unpacking_errors(what), archive.open(member) as inflating:
        while piece := inflating.read(CHUNK_BYTES):
            yield piece


class _BoundedReads:
    """A file for zipfile, which would read a list of members of any length, and make an object of each."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self.seek, self.tell, self.seekable = file.seek, file.tell, file.seekable

    def read(self, count: int = -1) -> bytes:
        """Read from the file; raise TooLarge if `count` is beyond the limit."""
        if count > LONGEST_DIRECTORY:
            raise TooLarge(
                f"The list of the archive's members has {count:,} bytes; at most {LONGEST_DIRECTORY:,} are read. "
                "Save fewer of them in one file."
            )
        return self._file.read(count)


@contextmanager
def _unpacking_errors(what: str) -> Iterator[None]:
    try:
        yield
    except DAMAGED as error:
        raise InvalidTable(
            f"{what} cannot be unpacked: it is truncated, damaged or encrypted. Save it again."
        ) from error
