"""Stata and SPSS files: an isolated process converts them to an Arrow stream, which is read like any other."""

import tempfile
from collections.abc import Callable, Iterator
from typing import IO

from ism_jobs.errors import InvalidTable
from ism_jobs.tables.arrow import IpcFile
from ism_jobs.tables.block import Block
from ism_jobs.tables.labelled.conversion import TITLES, Conversion
from ism_jobs.tables.labelled.isolated import run_isolated
from ism_jobs.tables.limits import Limits
from ism_jobs.tables.source import translate_disk_full


class LabelledFile:
    """A table in a Stata or SPSS file."""

    def __init__(self, file: IO[bytes], limits: Limits, format: str) -> None:
        self.format = format
        self.file: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115 - the reader of the table closes it

        def convert() -> list[str]:
            with translate_disk_full():
                conversion = Conversion(file, limits, format)
                conversion.write(self.file)
            return conversion.notes

        try:
            notes = _notes_of(convert, format)
            self._table = IpcFile(self.file, limits)
        except BaseException:
            self.file.close()
            raise
        self.schema = self._table.schema
        self.notes = [*notes, *self._table.notes]

    def blocks(self) -> Iterator[Block]:
        """Yield the table in canonical form, block by block."""
        return self._table.blocks()


def _notes_of(convert: Callable[[], list[str]], format: str) -> list[str]:
    notes: list[str] | None = run_isolated(convert)
    if notes is None:
        raise InvalidTable(
            f"The {TITLES[format]} file cannot be read: it is damaged. Save it again, or save the table as CSV."
        )
    return notes
