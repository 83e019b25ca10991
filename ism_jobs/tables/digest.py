"""A hash of a table's content, which does not depend on the format, chunking or compression of its file."""

import hashlib
from typing import Any

import numpy as np
import pyarrow.compute as pc

from ism_jobs.tables.block import Block
from ism_jobs.tables.kinds import NUMBER

MISSING_BITS = np.uint64(0x7FF8000000000000)  # the same NaN for every missing value
MISSING_LENGTH = -1  # in place of the length of a missing text


class Digest:
    """The SHA-256 of a table: of all columns' own hashes, with their names and kinds."""

    def __init__(self, schema: Any) -> None:
        self._schema = schema
        self._numbers = [p for p, field in enumerate(schema) if field.type == NUMBER]
        self._texts = [p for p, field in enumerate(schema) if field.type != NUMBER]
        self._values = [hashlib.sha256() for _ in schema]
        self._lengths = {position: hashlib.sha256() for position in self._texts}
        self._rows = 0

    def add(self, block: Block) -> None:
        """Add more rows."""
        self._rows += block.rows
        with np.errstate(invalid="ignore"):  # signaling NaNs
            plain = block.numbers + 0.0  # -0.0 becomes 0.0
        bits = plain.view(np.uint64)
        bits[np.isnan(plain)] = MISSING_BITS
        bits = bits.astype("<u8", copy=False)
        for position, row in zip(self._numbers, bits, strict=True):
            self._values[position].update(row)
        for position, column in zip(self._texts, block.texts, strict=True):
            lengths = pc.fill_null(pc.binary_length(column), MISSING_LENGTH)
            self._lengths[position].update(lengths.to_numpy().astype("<i4", copy=False))
            self._values[position].update(text_bytes(column))

    def hexdigest(self) -> str:
        """Return the hash of all rows added so far."""
        whole = hashlib.sha256(f"ism table 1\n{self._rows}\n{len(self._schema)}\n".encode())
        for position, field in enumerate(self._schema):
            name = field.name.encode()
            kind = "text" if position in self._lengths else "number"
            whole.update(f"{kind}\n{len(name)}\n".encode() + name)
            if position in self._lengths:
                whole.update(self._lengths[position].digest())
            whole.update(self._values[position].digest())
        return whole.hexdigest()


def text_bytes(column: Any) -> memoryview:
    """Return the concatenated values of a string column, without a copy if none is missing."""
    if column.null_count:
        column = pc.drop_null(column)
    _, offsets, values = column.buffers()
    if len(column) == 0 or values is None:
        return memoryview(b"")
    ends = np.frombuffer(offsets, np.int32)[column.offset : column.offset + len(column) + 1]
    return memoryview(values)[int(ends[0]) : int(ends[-1])]
