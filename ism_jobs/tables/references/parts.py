"""A table by reference, part by part: record batches with numbers as they are and text as strings."""

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv as pa_csv
import pyarrow.parquet as pq

from ism_jobs.errors import InvalidTable
from ism_jobs.tables.arrow import dated
from ism_jobs.tables.kinds import MISSING_NUMBER, NUMBER, TEXT, as_numbers, as_texts, texts
from ism_jobs.tables.references.errors import Unreachable, read_errors
from ism_jobs.tables.references.places import Place, Roots
from ism_jobs.tables.references.reference import Dialect, File, Part, Reference
from ism_jobs.tables.references.stores import open_file

BATCH_ROWS = 2**16  # rows of a batch at most
CSV_BYTES = 1 << 22  # of a CSV file that Arrow parses at a time
ATTEMPTS = 6  # at reading on after an error of the store, besides those of each request
FIRST_PAUSE = 0.2  # seconds before the second attempt; each pause is twice the one before
MOST_FOOTER_BYTES = 1 << 28  # of names and counts in the footer of a Parquet file
KEPT_FOOTERS = 64  # of Parquet files that a process keeps, since every pass over the rows needs them


@dataclass(frozen=True)
class TableParts:
    """The rows of a reference. It can be pickled: another process opens the files with its own credentials."""

    reference: Reference
    roots: Roots = field(repr=False)

    def __len__(self) -> int:
        return len(self.reference.parts)

    def batches(self, index: int, columns: Sequence[str], most: int = BATCH_ROWS) -> Iterator[Any]:
        """Yield the rows of a part as record batches with these columns; always the same batches.

        Columns of numbers have a type of numbers, columns of text are strings with null for missing values. If the
        store fails, reading goes on after the rows that were yielded.
        """
        part = self.reference.parts[index]
        file = self.reference.files[part.file]
        done = failed = 0
        while True:
            try:
                for number, batch in enumerate(self._read(part, file, columns, most)):
                    if number >= done:
                        yield batch
                        done, failed = number + 1, 0
            except Unreachable:
                failed += 1
                if failed >= ATTEMPTS:
                    raise
                time.sleep(FIRST_PAUSE * 2 ** (failed - 1))
            else:
                return

    def numbers(self, batch: Any, name: str) -> Any:
        """Return a column of numbers as an array, with NaN for missing values."""
        return as_numbers(batch.column(name))

    def table(self, batches: Sequence[Any], columns: Sequence[str]) -> Any:
        """Return batches as a table in canonical form: float64 and strings, null for missing values."""
        kinds = {column.name: column.kind for column in self.reference.columns}
        types = [NUMBER if kinds[name] == "number" else TEXT for name in columns]
        schema = pa.schema(list(zip(columns, types, strict=True)))
        return pa.Table.from_batches([self._canonical(batch, schema) for batch in batches], schema=schema)

    def _canonical(self, batch: Any, schema: Any) -> Any:
        columns = []
        for name, kind in zip(schema.names, schema.types, strict=True):
            column = batch.column(name)
            if kind == NUMBER:
                column = pa.array(np.asarray(as_numbers(column), dtype=np.float64), NUMBER, from_pandas=True)
            columns.append(column)
        return pa.RecordBatch.from_arrays(columns, schema=schema)

    def _read(self, part: Part, file: File, columns: Sequence[str], most: int) -> Iterator[Any]:
        place = Place.parse(self.reference.uri).at(file.path)
        with read_errors(place.uri):
            if self.reference.format == "csv":
                yield from self._csv(place, columns)
                return
            with open_file(place, self.roots) as opened:
                is_remote = place.scheme != "file"  # then the columns of a row group come in few, larger requests
                about = footer(place, file, self.roots)
                source = pq.ParquetFile(opened, metadata=about, pre_buffer=is_remote, **READING)
                batches = source.iter_batches(most, row_groups=list(part.groups), columns=columns, use_threads=False)
                for batch in batches:
                    yield self._with_texts(batch)

    def _with_texts(self, batch: Any) -> Any:
        """Return a batch of a Parquet file with its texts as strings."""
        known = {column.name: column for column in self.reference.columns}
        columns = []
        for name, column in zip(batch.schema.names, batch.columns, strict=True):
            kept = known[name]
            if kept.kind == "text":
                column = as_texts(column if kept.unit is None else dated(column, kept.unit), name)
            columns.append(column)
        return pa.RecordBatch.from_arrays(columns, names=batch.schema.names)

    def _csv(self, place: Place, columns: Sequence[str]) -> Iterator[Any]:
        assert self.reference.dialect is not None
        kinds = {column.name: column.kind for column in self.reference.columns}
        types = {name: NUMBER if kind == "number" else TEXT for name, kind in kinds.items()}
        with open_file(place, self.roots) as opened:
            names = [column.name for column in self.reference.columns]
            for batch in csv_batches(opened, self.reference.dialect, names, types, columns, place.uri):
                arrays = [
                    texts(batch.column(name)) if kinds[name] == "text" else batch.column(name) for name in columns
                ]
                yield pa.RecordBatch.from_arrays(arrays, names=list(columns))


READING = {"thrift_string_size_limit": MOST_FOOTER_BYTES, "thrift_container_size_limit": MOST_FOOTER_BYTES}


@lru_cache(KEPT_FOOTERS)
def footer(place: Place, file: File, roots: Roots) -> Any:
    """Return the footer of a Parquet file; raise InvalidTable if it is not that of the described file."""
    with open_file(place, roots) as opened:
        found = pq.ParquetFile(opened, **READING).metadata
    groups = tuple(found.row_group(group).num_rows for group in range(found.num_row_groups))
    if file.groups and groups != file.groups:
        raise InvalidTable(f"{place.uri} has changed since it was described. Register it again with POST /datasets.")
    return found


def csv_batches(
    opened: Any, dialect: Dialect, names: Sequence[str], types: dict[str, Any], columns: Sequence[str], uri: str
) -> Iterator[Any]:
    """Yield the rows of a CSV file with these names and types of columns."""
    reading = pa_csv.ReadOptions(
        use_threads=False, block_size=CSV_BYTES, column_names=list(names), skip_rows=int(dialect.has_header)
    )
    parsing = pa_csv.ParseOptions(delimiter=dialect.separator, newlines_in_values=True)
    converting = pa_csv.ConvertOptions(
        column_types=types,
        include_columns=list(columns),
        null_values=MISSING_NUMBER.to_pylist(),
        strings_can_be_null=False,
        decimal_point=dialect.decimal,
    )
    try:
        yield from pa_csv.open_csv(opened, reading, parsing, converting)
    except pa.ArrowInvalid as error:
        reason = str(error).partition("\n")[0].removeprefix("In ").rstrip(". ")
        raise InvalidTable(f"{uri} has rows that differ from the first ones: {reason}. Correct the file.") from error
