"""The cells of a sheet, row by row as the file has them, so that neither empty rows nor far columns take memory."""

import json
from collections.abc import Iterator
from datetime import datetime, timedelta
from functools import lru_cache
from typing import Any
from xml.parsers import expat
from zipfile import ZipInfo

from ism_jobs.errors import TooLarge
from ism_jobs.tables.limits import Limits
from ism_jobs.tables.source import spooled
from ism_jobs.tables.workbook.parts import DEEPEST, Parts, damaged, local, too_deep

MOST_COLUMNS = 16_384  # of a sheet, by the format
LONGEST_CELL = 1 << 20  # characters; Excel allows 32,767
LONGEST_ROW = 1 << 24  # characters of one row
MIDNIGHT = " 00:00:00"
EPOCHS = {False: datetime(1899, 12, 30), True: datetime(1904, 1, 1)}  # day 0, by whether days count from 1904
FALSE_LEAP_DAY = 60  # Excel counts 29 February 1900, which did not exist; dates before it are one day later
BOOLEANS = {"1": "true", "0": "false"}


class Cells:
    """Iterates over the rows that have values, each as texts by the position of their column."""

    def __init__(self, parts: Parts, member: ZipInfo) -> None:
        self._parts = parts
        self._member = member
        self.dated: set[int] = set()  # columns with a date
        self.timed: set[int] = set()  # columns with a date that has a time
        self._depth = self._kept = 0
        self._rows: list[dict[int, str]] = []
        self._row: dict[int, str] = {}
        self._column = -1
        self._type = self._style = ""
        self._value: list[str] = []
        self._parser = expat.ParserCreate("utf-8")

    def __iter__(self) -> Iterator[dict[int, str]]:
        for _ in self._parts.parse(self._member, self._start, self._end, self._parser):
            yield from self._rows
            self._rows.clear()
            if sum(map(len, self._value)) > LONGEST_CELL:
                raise damaged("a cell has more text than Excel allows")

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        self._depth += 1
        if self._depth > DEEPEST:
            raise too_deep()
        tag = local(name)
        if tag in ("v", "t"):
            self._parser.CharacterDataHandler = self._value.append
        elif tag == "c":
            reference = attributes.get("r")
            self._column = self._column + 1 if reference is None else column_of(reference.rstrip("0123456789"))
            if self._column >= MOST_COLUMNS:
                raise damaged(f"a row has more than {MOST_COLUMNS:,} cells")
            self._type, self._style = attributes.get("t", "n"), attributes.get("s", "0")
        elif tag == "row":
            self._column = -1
        elif tag == "rPh":  # a phonetic reading
            self._kept = len(self._value)

    def _end(self, name: str) -> None:
        self._depth -= 1
        tag = local(name)
        if tag in ("v", "t"):
            self._parser.CharacterDataHandler = None
        elif tag == "rPh":
            del self._value[self._kept :]
        elif tag == "c":
            if self._value and (text := self._text("".join(self._value))).strip():
                self._row[self._column] = text
            self._value.clear()
        elif tag == "row" and self._row:
            self._rows.append(self._row)
            self._row = {}

    def _text(self, value: str) -> str:
        match self._type:
            case "n":
                return self._date(value) if self._style in self._parts.date_styles else value
            case "s":
                return self._shared(value)
            case "b":
                return BOOLEANS.get(value.strip(), "")
            case "e":  # an error such as #N/A
                return ""
            case "d":
                return self._noted(value.strip().replace("T", " ").removesuffix("Z"))
        return value

    def _shared(self, value: str) -> str:
        try:
            place = int(value)
            return self._parts.texts[place] if place >= 0 else ""
        except (ValueError, IndexError):
            raise damaged(f"a cell refers to the text {value[:20]!r}, which is missing") from None

    def _date(self, value: str) -> str:
        return self._noted(date_text(value, self._parts.counts_from_1904))

    def _noted(self, date: str) -> str:
        self.dated.add(self._column)
        if " " in date and not date.endswith(MIDNIGHT):
            self.timed.add(self._column)
        return date


class SheetRows:
    """The rows of a sheet in a temporary file. Iterating reads them again."""

    def __init__(self, cells: Cells, limits: Limits) -> None:
        self.count = 0
        self.used: set[int] = set()  # columns with a value
        self.file = spooled(self._iter_lines(cells, limits), limits, "The sheet")
        self.dates = cells.dated - cells.timed  # columns of dates without a time

    def _iter_lines(self, cells: Cells, limits: Limits) -> Iterator[bytes]:
        for row in cells:
            self.count += 1
            self.used.update(row)
            limits.check_shape(self.count - 1, len(self.used))  # one row holds the names
            length = sum(map(len, row.values()))
            if length > LONGEST_ROW:
                raise TooLarge(
                    f"A row has {length:,} characters; at most {LONGEST_ROW:,} are read. Leave out long texts."
                )
            yield json.dumps(list(row.items())).encode() + b"\n"

    def __iter__(self) -> Iterator[dict[int, Any]]:
        self.file.seek(0)
        for line in self.file:
            yield dict(json.loads(line))


@lru_cache(maxsize=MOST_COLUMNS)
def column_of(letters: str) -> int:
    """Return the position of the column with these letters: A is 0."""
    position = 0
    for letter in letters[:4].upper():
        position = position * 26 + ord(letter) - ord("A") + 1
    if not (letters.isascii() and letters.isalpha() and 0 < position <= MOST_COLUMNS):
        raise damaged(f'a cell is in the column "{letters[:20]}", but columns are called A to XFD')
    return position - 1


@lru_cache(maxsize=4096)
def date_text(value: str, counts_from_1904: bool) -> str:
    """Return a day number as ISO text, to the second; a value that is no date stays as it is."""
    try:
        days = float(value)
        if not counts_from_1904 and days < FALSE_LEAP_DAY:
            days += 1
        seconds = round(days * 86_400)
        return (EPOCHS[counts_from_1904] + timedelta(seconds=seconds)).isoformat(" ")
    except (ValueError, OverflowError):
        return value
