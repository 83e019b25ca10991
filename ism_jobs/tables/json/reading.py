"""JSON files: an array of objects, one object a line, or {"columns": [...], "rows": [[...], ...]}."""

from collections.abc import Iterator
from typing import IO, Any

import numpy as np
import pyarrow as pa

from ism_jobs.errors import FieldError, InvalidTable
from ism_jobs.tables.block import Block
from ism_jobs.tables.charset import as_utf8
from ism_jobs.tables.json.scan import Scanner, layout, rows
from ism_jobs.tables.kinds import MISSING, NUMBER, TEXT, without_blanks
from ism_jobs.tables.limits import Limits
from ism_jobs.tables.names import numbered, unique_names

CELLS_AT_A_TIME = 200_000
ROWS_AT_A_TIME = 4_096
CHARACTERS_AT_A_TIME = 1 << 23
NO_VALUE = frozenset(MISSING.to_pylist())
EXPECTED = 'Send an array of objects, one object a line, or {"columns": [...], "rows": [[...], ...]}.'


class JsonFile:
    """A table in a JSON file, read twice: for what each column holds, then for its values."""

    format = "json"

    def __init__(self, file: IO[bytes], limits: Limits) -> None:
        self.limits = limits
        self.file, self._start, self.notes = as_utf8(file, limits)
        self._header: tuple[Any, ...] | None = None
        self._keys: dict[str, None] = {}  # of objects, in the order of their first appearance
        self._width: int | None = None  # of arrays
        self._kind: type | None = None  # of the first row, and so of all
        self._evidence: list[_Evidence] = []
        try:
            self._form = layout(self.file, self._start)
            self._look()
            names, notes = self._names()
        except BaseException:
            self.file.close()
            raise
        self.notes += notes
        self._types = [evidence.type for evidence in self._evidence]
        self.schema = pa.schema(list(zip(names, self._types, strict=True)))

    def blocks(self) -> Iterator[Block]:
        """The table in canonical form, a part at a time."""
        names = self.schema.names
        for chunk in self._chunks():
            numbers, words = [], []
            for values, type, name in zip(self._columns(chunk), self._types, names, strict=True):
                if type == NUMBER:
                    numbers.append(_numbers(values))
                else:
                    words.append(_texts(values, name))
            yield Block(len(chunk), np.array(numbers).reshape(len(numbers), len(chunk)), words)

    def _look(self) -> None:
        count = 0
        for chunk in self._chunks():
            count += len(chunk)
            self.limits.check_shape(count, self._columns_known)
            labels = self._labels()
            self._evidence += [_Evidence() for _ in labels[len(self._evidence) :]]
            for evidence, values, label in zip(self._evidence, self._columns(chunk), labels, strict=True):
                evidence.add(values, label)
        if count == 0:
            raise InvalidTable(f"The JSON file has no rows. {EXPECTED}")
        if not self._evidence:
            raise InvalidTable(f"The rows of the JSON file have no values. {EXPECTED}")

    def _names(self) -> tuple[list[str], list[str]]:
        if self._width is None:
            return unique_names(list(self._keys), self.limits)
        if self._form != "split":
            return numbered(self._width), ["The rows have no names: the columns are called x1, x2 and so on."]
        if self._header is None or not all(isinstance(name, str) for name in self._header):
            raise InvalidTable('"columns" must be an array of names (text), one for each value of a row.')
        if len(self._header) != self._width:
            raise InvalidTable(
                f'"columns" has {len(self._header):,} name(s), but the rows have {self._width:,} value(s) each.'
            )
        return unique_names(list(self._header), self.limits)

    @property
    def _columns_known(self) -> int:
        return len(self._keys) if self._width is None else self._width

    def _labels(self) -> list[str]:
        """Names for sentences about values, before the names are checked."""
        if self._width is None:
            return list(self._keys)
        if self._header is not None and len(self._header) == self._width:
            return [str(name) for name in self._header]
        return numbered(self._width)

    def _columns(self, chunk: list[Any]) -> Iterator[Any]:
        if self._width is not None:
            return zip(*chunk, strict=True)
        return ([row.get(key) for row in chunk] for key in self._keys)

    def _chunks(self) -> Iterator[list[Any]]:
        chunk: list[Any] = []
        scanner, begun = Scanner(self.file, self._start), 0
        for number, row in enumerate(rows(scanner, self._form), start=1):
            if type(row) is tuple:
                self._header = row
                continue
            self._check(row, number)
            chunk.append(row)
            if (
                len(chunk) >= ROWS_AT_A_TIME
                or len(chunk) * self._columns_known >= CELLS_AT_A_TIME
                or scanner.place - begun >= CHARACTERS_AT_A_TIME
            ):
                yield chunk
                chunk, begun = [], scanner.place
        if chunk:
            yield chunk

    def _check(self, row: Any, number: int) -> None:
        self._kind = self._kind or type(row)
        if isinstance(row, dict) and self._kind is dict:
            if row.keys() - self._keys.keys():
                for name in row:
                    self.limits.check_name(name.strip())
                self._keys.update(dict.fromkeys(row))
                self.limits.check_shape(number, len(self._keys))
        elif isinstance(row, list) and self._kind is list and self._form != "lines":
            if self._width is None:
                self._width = len(row)
                self.limits.check_shape(number, self._width)
            if len(row) != self._width:
                raise InvalidTable(
                    f"Row {number:,} has {len(row):,} value(s) but the first row has {self._width:,}. "
                    "Give every row the same number of values, null for missing ones."
                )
        else:
            raise InvalidTable(f"Row {number:,} is not like the others, or neither an object nor an array. {EXPECTED}")


class _Evidence:
    """What types of value a column has shown so far."""

    def __init__(self) -> None:
        self._numbers = False
        self._words = False
        self._signs = False  # such as "NA": missing among numbers, a word among words

    def add(self, values: Any, name: str) -> None:
        """Look at more values."""
        types = set(map(type, values))
        if types & {dict, list}:
            sentence = f'The column "{name}" holds nested values (an object or array). Give every part its own column.'
            raise InvalidTable(sentence, [FieldError(name, sentence)])
        self._numbers = self._numbers or bool(types & {int, bool}) or (float in types and _has_number(values))
        if str in types and not self._words:
            words = {value.strip() for value in values if isinstance(value, str)} - {""}
            self._words = bool(words - NO_VALUE)
            self._signs = self._signs or bool(words)

    @property
    def type(self) -> Any:
        """Float64 or string; no value at all makes numbers."""
        return TEXT if self._words or (self._signs and not self._numbers) else NUMBER


def _has_number(values: Any) -> bool:
    return any(type(value) is float and value == value for value in values)


def _numbers(values: Any) -> Any:
    known = [None if type(value) is str else value for value in values]
    try:
        return np.array(known, dtype=np.float64)  # None becomes NaN
    except OverflowError:  # an integer beyond 1e308; others refuse it as infinite
        return np.array([np.nan if value is None else _float(value) for value in known])


def _float(value: float) -> float:
    try:
        return float(value)
    except OverflowError:
        return np.inf


def _texts(values: Any, name: str) -> Any:
    try:
        return without_blanks(pa.array([_text(value) for value in values], TEXT))
    except UnicodeEncodeError:
        sentence = f'The column "{name}" holds half a character; write its text as valid Unicode.'
        raise InvalidTable(sentence, [FieldError(name, sentence)]) from None


def _text(value: Any) -> str | None:
    if isinstance(value, str) or value is None:
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    return None if value != value else repr(value)
