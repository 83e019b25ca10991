"""JSON files: an array of objects, one object on each line, or {"columns": [...], "rows": [[...], ...]}."""

from collections.abc import Iterator
from typing import IO, Any

import numpy as np
import pyarrow as pa

from ism_jobs.errors import FieldError, InvalidTable
from ism_jobs.sentences import listed
from ism_jobs.tables.block import Block
from ism_jobs.tables.charset import as_utf8
from ism_jobs.tables.json.scan import Scanner, iter_rows, layout
from ism_jobs.tables.kinds import MISSING_NUMBER, NUMBER, TEXT, without_blanks
from ism_jobs.tables.limits import Limits
from ism_jobs.tables.names import numbered, unique_names

# A block of rows ends at the first of these limits.
VALUES_AT_A_TIME = 200_000
CELLS_AT_A_TIME = 1_000_000  # values and absent keys
ROWS_AT_A_TIME = 4_096
CHARACTERS_AT_A_TIME = 1 << 23
NO_VALUE = frozenset(MISSING_NUMBER.to_pylist())  # texts that stand for a missing value
SPARSE = 1 / 4  # share of present keys below which only these are visited
EXPECTED = 'Send an array of objects, one object per line, or {"columns": [...], "rows": [[...], ...]}.'


class JsonFile:
    """A table in a JSON file. The first pass finds the kind of each column, the second its values."""

    format = "json"

    def __init__(self, file: IO[bytes], limits: Limits) -> None:
        self.limits = limits
        self.file, self._start, self.notes = as_utf8(file, limits)
        self._header: tuple[Any, ...] | None = None
        self._keys: dict[str, None] = {}  # of objects, in the order of their first occurrence
        self._width: int | None = None  # number of values of each row, if rows are arrays
        self._kind: type | None = None  # dict or list: the type of the first row, which all others must have
        self._seen: list[_Seen] = []
        try:
            self._form = layout(self.file, self._start)
            self._find_kinds()
            names, notes = self._names()
        except BaseException:
            self.file.close()
            raise
        self.notes += notes
        self._types = [seen.type for seen in self._seen]
        self.schema = pa.schema(list(zip(names, self._types, strict=True)))

    def blocks(self) -> Iterator[Block]:
        """Yield the table in canonical form, block by block."""
        names = self.schema.names
        for chunk in self._chunks():
            rows = len(chunk)
            numbers = np.full((self._types.count(NUMBER), rows), np.nan)
            empty = pa.nulls(rows, TEXT)
            words: list[Any] = []
            row = 0
            for (places, values), type, name in zip(self._columns(chunk), self._types, names, strict=True):
                if type == NUMBER:
                    numbers[row, places] = _numbers(values)
                    row += 1
                else:
                    words.append(_texts(_spread(places, values, rows), name) if len(values) else empty)
            yield Block(rows, numbers, words)

    def _find_kinds(self) -> None:
        count = 0
        for chunk in self._chunks():
            count += len(chunk)
            self.limits.check_shape(count, self._columns_known)
            if self._form == "lines" and count == 1:
                _check_is_row(chunk[0])
            labels = self._labels()
            self._seen += [_Seen() for _ in labels[len(self._seen) :]]
            for seen, (_, values), label in zip(self._seen, self._columns(chunk), labels, strict=True):
                if len(values):
                    seen.add(values, label)
        if count == 0:
            raise InvalidTable(f"The JSON file has no rows. {EXPECTED}")
        if not self._seen:
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
        """Return names for error messages, before the names are checked."""
        if self._width is None:
            return list(self._keys)
        if self._header is not None and len(self._header) == self._width:
            return [str(name) for name in self._header]
        return numbered(self._width)

    def _columns(self, chunk: list[Any]) -> Iterator[tuple[Any, Any]]:
        """Yield for each column the places of rows that have it, and their values."""
        if self._width is not None:
            return ((slice(None), values) for values in zip(*chunk, strict=True))
        if sum(map(len, chunk)) >= SPARSE * len(chunk) * len(self._keys):
            return ((slice(None), [row.get(key) for row in chunk]) for key in self._keys)
        present: dict[str, tuple[list[int], list[Any]]] = {}
        for place, row in enumerate(chunk):
            for key, value in row.items():
                places, values = present.setdefault(key, ([], []))
                places.append(place)
                values.append(value)
        return (present.get(key, ([], [])) for key in self._keys)

    def _chunks(self) -> Iterator[list[Any]]:
        chunk: list[Any] = []
        scanner, begun, values = Scanner(self.file, self._start), 0, 0
        for number, row in enumerate(iter_rows(scanner, self._form), start=1):
            if type(row) is tuple:
                self._header = row
                continue
            self._check(row, number)
            chunk.append(row)
            values += len(row)
            if (
                len(chunk) >= ROWS_AT_A_TIME
                or values >= VALUES_AT_A_TIME
                or len(chunk) * self._columns_known >= CELLS_AT_A_TIME
                or scanner.position - begun >= CHARACTERS_AT_A_TIME
            ):
                yield chunk
                chunk, begun, values = [], scanner.position, 0
        if chunk:
            yield chunk

    def _check(self, row: Any, number: int) -> None:
        self._kind = self._kind or type(row)
        if isinstance(row, dict) and self._kind is dict:
            if any(name not in self._keys for name in row):
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
            raise InvalidTable(
                f"Row {number:,} is neither an object nor an array, or has another form than the first row. {EXPECTED}"
            )


def _check_is_row(row: Any) -> None:
    """Raise InvalidTable if the first object of a file has parts, so that it is probably not a row but all there is."""
    nested = [key for key, value in row.items() if isinstance(value, dict | list)] if isinstance(row, dict) else []
    if nested:
        raise InvalidTable(
            "The JSON file is not a table of rows: its first object has nested values in "
            f"{listed(nested, quoted=True)}. {EXPECTED} "
            'pandas writes such an array with to_json(orient="records").'
        )


class _Seen:
    """The types of the values of one column so far."""

    def __init__(self) -> None:
        self._has_numbers = False
        self._has_words = False
        self._has_missing_words = False  # such as "NA": missing among numbers, text among words

    def add(self, values: Any, name: str) -> None:
        """Look at more values."""
        types = set(map(type, values))
        if types & {dict, list}:
            sentence = f'The column "{name}" holds nested values (an object or array). Give every part its own column.'
            raise InvalidTable(sentence, [FieldError(name, sentence)])
        self._has_numbers = self._has_numbers or bool(types & {int, bool}) or (float in types and _has_number(values))
        if str in types and not self._has_words:
            words = {value.strip() for value in values if isinstance(value, str)} - {""}
            self._has_words = bool(words - NO_VALUE)
            self._has_missing_words = self._has_missing_words or bool(words)

    @property
    def type(self) -> Any:
        """float64 or string; float64 if the column has no values."""
        return TEXT if self._has_words or (self._has_missing_words and not self._has_numbers) else NUMBER


def _has_number(values: Any) -> bool:
    return any(type(value) is float and value == value for value in values)


def _numbers(values: Any) -> Any:
    known = [None if type(value) is str else value for value in values]
    try:
        return np.array(known, dtype=np.float64)  # None becomes NaN
    except OverflowError:  # an integer beyond 1e308; Summary refuses it as infinite
        return np.array([np.nan if value is None else _float(value) for value in known])


def _float(value: float) -> float:
    try:
        return float(value)
    except OverflowError:
        return np.inf


def _spread(places: Any, values: Any, rows: int) -> Any:
    """Return the values of all rows, with None for rows that have none."""
    if isinstance(places, slice):
        return values
    found = dict(zip(places, values, strict=True))
    return [found.get(row) for row in range(rows)]


def _texts(values: Any, name: str) -> Any:
    try:
        return without_blanks(pa.array([_text(value) for value in values], TEXT))
    except UnicodeEncodeError:
        sentence = (
            f'The column "{name}" contains a lone surrogate, which is not a character; write its text in valid Unicode.'
        )
        raise InvalidTable(sentence, [FieldError(name, sentence)]) from None


def _text(value: Any) -> str | None:
    if isinstance(value, str) or value is None:
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    return None if value != value else repr(value)
