"""CSV and TSV files: the first pass finds the kind of each column, the second converts its values."""

import re
from collections.abc import Iterator
from typing import IO, Any

import numpy as np
import pyarrow as pa
import pyarrow.csv as arrow_csv

from ism_jobs.errors import InvalidTable
from ism_jobs.sentences import listed
from ism_jobs.tables.block import Block
from ism_jobs.tables.charset import as_utf8
from ism_jobs.tables.csv.column_kinds import ColumnKinds
from ism_jobs.tables.csv.sniff import SEPARATORS, Dialect, sniff
from ism_jobs.tables.kinds import NUMBER, TEXT, booleans, numbers, texts
from ism_jobs.tables.limits import Limits
from ism_jobs.tables.names import numbered, unique_names
from ism_jobs.tables.source import Mapped, head, size_of, spooled

SAMPLE_BYTES = 1 << 20  # from which the dialect is detected
BLOCK_BYTES = 1 << 22  # that Arrow parses at a time
COLUMN_BYTES = 1 << 11  # least bytes of a block per column, since each column has overhead per block
LONGEST_ROW = 1 << 24  # bytes
LONGEST_REASON = 200  # characters of Arrow's message that ours quotes
FIRST_LINE = re.compile(r"[\r\n]*[^\r\n]*")
CELLS_PER_COLUMN = 8  # most separators in the first line per allowed column; quoted names may contain separators


class CsvFile:
    """A table in a CSV or TSV file."""

    def __init__(self, file: IO[bytes], limits: Limits, header: bool | None, is_tsv: bool) -> None:
        self.limits = limits
        self.file, start, self.notes = as_utf8(file, limits)
        try:
            self.dialect, self._start = self._sniffed(start, header, "\t" if is_tsv else None)
            self._aligned = self.dialect.aligned
            if self.dialect.note is not None:
                self.notes.append(self.dialect.note)
            if self._aligned:
                self.file, spaced = spooled(_iter_tabbed(self.file, start), limits), self.file
                spaced.close()
                self.dialect, self._start = self._sniffed(0, header, "\t")
            self._given = self.dialect.first_row
            limits.check_shape(0, len(self._given))
            self.columns = self._kinds()
            self._name()
        except BaseException:
            self.file.close()
            raise

    def _sniffed(self, start: int, header: bool | None, prefer: str | None) -> tuple[Dialect, int]:
        """Return the dialect, and the offset of the first row of data."""
        size = size_of(self.file) - start
        for length, self._block in ((SAMPLE_BYTES, BLOCK_BYTES), (LONGEST_ROW, LONGEST_ROW)):
            sample = head(self.file, start + length)[start:]
            if len(sample) == size or b"\n" in sample or b"\r" in sample:
                break
        else:
            raise InvalidTable(f"The first row is longer than {LONGEST_ROW:,} bytes: the file has no line breaks.")
        text = sample.decode(errors="ignore")
        cells = 1 + max(map(FIRST_LINE.match(text).group().count, SEPARATORS))  # type: ignore[union-attr]
        if cells > CELLS_PER_COLUMN * self.limits.columns:  # too many to split them first
            self.limits.check_shape(0, cells)
        dialect = sniff(text, len(sample) == size, header, prefer)
        self._block = max(self._block, min(LONGEST_ROW, COLUMN_BYTES * len(dialect.first_row)))
        return dialect, start + len(text[: dialect.data_start].encode())

    def _kinds(self) -> list[str]:
        """Return the kind of each column, by every value."""
        width = len(self._given)
        kinds = ColumnKinds(width, self.dialect.decimal)
        self._is_index = self.dialect.has_header and self._given[0].strip() in ("", "Unnamed: 0") and width > 1
        rows = 0
        for batch in self._iter_strings():
            if self._is_index:
                counted = numbers(batch.column(0))
                expected = np.arange(rows, rows + len(batch))
                self._is_index = counted is not None and np.array_equal(counted.to_numpy(False), expected)
            rows += len(batch)
            self.limits.check_shape(rows, width)
            kinds.add(batch.columns)
        if rows == 0:
            raise self._no_rows()
        self._points = kinds.points()
        return kinds.result()

    def _name(self) -> None:
        given = self._given
        self._kept = list(range(len(given)))
        if self._is_index:
            self._kept = self._kept[1:]
            self.notes.append("The first column has no name and counts the rows from 0. It is left out as an index.")
        if self.dialect.has_header:
            names, notes = unique_names(given, self.limits)
            if self._is_index:
                names, notes = unique_names(given[1:], self.limits)
            self.notes += notes
        else:
            names = numbered(len(given))
            last = f" to x{len(names)}" if len(names) > 1 else ""
            self.notes.append(f"The first row was read as data: the columns are called x1{last}.")
        if points := [name for name, position in zip(names, self._kept, strict=True) if position in self._points]:
            self.notes.append(f'"." was read as a missing value in {listed(points, quoted=True)}.')
        types = [TEXT if self.columns[position] == "text" else NUMBER for position in self._kept]
        self.schema = pa.schema(list(zip(names, types, strict=True)))

    @property
    def format(self) -> str:
        """The format by the separator, whatever the name of the file says."""
        return "tsv" if self.dialect.separator == "\t" and not self._aligned else "csv"

    def blocks(self) -> Iterator[Block]:
        """Yield the table in canonical form, block by block."""
        numeric = [position for position in self._kept if self.columns[position] != "text"]
        plain = [position for position in numeric if self.columns[position] == "number"]
        for batch in self._iter_strings():
            columns = batch.columns
            values = np.empty((len(numeric), len(batch)))
            if plain:
                flat = numbers(pa.concat_arrays([columns[position] for position in plain]), self.dialect.decimal)
                values[[self.columns[position] == "number" for position in numeric]] = _array(flat).reshape(
                    len(plain), -1
                )
            for row, position in enumerate(numeric):
                if self.columns[position] == "boolean":
                    values[row] = _array(booleans(columns[position]))
            words = [texts(columns[position]) for position in self._kept if self.columns[position] == "text"]
            yield Block(len(batch), values, words)

    def _iter_strings(self) -> Iterator[Any]:
        """Yield batches with every cell as text."""
        names = [str(position) for position in range(len(self._given))]
        ragged: list[Any] = []
        mapped = Mapped(self.file, self._start)

        def refuse(row: Any) -> str:
            ragged.append(row)
            return "error"

        try:
            batches = arrow_csv.open_csv(
                mapped.reader(),
                read_options=arrow_csv.ReadOptions(use_threads=False, block_size=self._block, column_names=names),
                parse_options=arrow_csv.ParseOptions(
                    delimiter=self.dialect.separator, newlines_in_values=True, invalid_row_handler=refuse
                ),
                convert_options=arrow_csv.ConvertOptions(
                    column_types=dict.fromkeys(names, TEXT), strings_can_be_null=False, check_utf8=False
                ),
            )
            for batch in batches:
                mapped.release_pages()
                yield batch
        except pa.ArrowInvalid as error:
            raise self._problem(error, ragged) from error

    def _problem(self, error: Exception, ragged: list[Any]) -> InvalidTable:
        if ragged:
            row = ragged[0]
            where = "A row" if row.number is None else f"Row {row.number:,} of the data"
            first = "the header" if self.dialect.has_header else "the first row"
            return InvalidTable(
                f"{where} has {row.actual_columns:,} value(s) but {first} has {row.expected_columns:,}. Give every row "
                "the same number of values, and quote values that contain the separator, a quote or a line break."
            )
        if "straddling" in str(error):
            return InvalidTable(
                f"A row is longer than {self._block:,} bytes. If rows are that long by mistake, look for a quote that "
                "is never closed."
            )
        if "Empty CSV" in str(error):
            return self._no_rows()
        return InvalidTable(f"The file cannot be read as CSV: {str(error)[:LONGEST_REASON]}.")

    def _no_rows(self) -> InvalidTable:
        if any("\n" in name or "\r" in name for name in self._given):
            return InvalidTable("The whole file is one row: look for a quote that is never closed in its first line.")
        return InvalidTable("The file has a header but no rows below it. Send at least one row of values.")


def _array(converted: Any) -> Any:
    if converted is None:
        raise InvalidTable("The file changed while it was read. Send it again.")
    return converted.to_numpy(zero_copy_only=False)


def _iter_tabbed(file: IO[bytes], start: int) -> Iterator[bytes]:
    """Yield the lines of a file whose columns are separated by spaces, with one tab between the columns."""
    file.seek(start)
    rest = b""
    while piece := file.read(SAMPLE_BYTES):
        *lines, rest = (rest + piece).replace(b"\r\n", b"\n").replace(b"\r", b"\n").split(b"\n")
        yield b"".join(b"\t".join(line.split()) + b"\n" for line in lines)
        if len(rest) > LONGEST_ROW:
            raise InvalidTable(f"A row is longer than {LONGEST_ROW:,} bytes. Give every row a line of its own.")
    yield b"\t".join(rest.split())
