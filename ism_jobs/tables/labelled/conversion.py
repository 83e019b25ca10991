"""Convert a Stata or SPSS file to an Arrow stream, some rows at a time, with pyreadstat."""

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO, Any

import pyarrow as pa
import pyreadstat

from ism_jobs.errors import InvalidTable, TooLarge
from ism_jobs.sentences import listed
from ism_jobs.tables.labelled.declared import MOST_METADATA_BYTES, MetadataReads, check_columns
from ism_jobs.tables.labelled.values import arrow_column, date_kind
from ism_jobs.tables.limits import Limits

TITLES = {"stata": "Stata", "spss": "SPSS"}
CHUNK_BYTES = 1 << 26  # approximate memory of the rows that are read at a time
CELL_BYTES = 64  # approximate memory of a value as a Python object, beside its text
BYTES_PER_CHARACTER = 4  # most bytes of memory for each byte of text
LONGEST_REASON = 200  # characters of the library's message that ours quotes

# What pyreadstat raises for damaged files.
DAMAGED = (
    pyreadstat.ReadstatError,
    pyreadstat.PyreadstatError,
    UnicodeError,
    ValueError,
    OverflowError,
    TypeError,
    LookupError,
    OSError,
)


class Conversion:
    """The conversion of one Stata or SPSS file."""

    def __init__(self, source: IO[bytes], limits: Limits, format: str) -> None:
        self.format = format
        self.notes: list[str] = []
        self._title = TITLES[format]
        self._limits = limits
        self._source = source
        check_columns(source, format, limits)
        with self._readable():
            self._open()
        self._labels = self._labels_in_use()

    def write(self, file: IO[bytes]) -> None:
        """Write the table as an Arrow stream."""
        writer = None
        for columns in self._iter_chunks(self._names):
            batch = self._batch(columns)
            writer = writer or pa.ipc.new_stream(pa.PythonFile(file, "w"), batch.schema)
            writer.write_batch(batch)
            self._limits.check_bytes(file.tell(), "The table")
        if writer is None:
            raise InvalidTable(f"The {self._title} file has no rows. Send at least one row of values.")
        writer.close()
        file.flush()

    def _open(self) -> None:
        """Read the names, types and widths of the columns, and check them."""
        self._meta = self._read_metadata()
        names, widths = self._meta.column_names, self._meta.variable_storage_width
        self._limits.check_shape(self._meta.number_rows or 0, len(names))
        if not names or self._meta.number_rows == 0 or len(set(names)) < len(names):
            raise InvalidTable(
                f"The {self._title} file has {self._meta.number_rows} rows and {len(set(names))} columns with "
                "different names. Send at least one of each."
            )
        self._is_text = {name: self._meta.readstat_variable_types[name] == "string" for name in names}
        # The width of long text (strL) is not known, and many rows may share it.
        long_texts = [name for name in names if self._is_text[name] and widths[name] == 0]
        if long_texts:
            self.notes.append(f"Columns of long text (strL) are left out: {listed(long_texts, quoted=True)}.")
        self._names = [name for name in names if name not in long_texts]
        if not self._names:
            raise InvalidTable("The Stata file has only columns of long text (strL). Send at least one of numbers.")
        for name in self._names:
            if self._is_text[name]:
                self._limits.check_text(widths[name], name)
        self._dates = {name: date_kind(self._meta.original_variable_types[name] or "") for name in self._names}

    def _read_metadata(self) -> Any:
        reads = MetadataReads(self._source)
        try:
            return self._read(reads, metadataonly=True)[1]
        except DAMAGED as error:
            if not reads.is_exhausted:
                raise
            raise TooLarge(
                f"The {self._title} file has more than {MOST_METADATA_BYTES:,} bytes of names and labels. "
                "Save the table as CSV."
            ) from error

    def _labels_in_use(self) -> dict[str, dict[Any, str]]:
        """Return the value labels of each column in which every value has one."""
        labels = {
            name: found
            for name, found in self._meta.variable_value_labels.items()
            if name in self._dates and self._dates[name] is None
        }
        has_value, unlabelled = set(), set()
        for columns in self._iter_chunks(list(labels)) if labels else ():
            for name, values in columns.items():
                if name not in unlabelled:
                    different = set(values) - {None, ""}
                    has_value |= {name} if different else set()
                    unlabelled |= {name} if different - labels[name].keys() else set()
        if unlabelled:
            names = listed([name for name in labels if name in unlabelled], quoted=True)
            self.notes.append(f"Values are kept, since not all of them have a label, in: {names}.")
        return {name: found for name, found in labels.items() if name in has_value - unlabelled}

    def _batch(self, columns: dict[str, Any]) -> Any:
        with self._readable():
            arrays = [
                arrow_column(columns[name], self._dates[name], self._labels.get(name), self._is_text[name])
                for name in self._names
            ]
        return pa.RecordBatch.from_arrays(arrays, names=self._names)

    def _iter_chunks(self, names: list[str]) -> Iterator[dict[str, list[Any]]]:
        """Yield these columns, some rows at a time, as lists with None for missing values."""
        widths = self._meta.variable_storage_width
        row_bytes = sum(CELL_BYTES + BYTES_PER_CHARACTER * self._is_text[name] * widths[name] for name in names)
        rows = max(1, CHUNK_BYTES // row_bytes)
        start = 0
        while self._meta.number_rows is None or start < self._meta.number_rows:
            with self._readable():
                self._source.seek(0)
                columns, _ = self._read(self._source, usecols=names, row_offset=start, row_limit=rows)
                count = len(columns[names[0]])
            if count == 0:
                return
            start += count
            self._limits.check_shape(start, len(self._names))
            yield columns

    def _read(self, source: Any, **options: Any) -> Any:
        read = pyreadstat.read_dta if self.format == "stata" else pyreadstat.read_sav
        with warnings.catch_warnings():  # such as those about equal names, which are numbered
            warnings.simplefilter("ignore")
            return read(source, output_format="dict", disable_datetime_conversion=True, **options)

    @contextmanager
    def _readable(self) -> Iterator[None]:
        """Turn errors about a damaged file into InvalidTable."""
        try:
            yield
        except DAMAGED as error:
            reason = str(error).partition("\n")[0][:LONGEST_REASON].rstrip(".")
            raise InvalidTable(
                f"The {self._title} file cannot be read: {reason}. Save it again, or save the table as CSV."
            ) from error
