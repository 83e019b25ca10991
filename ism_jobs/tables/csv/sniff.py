"""Detect the dialect of a CSV file from its beginning: separator, decimal mark, and whether it has a header."""

import csv
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain, islice

from ism_jobs.errors import InvalidTable
from ism_jobs.tables.kinds import MISSING_NUMBER

SEPARATORS = (",", ";", "\t", "|")  # of cells, in order of preference
NO_SEPARATOR = "\x1f"  # for a file of one column: a character that does not occur in text
MOST_ROWS = 50  # of the sample that are parsed
MOST_CELLS = 20_000  # of these rows that are classified
MOST_LINES = 200_000  # of the sample: more than the longest quoted cell can have

# Numbers with a decimal point, or without decimals; and numbers with a decimal comma.
POINT_NUMBER = re.compile(r"\s*[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?\s*")
COMMA_NUMBER = re.compile(r"\s*[+-]?(\d*,\d+)([eE][+-]?\d+)?\s*")
FRACTION = re.compile(r"\s*[+-]?\d*\.\d+([eE][+-]?\d+)?\s*")  # a number with digits after the point
NO_VALUE = frozenset(MISSING_NUMBER.to_pylist())  # cells of a number column that hold no number


@dataclass(frozen=True)
class Dialect:
    """How cells are separated and numbers written, and where the data start."""

    separator: str
    decimal: str
    first_row: list[str]
    has_header: bool
    data_start: int  # offset of the first row of data, in characters
    aligned: bool = False  # columns are separated by one or more spaces

    @property
    def note(self) -> str | None:
        """A note on the dialect, or None if it is the usual one."""
        if self.aligned:
            return "Read with spaces between the columns."
        if self.separator in (",", NO_SEPARATOR):
            return None
        sign = "a tab" if self.separator == "\t" else f'"{self.separator}"'
        return f'Read with {sign} as separator and "{self.decimal}" as decimal mark.'


def sniff(sample: str, complete: bool, header: bool | None, prefer: str | None = None) -> Dialect:
    """Return the dialect of a text from a sample of its beginning; `complete` says whether the sample is all of it."""
    if complete and not sample.strip():
        raise InvalidTable("The file has no rows. Send a table with at least one row of values.")
    start = len(sample) - len(sample.lstrip("\r\n"))
    declared = re.match(r"sep=(.)(\r\n|\r|\n)", sample[start:])  # a first line that Excel understands
    if declared:
        start += declared.end()
    body = sample[start:]
    lines = _lines(body, complete)
    order = SEPARATORS if prefer is None else (prefer, *(other for other in SEPARATORS if other != prefer))
    separator = declared.group(1) if declared else _separator(lines, order)
    aligned = separator is None and _is_aligned(lines)
    if aligned:
        rows = [line.split() for line in lines[:MOST_ROWS] if line.strip()]
        used = len(lines[0])
    else:
        separator = separator or NO_SEPARATOR
        rows = list(_rows(lines, separator))
        used = _first_row_length(lines, separator)
    if not rows:
        raise InvalidTable("The file has no rows. Send a table with at least one row of values.")
    decimal = "," if separator in (";", "\t", "|") and _has_decimal_commas(rows) else "."
    has_header = _is_header(rows[0], decimal) if header is None else header
    return Dialect(
        separator="\t" if aligned else separator or NO_SEPARATOR,
        decimal=decimal,
        first_row=rows[0],
        has_header=has_header,
        data_start=start + (used if has_header else 0),
        aligned=aligned,
    )


def is_number(cell: str, decimal: str = ".") -> bool:
    """Return whether a cell is a number."""
    if POINT_NUMBER.fullmatch(cell):
        return True
    return decimal == "," and COMMA_NUMBER.fullmatch(cell) is not None


def _lines(text: str, complete: bool) -> list[str]:
    # not splitlines(): a form feed or U+2028 is part of a value, and does not end a row
    found = re.finditer(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+$", text)
    lines = [line.group() for line in islice(found, MOST_LINES)]
    if not complete and len(lines) > 1:
        lines.pop()  # the sample may end inside this line
    return lines


def _rows(lines: list[str], separator: str) -> Iterator[list[str]]:
    """Yield the first rows, up to a quoted cell that does not end."""
    try:
        for count, row in enumerate(csv.reader(iter(lines), delimiter=separator)):
            if count == MOST_ROWS:
                return
            if row:
                yield row
    except csv.Error:
        return


def _first_row_length(lines: list[str], separator: str) -> int:
    taken = 0

    def counted() -> Iterator[str]:
        nonlocal taken
        for line in lines:
            taken += len(line)
            yield line

    next(_rows_of(counted(), separator), None)
    return taken


def _rows_of(lines: Iterator[str], separator: str) -> Iterator[list[str]]:
    try:
        yield from csv.reader(lines, delimiter=separator)
    except csv.Error as error:
        raise InvalidTable(
            f"The first row cannot be read: {error}. Look for a quote that is never closed, or a very long value."
        ) from error


def _separator(lines: list[str], order: tuple[str, ...]) -> str | None:
    """Return the separator for which most rows have the same number of cells.

    Ties go to the separator with most numbers, then to that with most cells.
    """
    best: tuple[float, float, int] = (0.0, 0.0, 0)
    chosen = None
    for separator in order:
        if not any(separator in line for line in lines[:MOST_ROWS]):
            continue
        rows = list(_rows(lines, separator))
        if not rows:
            continue
        counts = Counter(map(len, rows))
        usual, times = counts.most_common(1)[0]
        # If the first row has one cell, this separator probably occurs inside the text of a single column. The
        # expected separator would be quoted there.
        if len(rows[0]) == 1 and (usual == 1 or separator != order[0]):
            continue
        cells = _cells(rows)
        share = sum(map(_is_any_number, cells)) / len(cells)
        score = (times / len(rows), share, usual)
        if score > best:
            best, chosen = score, separator
    return chosen


def _cells(rows: list[list[str]]) -> list[str]:
    return list(islice(chain.from_iterable(rows), MOST_CELLS))


def _is_any_number(cell: str) -> bool:
    return is_number(cell, ",")


def _is_aligned(lines: list[str]) -> bool:
    """Return whether spaces separate the columns.

    They do if all rows have the same number of cells, and all but the first contain a number.
    """
    rows = [line.split() for line in lines[:MOST_ROWS] if line.strip()]
    if len(rows) < 2 or len(rows[0]) < 2 or any('"' in line for line in lines[:MOST_ROWS]):
        return False
    return all(len(row) == len(rows[0]) for row in rows) and all(any(map(is_number, row)) for row in rows[1:])


def _has_decimal_commas(rows: list[list[str]]) -> bool:
    cells = _cells(rows)
    return any(map(COMMA_NUMBER.fullmatch, cells)) and not any(map(FRACTION.fullmatch, cells))


def _is_header(row: list[str], decimal: str) -> bool:
    return not any(is_number(cell, decimal) for cell in row) and any(cell.strip() not in NO_VALUE for cell in row)
