"""A part of a table in canonical form: all its numbers as one array, so that 10,000 columns cost few calls."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from ism_jobs.tables.kinds import NUMBER, TEXT

BLOCK_BYTES = 8 << 20


@dataclass(frozen=True)
class Block:
    """Some rows: `numbers` has a row for each number column, missing as NaN; `texts` are string columns."""

    rows: int
    numbers: Any
    texts: list[Any]

    def batch(self, schema: Any) -> Any:
        """As a record batch whose columns are in the schema's order."""
        flat = pa.array(np.ascontiguousarray(self.numbers).reshape(-1), NUMBER, from_pandas=True)
        numbers = (flat.slice(start, self.rows) for start in range(0, len(flat), self.rows))
        texts = iter(self.texts)
        columns = [next(numbers) if type == NUMBER else next(texts) for type in schema.types]
        return pa.RecordBatch.from_arrays(columns, schema=schema)

    def bounded(self) -> Iterator["Block"]:
        """In slices of some megabytes."""
        size = self.numbers.nbytes + sum(text.nbytes for text in self.texts)
        step = max(1, self.rows if size <= BLOCK_BYTES else self.rows * BLOCK_BYTES // size)
        for start in range(0, self.rows, step):
            rows = min(step, self.rows - start)
            yield Block(rows, self.numbers[:, start : start + rows], [text.slice(start, rows) for text in self.texts])


def settled(schema: Any, blocks: Iterator[Block]) -> Any:
    """The schema with columns typed as text in which every value is missing as numbers, as untyped formats have them.

    Mostly the first block is enough to see a value in each.
    """
    doubtful = dict(enumerate(position for position, type in enumerate(schema.types) if type == TEXT))
    while doubtful and (block := next(blocks, None)) is not None:
        doubtful = {row: p for row, p in doubtful.items() if block.texts[row].null_count == block.rows}
    for position in doubtful.values():
        schema = schema.set(position, pa.field(schema.field(position).name, NUMBER))
    return schema


def as_settled(block: Block, typed: Any, schema: Any) -> Block:
    """The block of a table typed so as one of the settled schema."""
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
