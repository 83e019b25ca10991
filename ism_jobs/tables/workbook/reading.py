"""Excel workbooks: the first sheet with a table is streamed into a CSV file, without its empty rows and columns."""

import csv
import io
from collections.abc import Iterator
from typing import IO, Any

from ism_jobs.errors import InvalidTable
from ism_jobs.tables.archives import opened_archive
from ism_jobs.tables.block import Block
from ism_jobs.tables.csv import CsvFile
from ism_jobs.tables.limits import Limits
from ism_jobs.tables.source import spooled
from ism_jobs.tables.workbook.cells import MIDNIGHT, Cells, SheetRows
from ism_jobs.tables.workbook.parts import WHAT, Parts, Sheet

DECLARED_SEPARATOR = b"sep=,\n"  # a first line that the CSV reader understands
FEWEST_ROWS = 2  # of a table: names and values
ROWS_AT_A_TIME = 1_000  # rows of CSV that are written together


class XlsxFile:
    """A table in an Excel workbook."""

    format = "xlsx"

    def __init__(self, file: IO[bytes], limits: Limits, header: bool | None) -> None:
        self._limits = limits
        with opened_archive(file, WHAT) as archive:
            parts = Parts(archive, limits)
            sheet, rows = self._first_table(parts)
        with rows.file:
            text = spooled(_iter_csv(rows), limits, "The sheet")
        try:
            self._table = CsvFile(text, limits, header, is_tsv=False)
        except BaseException:
            text.close()
            raise
        self.file = self._table.file
        self.schema = self._table.schema
        self.notes = self._table.notes
        if len(parts.sheets) > 1:
            self.notes.insert(
                0, f'Read the sheet "{sheet.name[:60]}", the first of {len(parts.sheets):,} sheets that holds a table.'
            )

    def blocks(self) -> Iterator[Block]:
        """Yield the table in canonical form, block by block."""
        return self._table.blocks()

    def _first_table(self, parts: Parts) -> tuple[Sheet, SheetRows]:
        size = 0
        for sheet in parts.sheets:
            size += sheet.member.file_size
            self._limits.check_bytes(size, "The workbook")
            rows = SheetRows(Cells(parts, sheet.member), self._limits)
            if rows.count >= FEWEST_ROWS:
                return sheet, rows
            rows.file.close()
        raise InvalidTable(
            f"The workbook has {len(parts.sheets):,} visible sheet(s), but none with a row of names and a row of "
            "values. Put the table on a sheet of its own."
        )


def _iter_csv(rows: SheetRows) -> Iterator[bytes]:
    """Yield the rows as CSV, without empty columns, and dates without a time if the column has none."""
    used = sorted(rows.used)
    dates = [column in rows.dates for column in used]
    yield DECLARED_SEPARATOR
    text = io.StringIO(newline="")
    # Quotes keep a row of one missing value from being an empty line.
    writer = csv.writer(text, lineterminator="\n", quoting=csv.QUOTE_ALL)
    for place, row in enumerate(rows):
        writer.writerow([_cell(row, column, is_date) for column, is_date in zip(used, dates, strict=True)])
        if place % ROWS_AT_A_TIME == 0:
            yield text.getvalue().encode()
            text.seek(0)
            text.truncate()
    yield text.getvalue().encode()


def _cell(row: dict[int, Any], column: int, is_date: bool) -> str:
    value: str = row.get(column, "")
    return value.removesuffix(MIDNIGHT) if is_date else value
