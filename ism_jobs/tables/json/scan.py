"""Read JSON value by value from a file, so that a long array is never in memory as a whole."""

import codecs
import json
import re
from collections.abc import Iterator
from typing import IO, Any

from ism_jobs.errors import InvalidTable, TooLarge
from ism_jobs.tables.source import CHUNK_BYTES

LONGEST_VALUE = 1 << 24  # characters of one row
NEAR_END = 32  # characters: an error this near to the end of the text read so far may mean that the text is incomplete
SPACE = re.compile(r"[ \t\r\n]*")
ROW_KEYS = ("rows", "data")  # pandas writes "data"


class Scanner:
    """A position in the text of a JSON file."""

    def __init__(self, file: IO[bytes], start: int) -> None:
        self._file = file
        self._decode = codecs.getincrementaldecoder("utf-8")().decode
        self._parse = json.JSONDecoder().raw_decode  # NaN and Infinity become numbers
        self._text = ""
        self._at = 0
        self._ended = False
        self._before = 0
        file.seek(start)

    @property
    def position(self) -> int:
        """The number of characters read so far."""
        return self._before + self._at

    def peek(self) -> str:
        """Return the next character that is not a space, or "" at the end."""
        while True:
            self._at = SPACE.match(self._text, self._at).end()  # type: ignore[union-attr]
            if self._at < len(self._text):
                return self._text[self._at]
            if not self._more():
                return ""

    def take(self, expected: str) -> bool:
        """Skip the next character if it is `expected`; return whether it is."""
        if self.peek() != expected:
            return False
        self._at += 1
        return True

    def require(self, expected: str) -> None:
        """Skip the next character; raise InvalidTable if it is not `expected`."""
        if not self.take(expected):
            found = self.peek()
            raise self.error(f'"{found}" instead of "{expected}"' if found else f'"{expected}" is missing')

    def value(self) -> Any:
        """Read the next value."""
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
                if end < len(self._text) or not self._more():  # a number may continue in the next piece
                    self._at = end
                    return value

    def iter_items(self) -> Iterator[Any]:
        """Yield the values of the array that starts here."""
        self.require("[")
        if self.take("]"):
            return
        while True:
            yield self.value()
            if self.take("]"):
                return
            self.require(",")

    def iter_keys(self) -> Iterator[str]:
        """Yield the keys of the object that starts here; the caller reads the value of each."""
        self.require("{")
        if self.take("}"):
            return
        while True:
            key = self.value()
            if not isinstance(key, str):
                raise self.error("a key is not in quotes")
            self.require(":")
            yield key
            if self.take("}"):
                return
            self.require(",")

    def end(self) -> None:
        """Raise InvalidTable if anything follows."""
        if self.peek():
            raise self.error("text follows the end of the table")

    def error(self, what: str, at: int | None = None) -> InvalidTable:
        """Return an error with its position."""
        position = self._before + (self._at if at is None else at)
        return InvalidTable(f"The file is not valid JSON at character {position:,}: {what}. Correct it there.")

    def _more(self) -> bool:
        if self._ended:
            return False
        waiting = len(self._text) - self._at
        if waiting > LONGEST_VALUE:
            raise TooLarge(
                f"One value of the JSON file has at least {waiting:,} characters; at most {LONGEST_VALUE:,} are read "
                "at a time. Send one object per row, or the table as CSV or Parquet."
            )
        more = min(waiting, LONGEST_VALUE - waiting)
        piece = self._file.read(max(CHUNK_BYTES, more))  # doubling keeps the time linear in the length of a value
        self._ended = not piece
        self._before += self._at
        self._text = self._text[self._at :] + self._decode(piece, final=self._ended)
        self._at = 0
        return True


def layout(file: IO[bytes], start: int) -> str:
    """Return "array", "lines" (one object after the other) or "split" ({"columns": [...], "rows": [...]})."""
    scanner = Scanner(file, start)
    if scanner.peek() == "[":
        return "array"
    for key in scanner.iter_keys():
        opening = scanner.peek()
        if opening == "[" and (key in ROW_KEYS or key == "columns"):
            return "split"
        scanner.value()
    return "lines"


def iter_rows(scanner: Scanner, form: str) -> Iterator[Any]:
    """Yield the rows as objects or arrays. In "split", the names come as a tuple, before or after the rows."""
    if form == "array":
        yield from scanner.iter_items()
        scanner.end()
    elif form == "lines":
        while scanner.peek():
            yield scanner.value()
    else:
        for key in scanner.iter_keys():
            if key in ROW_KEYS and scanner.peek() == "[":
                yield from scanner.iter_items()
            else:
                value = scanner.value()
                if key == "columns" and isinstance(value, list):
                    yield tuple(value)
        scanner.end()
