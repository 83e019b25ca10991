"""How a CSV file is written, judged by its beginning: separator, decimal mark, and whether it has a header."""

import csv
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain, islice

from ism_jobs.errors import InvalidTable

SEPARATORS = (",", ";", "\t", "|")
NO_SEPARATOR = "\x1f"  # a file of one column: a character that text does not hold
ROWS = 50  # that are looked at
CELLS = 20_000  # of them that are looked at
LINES = 200_000  # of the text that are looked at: more than the longest quoted cell can have

POINT_NUMBER = re.compile(r"\s*[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?\s*")
COMMA_NUMBER = re.compile(r"\s*[+-]?(\d*,\d+)([eE][+-]?\d+)?\s*")
FRACTION = re.compile(r"\s*[+-]?\d*\.\d+([eE][+-]?\d+)?\s*")
NO_VALUE = {"", "NA", "N/A", "NaN", "nan", "null", "NULL", "None", "?", "-"}


@dataclass(frozen=True)
class Dialect:
    """How the cells are told apart, and where the data start."""

    separator: str
    decimal: str
    first_row: list[str]
    has_header: bool
    data_start: int  # characters of the text before the first row of data
    aligned: bool = False  # columns stand apart by one or more spaces

    @property
    def note(self) -> str | None:
        """What was assumed, unless it is the usual."""
        if self.aligned:
            return "Read with spaces between the columns."
        if self.separator in (",", NO_SEPARATOR):
            return None
        sign = "a tab" if self.separator == "\t" else f'"{self.separator}"'
        return f'Read with {sign} as separator and "{self.decimal}" as decimal mark.'


def sniff(sample: str, complete: bool, header: bool | None, prefer: str | None = None) -> Dialect:
    """The dialect of a text that starts like this; `complete` says whether this is all of it."""
    if complete and not sample.strip():
        raise InvalidTable("The file has no rows. Send a table with at least one row of values.")
    start = len(sample) - len(sample.lstrip("\r\n"))
    declared = re.match(r"sep=(.)(\r\n|\r|\n)", sample[start:])  # Excel's own sign
    if declared:
        start += declared.end()
    body = sample[start:]
    lines = _lines(body, complete)
    order = SEPARATORS if prefer is None else (prefer, *(other for other in SEPARATORS if other != prefer))
    separator = declared.group(1) if declared else _separator(lines, order)
    aligned = separator is None and _is_aligned(lines)
    if aligned:
        rows = [line.split() for line in lines[:ROWS] if line.strip()]
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
    """Whether a cell reads as a number."""
    if POINT_NUMBER.fullmatch(cell):
        return True
    return decimal == "," and COMMA_NUMBER.fullmatch(cell) is not None


def _lines(text: str, complete: bool) -> list[str]:
    # not splitlines(): only these end a row, a form feed or U+2028 is part of a value
    found = re.finditer(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+$", text)
    lines = [line.group() for line in islice(found, LINES)]
    if not complete and len(lines) > 1:
        lines.pop()  # it may go on
    return lines


def _rows(lines: list[str], separator: str) -> Iterator[list[str]]:
    """The first rows, until a quoted cell seems never to end."""
    try:
        for count, row in enumerate(csv.reader(iter(lines), delimiter=separator)):
            if count == ROWS:
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
    """The separator that gives every row the same number of cells, most of them numbers, and the most of them."""
    best: tuple[float, float, int] = (0.0, 0.0, 0)
    chosen = None
    for separator in order:
        if not any(separator in line for line in lines[:ROWS]):
            continue
        rows = list(_rows(lines, separator))
        if not rows:
            continue
        counts = Counter(map(len, rows))
        usual, times = counts.most_common(1)[0]
        if len(rows[0]) == 1 and (usual == 1 or separator != order[0]):
            continue  # words of a single column may hold any sign but the expected one, which would have been quoted
        cells = _cells(rows)
        share = sum(map(_is_any_number, cells)) / len(cells)
        score = (times / len(rows), share, usual)
        if score > best:
            best, chosen = score, separator
    return chosen


def _cells(rows: list[list[str]]) -> list[str]:
    return list(islice(chain.from_iterable(rows), CELLS))


def _is_any_number(cell: str) -> bool:
    return is_number(cell, ",")


def _is_aligned(lines: list[str]) -> bool:
    """Whether spaces part the columns: as many in every row, and a number in every row but the header."""
    rows = [line.split() for line in lines[:ROWS] if line.strip()]
    if len(rows) < 2 or len(rows[0]) < 2 or any('"' in line for line in lines[:ROWS]):
        return False
    return all(len(row) == len(rows[0]) for row in rows) and all(any(map(is_number, row)) for row in rows[1:])


def _has_decimal_commas(rows: list[list[str]]) -> bool:
    cells = _cells(rows)
    return any(map(COMMA_NUMBER.fullmatch, cells)) and not any(map(FRACTION.fullmatch, cells))


def _is_header(row: list[str], decimal: str) -> bool:
    return not any(is_number(cell, decimal) for cell in row) and any(cell.strip() not in NO_VALUE for cell in row)
