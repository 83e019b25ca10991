"""Blocks of rows in canonical form. All numbers of a block are one array, so that 10,000 columns cost few calls."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from ism_jobs.tables.kinds import NUMBER, TEXT

BLOCK_BYTES = (
    8 << 20
)  # approximate size of a block: small enough for memory, large enough that a call's overhead is small


@dataclass(frozen=True)
class Block:
    """Some rows. `numbers` has a row for each number column, with NaN for missing; `texts` are string columns."""

    rows: int
    numbers: Any
    texts: list[Any]

    def batch(self, schema: Any) -> Any:
        """Return a record batch whose columns are in the schema's order."""
        flat = pa.array(np.ascontiguousarray(self.numbers).reshape(-1), NUMBER, from_pandas=True)
        numbers = (flat.slice(start, self.rows) for start in range(0, len(flat), self.rows))
        texts = iter(self.texts)
        columns = [next(numbers) if type == NUMBER else next(texts) for type in schema.types]
        return pa.RecordBatch.from_arrays(columns, schema=schema)

    def iter_slices(self) -> Iterator["Block"]:
        """Yield the block in slices of at most BLOCK_BYTES."""
        size = self.numbers.nbytes + sum(text.nbytes for text in self.texts)
        step = max(1, self.rows if size <= BLOCK_BYTES else self.rows * BLOCK_BYTES // size)
        for start in range(0, self.rows, step):
            rows = min(step, self.rows - start)
            yield Block(rows, self.numbers[:, start : start + rows], [text.slice(start, rows) for text in self.texts])


def without_empty_texts(schema: Any, blocks: Iterator[Block]) -> Any:
    """Return the schema in which text columns without any value are number columns, as in untyped formats.

    Usually the first block has a value of each column.
    """
    empty = dict(enumerate(position for position, type in enumerate(schema.types) if type == TEXT))
    while empty and (block := next(blocks, None)) is not None:
        empty = {row: p for row, p in empty.items() if block.texts[row].null_count == block.rows}
    for position in empty.values():
        schema = schema.set(position, pa.field(schema.field(position).name, NUMBER))
    return schema


def retyped(block: Block, typed: Any, schema: Any) -> Block:
    """Return a block of the schema `typed` as a block of a schema from `without_empty_texts`."""
    if typed.equals(schema):
        return block
    numbers, texts = iter(block.numbers), iter(block.texts)
    kept_numbers, kept_texts = [], []
    for before, after in zip(typed.types, schema.types, strict=True):
        column = next(numbers) if before == NUMBER else next(texts)
        if after == TEXT:
            kept_texts.append(column)
        else:
            kept_numbers.append(column if before == NUMBER else np.full(block.rows, np.nan))
    return Block(block.rows, np.array(kept_numbers).reshape(len(kept_numbers), block.rows), kept_texts)
