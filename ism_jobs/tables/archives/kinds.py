"""Tell ZIP archives apart by their members: arrays of numpy, a workbook, another document, or a zipped table."""

from pathlib import PurePosixPath
from typing import IO
from zipfile import ZipInfo

from ism_jobs.errors import UnsupportedFormat
from ism_jobs.sentences import listed
from ism_jobs.tables.archives.members import files_of, iter_pieces, opened_archive
from ism_jobs.tables.detect import SUPPORTED
from ism_jobs.tables.limits import Limits
from ism_jobs.tables.source import spooled

WHAT = "The ZIP archive"
TEXT_TABLES = (".csv", ".tsv", ".tab")
LONGEST_NAME = 60  # characters of a member's name in messages

# Members by which other documents are recognized, with advice.
DOCUMENTS = {
    "xl/workbook.bin": "an Excel workbook in binary form (XLSB); save it as XLSX",
    "mimetype": "an OpenDocument file; save the table as XLSX or CSV",
    "word/document.xml": "a Word document; save its table as CSV",
    "ppt/presentation.xml": "a presentation; save its table as CSV",
    "[Content_Types].xml": "an Office document; save its table as XLSX or CSV",
}


def archive_format(file: IO[bytes]) -> str:
    """Return "npz", "xlsx", or "zip" for an archive that may hold a table."""
    with opened_archive(file, WHAT) as archive:
        names = {member.filename for member in files_of(archive)}
    if "xl/workbook.xml" in names:
        return "xlsx"
    for member, description in DOCUMENTS.items():
        if member in names:
            raise UnsupportedFormat(f"The file is {description}. {SUPPORTED}.")
    return "npz" if names and all(name.endswith(".npy") for name in names) else "zip"


def unpacked_table(file: IO[bytes], limits: Limits) -> tuple[IO[bytes], str, str]:
    """Return the only table of an archive in a file of its own, its name, and a note that says what was read."""
    with opened_archive(file, WHAT) as archive:
        members = [member for member in files_of(archive) if not _is_hidden(member)]
        chosen = members if len(members) == 1 else [member for member in members if _is_text_table(member)]
        if len(chosen) != 1:
            raise _no_single_table(members, chosen)
        limits.check_bytes(chosen[0].file_size, "The archive")
        unpacked = spooled(iter_pieces(archive, chosen[0], WHAT), limits, "The archive")
    name = chosen[0].filename
    others = f"; {len(members) - 1} other file(s) in it were left out" if len(members) > 1 else ""
    return unpacked, name, f'Read "{_short(name)}" from a ZIP archive{others}.'


def _no_single_table(members: list[ZipInfo], tables: list[ZipInfo]) -> UnsupportedFormat:
    if tables:
        names = listed([_short(member.filename) for member in tables], quoted=True)
        return UnsupportedFormat(
            f"The ZIP archive holds {len(tables):,} tables: {names}. Send each of them as a file of its own."
        )
    found = f"{len(members):,} files and none of them is a CSV file" if members else "no files"
    return UnsupportedFormat(f"The ZIP archive holds {found}. Send the table itself. {SUPPORTED}.")


def _is_hidden(member: ZipInfo) -> bool:
    """Return whether a file system made this file, not a person."""
    return any(part.startswith((".", "__MACOSX")) for part in PurePosixPath(member.filename).parts)


def _is_text_table(member: ZipInfo) -> bool:
    return PurePosixPath(member.filename.lower()).suffix in TEXT_TABLES


def _short(name: str) -> str:
    return name if len(name) <= LONGEST_NAME else f"…{name[-LONGEST_NAME:]}"
