"""Read a table from a file of any format, in canonical batches; then its description and digest are known."""

import os
import sys
import weakref
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path
from typing import IO, Any, Protocol

import pyarrow as pa

from ism_jobs.errors import InvalidTable, UnsupportedFormat
from ism_jobs.tables.archives import archive_format, unpacked_table
from ism_jobs.tables.arrow import FrameTable, IpcFile, ParquetFile
from ism_jobs.tables.block import Block
from ism_jobs.tables.csv import CsvFile
from ism_jobs.tables.description import Description
from ism_jobs.tables.detect import format_of
from ism_jobs.tables.digest import Digest
from ism_jobs.tables.json import JsonFile
from ism_jobs.tables.labelled import LabelledFile
from ism_jobs.tables.limits import Limits
from ism_jobs.tables.numpy import NpyFile, NpzFile
from ism_jobs.tables.source import head, open_source
from ism_jobs.tables.summary import Summary
from ism_jobs.tables.workbook import XlsxFile
from ism_jobs.tables.written import WrittenNumbers

UNLIMITED = Limits(*[sys.maxsize] * 6)  # for frames, which are in memory already
HEAD_BYTES = 1 << 15  # of a file, by which its format is detected; ARFF may have long comments before them


class TableFile(Protocol):
    """An open file of one format."""

    @property
    def format(self) -> str:
        """The file's format."""
        ...

    schema: Any
    notes: list[str]
    file: IO[bytes]

    def blocks(self) -> Iterator[Block]:
        """Yield the table in canonical form, in blocks that fit in memory. Each call starts with the first row."""
        ...


class Reader:
    """A table that is being read. Iterate over it once; then its description and digest are available.

    Columns in `text` stay text even if their values are numbers with a unit.
    """

    def __init__(self, table: TableFile, limits: Limits, text: Collection[str] = ()) -> None:
        self._written = WrittenNumbers(table.schema, table.blocks(), text)
        self.schema = self._written.schema
        self.format = table.format
        self.notes = [*table.notes, *self._written.notes]
        self._table = table
        self._summary = Summary(self.schema, limits)
        self._digest = Digest(self.schema)
        self._state = "new"
        self._closing = weakref.finalize(self, table.file.close)

    def __iter__(self) -> Iterator[Any]:
        if self._state != "new":
            raise RuntimeError("A table can be read once only; open it again.")
        self._state = "begun"
        try:
            for large in self._table.blocks():
                for block in self._written.convert(large).iter_slices():
                    self._summary.add(block)
                    self._digest.add(block)
                    yield block.batch(self.schema)
        finally:
            self._closing()
        if self._summary.rows == 0:
            raise InvalidTable("The table has no rows. Send at least one row of values.")
        self._state = "done"

    def description(self) -> Description:
        """Return the description of the table."""
        self._check_done()
        return self._summary.description(self.format, self.notes)

    def digest(self) -> str:
        """Return the SHA-256 of names, kinds and values. It does not depend on the file's format or compression."""
        self._check_done()
        return self._digest.hexdigest()

    def close(self) -> None:
        """Close the file without reading to the end."""
        self._closing()

    def _check_done(self) -> None:
        if self._state != "done":
            raise RuntimeError("The table has not been read to its end.")


def open_table(
    path: str | os.PathLike[str],
    *,
    filename: str | None = None,
    content_type: str | None = None,
    header: bool | None = None,
    limits: Limits | None = None,
    text: Collection[str] = (),
) -> Reader:
    """Open a table of any supported format; `header` says whether CSV or XLSX has one (None: detect it).

    Columns in `text` stay text even if their values are numbers with a unit.
    """
    limits = limits or Limits()
    file, compressed = open_source(Path(path), limits)
    notes = ["Decompressed from gzip."] if compressed else []
    try:
        format = _format(file, filename or Path(path).name, content_type)
        if format == "zip":
            archive, (file, member, note) = file, unpacked_table(file, limits)
            archive.close()
            notes.append(note)
            format = _format(file, member, None)
        table = _opened(file, format, header, limits)
    except BaseException:
        file.close()
        raise
    if table.file is not file:
        file.close()
    table.notes[:0] = notes
    try:
        return Reader(table, limits, text)
    except BaseException:
        table.file.close()
        raise


def read_table(
    path: str | os.PathLike[str], *, filename: str | None = None, header: bool | None = None
) -> tuple[Any, Description]:
    """Return the whole table in memory, and its description."""
    return _read(open_table(path, filename=filename, header=header))


def read_frame(frame: Any, names: Sequence[str] = (), *, text: Collection[str] = ()) -> tuple[Any, Description]:
    """Return a frame of pandas, polars or pyarrow in canonical form, and its description.

    `names` are those of the columns of an array. Columns in `text` stay text even if their values are numbers.
    """
    return _read(Reader(FrameTable(frame, names, UNLIMITED), UNLIMITED, text))


def _read(reader: Reader) -> tuple[Any, Description]:
    table = pa.Table.from_batches(list(reader), schema=reader.schema)
    return table, reader.description()


def _format(file: IO[bytes], name: str, content_type: str | None) -> str:
    """Return the format of a file; "zip" is an archive that is neither NPZ nor XLSX."""
    format = format_of(head(file, HEAD_BYTES), name, content_type)
    return archive_format(file) if format == "zip" else format


def _opened(file: IO[bytes], format: str, header: bool | None, limits: Limits) -> TableFile:
    match format:
        case "parquet":
            return ParquetFile(file, limits)
        case "arrow":
            return IpcFile(file, limits)
        case "stata" | "spss":
            return LabelledFile(file, limits, format)
        case "xlsx":
            return XlsxFile(file, limits, header)
        case "npy":
            return NpyFile(file, limits)
        case "npz":
            return NpzFile(file, limits)
        case "zip":
            raise UnsupportedFormat("The ZIP archive holds another ZIP archive. Send the table itself.")
        case "json":
            return JsonFile(file, limits)
    return CsvFile(file, limits, header, is_tsv=format == "tsv")
