"""Feather and Arrow IPC files: the sizes that their messages declare are checked before a batch is decompressed."""

import struct
from collections.abc import Iterator
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ism_jobs.errors import InvalidTable
from ism_jobs.tables.arrow.batches import ArrowTable
from ism_jobs.tables.source import Mapped, head

FILE_SIGNATURE = b"ARROW1"
STREAM_START = 8  # bytes before the stream that an Arrow file contains
BUFFER = struct.Struct("<qq")  # offset and length of a buffer in the body of a message
LENGTH = struct.Struct("<q")  # of a compressed buffer after decompression; it stands before the buffer
STORED = -1  # in place of that length, if the buffer is not compressed after all

# Positions of fields in the flatbuffers of the format (Message.fbs).
MESSAGE_HEADER = 2
DICTIONARY_DATA = 1
BATCH_ROWS, BATCH_BUFFERS, BATCH_COMPRESSION = 0, 2, 3


class IpcFile(ArrowTable):
    """A table in an Arrow file (Feather version 2) or in an Arrow stream."""

    format = "arrow"
    title = "Arrow"

    def _open(self) -> tuple[Any, int]:
        self._mapped = Mapped(self.file, STREAM_START if head(self.file, 6) == FILE_SIGNATURE else 0)
        schema = pa.ipc.open_stream(self._mapped.reader()).schema
        self.limits.check_shape(0, len(schema))
        return schema, self._declared_rows(len(schema))

    def _declared_rows(self, columns: int) -> int:
        """Return the number of rows; raise TooLarge if the messages declare too many rows or bytes."""
        rows = size = 0
        messages = pa.ipc.MessageReader.open_stream(self._mapped.reader())
        for message in _iter_messages(messages):
            if message.type not in ("record batch", "dictionary"):
                continue
            try:
                batch = _Table.root(message.metadata).table(MESSAGE_HEADER)
                if message.type == "dictionary":
                    batch = batch.table(DICTIONARY_DATA)
                else:
                    rows += batch.int64(BATCH_ROWS)
                size += _decompressed_bytes(batch, message.body)
            except (struct.error, IndexError, TypeError) as error:
                raise InvalidTable(
                    "The Arrow file cannot be read: a message in it is damaged. Write it again."
                ) from error
            self.limits.check_shape(rows, columns)
            self.limits.check_bytes(size, "The table")
        if rows < 0:
            raise InvalidTable(f"The Arrow file declares {rows:,} rows. Write it again.")
        return rows

    def _iter_batches(self) -> Iterator[Any]:
        options = pa.ipc.IpcReadOptions(use_threads=False)
        for batch in pa.ipc.open_stream(self._mapped.reader(), options=options):
            batch.validate(full=True)
            yield batch

    def _texts(self, part: Any, position: int, name: str) -> Any:
        texts = super()._texts(part, position, name)
        return pc.take(texts, pa.array(np.arange(len(texts))))  # a copy, since the file is mapped


def _iter_messages(reader: Any) -> Iterator[Any]:
    try:
        yield from reader
    except EOFError:
        return


def _decompressed_bytes(batch: "_Table", body: Any) -> int:
    content = memoryview(body) if body is not None else memoryview(b"")
    if not batch.has(BATCH_COMPRESSION):
        return len(content)
    size = 0
    for offset, length in batch.structs(BATCH_BUFFERS, BUFFER):
        if length > 0:
            (declared,) = LENGTH.unpack_from(content, offset)
            if declared < STORED:
                raise InvalidTable(f"The Arrow file declares a buffer of {declared:,} bytes. Write it again.")
            size += length if declared == STORED else declared
    return size


class _Table:
    """A table of a flatbuffer; offsets outside the buffer raise struct.error."""

    def __init__(self, buffer: memoryview, position: int) -> None:
        self._buffer = buffer
        self._position = position
        self._fields = position - self._number("<i", position)

    @classmethod
    def root(cls, metadata: Any) -> "_Table":
        """Return the table at the start of a flatbuffer."""
        buffer = memoryview(metadata)
        return cls(buffer, struct.unpack_from("<I", buffer, 0)[0])

    def has(self, field: int) -> bool:
        """Return whether the table has a value in this field."""
        return self._offset(field) != 0

    def int64(self, field: int) -> int:
        """Return the number in a field, which is 0 if it is absent."""
        return self._number("<q", self._position + self._offset(field)) if self.has(field) else 0

    def table(self, field: int) -> "_Table":
        """Return the table in a field."""
        return _Table(self._buffer, self._target(field))

    def structs(self, field: int, layout: struct.Struct) -> Iterator[tuple[Any, ...]]:
        """Yield the structs of the vector in a field."""
        if self.has(field):
            start = self._target(field)
            count = self._number("<I", start)
            for place in range(count):
                yield layout.unpack_from(self._buffer, start + 4 + place * layout.size)

    def _offset(self, field: int) -> int:
        place = 4 + 2 * field
        return self._number("<H", self._fields + place) if place < self._number("<H", self._fields) else 0

    def _target(self, field: int) -> int:
        start = self._position + self._offset(field)
        return start + self._number("<I", start)

    def _number(self, layout: str, position: int) -> int:
        if position < 0:
            raise IndexError(position)
        found: int = struct.unpack_from(layout, self._buffer, position)[0]
        return found
