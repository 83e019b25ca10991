"""What a Stata or SPSS file declares is counted before it is read: each column takes kilobytes of memory."""

import re
import struct
from typing import IO

from ism_jobs.errors import TooLarge
from ism_jobs.tables.limits import Limits
from ism_jobs.tables.source import head

MOST_METADATA_BYTES = 1 << 24  # of names, formats and labels
SEGMENTS = 2  # SPSS divides long texts into columns; so many are counted for each column that is allowed

# The header of an SPSS file, and the records of its columns.
SAV_LAYOUT = slice(64, 68)  # 2 or 3, in the byte order of the file
SAV_HEADER_BYTES = 176
SAV_VARIABLE = 2  # the type of a record that declares a column
SAV_RECORD_BYTES = 32

STATA_COLUMNS = re.compile(rb"<release>(\d+)</release><byteorder>(LSF|MSF)</byteorder><K>(....)", re.DOTALL)
STATA_WIDE = b"119"  # the version that counts columns with four bytes


def check_columns(file: IO[bytes], format: str, limits: Limits) -> None:
    """Raise TooLarge if the file declares too many columns. A damaged file passes: its reader will refuse it."""
    if format == "stata":
        limits.check_shape(0, _stata_columns(head(file, 200)))
    else:
        most = SEGMENTS * limits.columns
        if _spss_records(file, most) > most:
            raise TooLarge(f"The SPSS file has more than {limits.columns:,} columns, counting parts of long texts.")


def _stata_columns(first: bytes) -> int:
    found = STATA_COLUMNS.search(first)
    if found is None and first.startswith(b"<"):
        return 0
    if found is None:
        return int.from_bytes(first[4:6], "little" if first[1:2] == b"\x02" else "big")
    width = 4 if found[1] == STATA_WIDE else 2
    return int.from_bytes(found[3][:width], "little" if found[2] == b"LSF" else "big")


def _spss_records(file: IO[bytes], most: int) -> int:
    """Return the number of records that declare a column; counting ends soon after `most`."""
    order = "<" if head(file, SAV_HEADER_BYTES)[SAV_LAYOUT][:1] in (b"\x02", b"\x03") else ">"
    file.seek(SAV_HEADER_BYTES)
    count = 0
    while count <= most and len(record := file.read(SAV_RECORD_BYTES)) == SAV_RECORD_BYTES:
        kind, width, has_label, missing = struct.unpack_from(f"{order}4i", record)
        if kind != SAV_VARIABLE:
            break
        count += width >= 0  # others continue a text
        if has_label == 1:
            length = int.from_bytes(file.read(4), "little" if order == "<" else "big")
            file.seek((length + 3) // 4 * 4, 1)
        file.seek(8 * abs(missing), 1)
    return count


class MetadataReads:
    """A file of which at most MOST_METADATA_BYTES can be read."""

    def __init__(self, file: IO[bytes]) -> None:
        file.seek(0)
        self._file = file
        self.seek, self.tell = file.seek, file.tell
        self._count = 0

    def read(self, count: int = -1) -> bytes:
        """Read from the file, and nothing beyond the limit."""
        piece = self._file.read(count)
        self._count += len(piece)
        return b"" if self.is_exhausted else piece

    @property
    def is_exhausted(self) -> bool:
        """Whether the limit is reached."""
        return self._count > MOST_METADATA_BYTES
