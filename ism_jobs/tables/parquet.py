"""Parquet files: the counts in the footer are checked first, then the rows are streamed."""

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from ism_jobs.errors import InvalidTable
from ism_jobs.tables.block import BLOCK_BYTES, Block, retyped, without_empty_texts
from ism_jobs.tables.kinds import NUMBER, TEXT, as_numbers, as_texts, canonical_type
from ism_jobs.tables.limits import Limits
from ism_jobs.tables.names import unique_names
from ism_jobs.tables.source import Mapped

CELL_BYTES = 16  # approximate memory of one value
FEWEST_ROWS = 256  # of a batch, since each column costs some time in every batch
LONGEST_REASON = 200  # characters of Arrow's message that ours quotes
MOST_FOOTER_BYTES = 1 << 28  # of names and counts in the footer


class ParquetFile:
    """A table in a Parquet file."""

    format = "parquet"

    def __init__(self, file: IO[bytes], limits: Limits) -> None:
        self.file = file
        self.limits = limits
        self.notes: list[str] = []
        with _readable():
            self._open(limits)
            self.schema = without_empty_texts(self._typed, self._typed_blocks())

    def _open(self, limits: Limits) -> None:
        opened = self._opened([])
        footer, given = opened.metadata, opened.schema_arrow
        limits.check_shape(footer.num_rows, len(given))
        limits.check_bytes(
            sum(footer.row_group(group).total_byte_size for group in range(footer.num_row_groups)), "The table"
        )
        self._kept = self._without_index(given)
        if footer.num_rows == 0 or not self._kept:
            raise InvalidTable(
                f"The Parquet file has {footer.num_rows} rows and {len(self._kept)} columns. Send at least one of each."
            )
        for field in given:
            if pa.types.is_fixed_size_binary(field.type):  # Arrow allocates memory for missing values too
                limits.check_text(field.type.byte_width, field.name)
        types = [canonical_type(given.field(p).type, given.field(p).name) for p in self._kept]
        names, notes = unique_names([given.field(p).name for p in self._kept], limits)
        self.notes += notes
        self._given = given
        self._typed = pa.schema(list(zip(names, types, strict=True)))

    def blocks(self) -> Iterator[Block]:
        """Yield the table in canonical form, block by block."""
        for block in self._typed_blocks():
            yield retyped(block, self._typed, self.schema)

    def _typed_blocks(self) -> Iterator[Block]:
        columns = list(zip(self._kept, self._typed.names, self._typed.types, strict=True))
        numeric = [position for position, _, type in columns if type == NUMBER]
        verbal = [(position, name) for position, name, type in columns if type == TEXT]
        # Text stays dictionary-encoded until its length is checked: a small file can hold very long columns.
        words = [field.name for field in self._given if canonical_type(field.type, field.name) == TEXT]
        rows = max(FEWEST_ROWS, BLOCK_BYTES // (CELL_BYTES * len(self._given)))
        with _readable():
            for batch in self._opened(words).iter_batches(batch_size=rows, use_threads=False):
                for part in self._iter_short(batch):
                    numbers = np.empty((len(numeric), len(part)))
                    for row, position in enumerate(numeric):
                        numbers[row] = as_numbers(part.column(position))
                    yield Block(len(part), numbers, [as_texts(part.column(p), name) for p, name in verbal])

    def _opened(self, words: list[str]) -> Any:
        return pq.ParquetFile(
            Mapped(self.file).reader(),
            read_dictionary=words,
            pre_buffer=False,
            thrift_string_size_limit=MOST_FOOTER_BYTES,
            thrift_container_size_limit=MOST_FOOTER_BYTES,
        )

    def _iter_short(self, batch: Any) -> Iterator[Any]:
        """Yield slices whose decoded text has at most about BLOCK_BYTES."""
        longest = 1
        for field, column in zip(batch.schema, batch.columns, strict=True):
            if pa.types.is_dictionary(column.type) and _has_length(column.type.value_type) and len(column.dictionary):
                length = pc.max(pc.binary_length(column.dictionary)).as_py() or 0
                self.limits.check_text(length, field.name)
                longest += length
        rows = max(1, BLOCK_BYTES // longest)
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
def _readable() -> Iterator[None]:
    """Turn Arrow's errors about a damaged file into InvalidTable."""
    try:
        yield
    except MemoryError:  # Arrow's own is also an ArrowException
        raise
    except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
        reason = str(error).partition("\n")[0][:LONGEST_REASON].rstrip(".")
        raise InvalidTable(f"The Parquet file cannot be read: {reason}. Write it again.") from error


def _has_length(given: Any) -> bool:
    return bool(
        pa.types.is_string(given)
        or pa.types.is_large_string(given)
        or pa.types.is_binary(given)
        or pa.types.is_large_binary(given)
    )
