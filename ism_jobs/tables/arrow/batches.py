"""Record batches of any Arrow types become blocks, slice by slice, so that no text is expanded all at once."""

import json
import re
from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO, Any, ClassVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ism_jobs.errors import FieldError, InvalidTable
from ism_jobs.tables.arrow.dates import dated, unit_needed
from ism_jobs.tables.block import BLOCK_BYTES, Block, retyped, without_empty_texts
from ism_jobs.tables.kinds import NUMBER, TEXT, as_numbers, as_texts, canonical_type
from ism_jobs.tables.limits import Limits
from ism_jobs.tables.names import unique_names

CELL_BYTES = 16  # approximate memory of one value
FEWEST_ROWS = 256  # of a batch, since each column costs some time in every batch
LONGEST_REASON = 200  # characters of Arrow's message that ours quotes
VIEW_BYTES = 16  # of each value of a string view; the first four are its length


class ArrowTable(ABC):
    """A table whose columns have Arrow types. Subclasses open a file and yield its record batches."""

    format: ClassVar[str]
    title: ClassVar[str]  # the format in messages

    def __init__(self, file: IO[bytes], limits: Limits) -> None:
        self.file = file
        self.limits = limits
        self.notes: list[str] = []
        with self._readable():
            self._name(self._open())
            self._find_units()
            self.schema = without_empty_texts(self._typed, self._typed_blocks())

    @abstractmethod
    def _open(self) -> tuple[Any, int]:
        """Check the sizes that the file declares; return its schema and its number of rows."""

    @abstractmethod
    def _iter_batches(self) -> Iterator[Any]:
        """Yield the record batches of the file."""

    @property
    def _rows_at_a_time(self) -> int:
        return max(FEWEST_ROWS, BLOCK_BYTES // (CELL_BYTES * len(self._given)))

    def blocks(self) -> Iterator[Block]:
        """Yield the table in canonical form, block by block."""
        for block in self._typed_blocks():
            yield retyped(block, self._typed, self.schema)

    def _name(self, opened: tuple[Any, int]) -> None:
        given, rows = opened
        self.limits.check_shape(rows, len(given))
        self._given = given
        self._kept = self._without_index(given)
        if rows == 0 or not self._kept:
            raise InvalidTable(
                f"The {self.title} file has {rows} rows and {len(self._kept)} columns. Send at least one of each."
            )
        for field in given:
            if pa.types.is_fixed_size_binary(field.type):  # Arrow allocates memory for missing values too
                self.limits.check_text(field.type.byte_width, field.name)
            if pa.types.is_run_end_encoded(field.type):
                sentence = f'The column "{field.name}" is run-end encoded. Decode it first.'
                raise InvalidTable(sentence, [FieldError(field.name, sentence)])
        types = [canonical_type(given.field(p).type, given.field(p).name) for p in self._kept]
        names, notes = unique_names([given.field(p).name for p in self._kept], self.limits)
        self.notes += notes
        self._typed = pa.schema(list(zip(names, types, strict=True)))

    def _find_units(self) -> None:
        """Find the coarsest unit that each column of timestamps needs, so that dates alone have no time."""
        self._units = {p: "D" for p in self._kept if pa.types.is_timestamp(self._given.field(p).type)}
        if self._units:
            for batch in self._iter_batches():
                self._units = {p: unit_needed(batch.column(p), unit) for p, unit in self._units.items()}

    def _typed_blocks(self) -> Iterator[Block]:
        columns = list(zip(self._kept, self._typed.names, self._typed.types, strict=True))
        numeric = [position for position, _, type in columns if type == NUMBER]
        verbal = [(position, name) for position, name, type in columns if type == TEXT]
        text_bytes = 0
        with self._readable():
            for batch in self._iter_batches():
                text_bytes += sum(_decoded_bytes(batch.column(position)) for position, _ in verbal)
                self.limits.check_bytes(text_bytes, "The table")
                for part in self._iter_short(batch):
                    numbers = np.empty((len(numeric), len(part)))
                    for row, position in enumerate(numeric):
                        numbers[row] = as_numbers(part.column(position))
                    yield Block(len(part), numbers, [self._texts(part, p, name) for p, name in verbal])

    def _texts(self, part: Any, position: int, name: str) -> Any:
        column = part.column(position)
        return as_texts(dated(column, self._units[position]) if position in self._units else column, name)

    def _iter_short(self, batch: Any) -> Iterator[Any]:
        """Yield slices whose decoded text has at most about BLOCK_BYTES."""
        longest = 1
        for field, column in zip(batch.schema, batch.columns, strict=True):
            lengths = _shared_lengths(column)
            if len(lengths):
                self.limits.check_text(int(lengths.max()), field.name)
                longest += int(lengths.max())
        rows = min(self._rows_at_a_time, max(1, BLOCK_BYTES // longest))
        for start in range(0, len(batch), rows):
            yield batch.slice(start, rows)

    def _without_index(self, given: Any) -> list[int]:
        """Return the positions of all columns but an unnamed index that pandas has stored."""
        try:
            index = json.loads((given.metadata or {}).get(b"pandas", b"{}"))["index_columns"]
            unnamed = {name for name in index if isinstance(name, str) and re.fullmatch(r"__index_level_\d+__", name)}
        except (ValueError, KeyError, TypeError, RecursionError):
            unnamed = set()
        kept = [position for position, name in enumerate(given.names) if name not in unnamed]
        if not kept or len(kept) == len(given):
            return list(range(len(given)))
        self.notes.append("The index that pandas stored with the table is left out.")
        return kept

    @contextmanager
    def _readable(self) -> Iterator[None]:
        """Turn Arrow's errors about a damaged file into InvalidTable."""
        try:
            yield
        except MemoryError:  # Arrow's own is also an ArrowException
            raise
        except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
            reason = str(error).partition("\n")[0][:LONGEST_REASON].rstrip(".")
            raise InvalidTable(f"The {self.title} file cannot be read: {reason}. Write it again.") from error


def _shared_lengths(column: Any) -> Any:
    """Return the lengths of values that the column may repeat without storing them again, or an empty array."""
    if pa.types.is_dictionary(column.type) and _has_length(column.type.value_type):
        return _lengths(column.dictionary)
    if pa.types.is_string_view(column.type) or pa.types.is_binary_view(column.type):
        return _view_lengths(column)
    return np.empty(0, np.int64)


def _decoded_bytes(column: Any) -> int:
    """Return the bytes of a column's text after dictionaries are decoded."""
    if pa.types.is_dictionary(column.type) and _has_length(column.type.value_type):
        indices = column.indices.drop_null().to_numpy(zero_copy_only=False)
        return int(_lengths(column.dictionary)[indices].sum())
    if pa.types.is_string_view(column.type) or pa.types.is_binary_view(column.type):
        return int(_view_lengths(column).sum())
    return int(column.nbytes)


def _lengths(words: Any) -> Any:
    if pa.types.is_string_view(words.type) or pa.types.is_binary_view(words.type):
        return _view_lengths(words)
    return pc.fill_null(pc.binary_length(words), 0).to_numpy(zero_copy_only=False).astype(np.int64)


def _view_lengths(column: Any) -> Any:
    views = np.frombuffer(column.buffers()[1], np.int32).reshape(-1, VIEW_BYTES // 4)
    lengths = views[column.offset : column.offset + len(column), 0].astype(np.int64)
    return np.where(column.is_valid().to_numpy(zero_copy_only=False), lengths, 0)


def _has_length(given: Any) -> bool:
    tests = (
        pa.types.is_string,
        pa.types.is_large_string,
        pa.types.is_binary,
        pa.types.is_large_binary,
        pa.types.is_string_view,
        pa.types.is_binary_view,
    )
    return any(test(given) for test in tests)
