"""JSON read value by value from a file, so that a long array never stands in memory as a whole."""

import codecs
import json
import re
from collections.abc import Iterator
from typing import IO, Any

from ism_jobs.errors import InvalidTable, TooLarge
from ism_jobs.tables.source import CHUNK

LONGEST_VALUE = 1 << 24  # characters of one row
NEAR_END = 32  # an error this near the end of what was read may only mean that there is more to read
SPACE = re.compile(r"[ \t\r\n]*")
ROW_KEYS = ("rows", "data")  # pandas writes "data"


class Scanner:
    """A position in the text of a JSON file."""

    def __init__(self, file: IO[bytes], start: int) -> None:
        self._file = file
        self._decode = codecs.getincrementaldecoder("utf-8")().decode
        self._parse = json.JSONDecoder().raw_decode  # NaN and Infinity become numbers, and are dealt with as such
        self._text = ""
        self._at = 0
        self._ended = False
        self._passed = 0
        file.seek(start)

    @property
    def place(self) -> int:
        """Characters that have been read."""
        return self._passed + self._at

    def peek(self) -> str:
        """The next character that is no space; empty at the end."""
        while True:
            self._at = SPACE.match(self._text, self._at).end()  # type: ignore[union-attr]
            if self._at < len(self._text):
                return self._text[self._at]
            if not self._more():
                return ""

    def take(self, expected: str) -> bool:
        """Step over the next character if it is this one."""
        if self.peek() != expected:
            return False
        self._at += 1
        return True

    def need(self, expected: str) -> None:
        """Step over the next character, which must be this one."""
        if not self.take(expected):
            found = self.peek()
            raise self.error(f'"{found}" stands where "{expected}" belongs' if found else f'"{expected}" is missing')

    def value(self) -> Any:
        """The next value, whole."""
        self.peek()
        while True:
            try:
                value, end = self._parse(self._text, self._at)
            except json.JSONDecodeError as error:
                cut = error.msg.startswith("Unterminated string") or error.pos >= len(self._text) - NEAR_END
                if not (cut and self._more()):
                    raise self.error(error.msg, error.pos) from error
            except RecursionError:
                raise self.error("values are nested too deeply") from None
            except ValueError as error:
                raise self.error("a number has too many digits") from error
            else:
                if end < len(self._text) or not self._more():  # a number may go on in the next piece
                    self._at = end
                    return value

    def items(self) -> Iterator[Any]:
        """The values of the array that starts here."""
        self.need("[")
        if self.take("]"):
            return
        while True:
            yield self.value()
            if self.take("]"):
                return
            self.need(",")

    def members(self) -> Iterator[str]:
        """The keys of the object that starts here; the caller reads the value of each."""
        self.need("{")
        if self.take("}"):
            return
        while True:
            key = self.value()
            if not isinstance(key, str):
                raise self.error("a key is not in quotes")
            self.need(":")
            yield key
            if self.take("}"):
                return
            self.need(",")

    def end(self) -> None:
        """Nothing may follow."""
        if self.peek():
            raise self.error("something follows the end of the table")

    def error(self, what: str, at: int | None = None) -> InvalidTable:
        """The problem, with its place."""
        place = self._passed + (self._at if at is None else at)
        return InvalidTable(f"The file is not valid JSON at character {place:,}: {what}. Correct it there.")

    def _more(self) -> bool:
        if self._ended:
            return False
        waiting = len(self._text) - self._at
        if waiting > LONGEST_VALUE:
            raise TooLarge(
                f"One value of the JSON file has at least {waiting:,} characters; at most {LONGEST_VALUE:,} are read "
                "at a time. Send one object a row, or the table as CSV or Parquet."
            )
        more = min(waiting, LONGEST_VALUE - waiting)
        piece = self._file.read(max(CHUNK, more))  # doubling keeps the work linear in the length of a value
        self._ended = not piece
        self._passed += self._at
        self._text = self._text[self._at :] + self._decode(piece, final=self._ended)
        self._at = 0
        return True


def layout(file: IO[bytes], start: int) -> str:
    """ "array", "lines" (one object after the other) or "split" ({"columns": [...], "rows": [...]})."""
    scanner = Scanner(file, start)
    if scanner.peek() == "[":
        return "array"
    for key in scanner.members():
        opening = scanner.peek()
        if opening == "[" and (key in ROW_KEYS or key == "columns"):
            return "split"
        scanner.value()
    return "lines"


def rows(scanner: Scanner, form: str) -> Iterator[Any]:
    """The rows, as objects or arrays; for "split" the names come as a tuple wherever they stand."""
    if form == "array":
        yield from scanner.items()
        scanner.end()
    elif form == "lines":
        while scanner.peek():
            yield scanner.value()
    else:
        for key in scanner.members():
            if key in ROW_KEYS and scanner.peek() == "[":
                yield from scanner.items()
            else:
                value = scanner.value()
                if key == "columns" and isinstance(value, list):
                    yield tuple(value)
        scanner.end()
