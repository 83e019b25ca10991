"""NPY and NPZ files: arrays are mapped into memory and read block by block."""

import sys
import zipfile
from collections.abc import Iterator
from typing import IO, Any

import numpy as np
import pyarrow as pa

from ism_jobs.errors import FieldError, InvalidTable, TooLarge
from ism_jobs.tables.archives import files_of, iter_pieces, opened_archive
from ism_jobs.tables.block import BLOCK_BYTES, Block, retyped, without_empty_texts
from ism_jobs.tables.kinds import NUMBER, TEXT, texts
from ism_jobs.tables.limits import Limits
from ism_jobs.tables.names import numbered, unique_names
from ism_jobs.tables.numpy.npy import LONGEST_HEADER, layout_of
from ism_jobs.tables.source import Mapped, head, size_of, spooled

PREFIX_BYTES = LONGEST_HEADER + 16  # of a file, which contain the header
ALIGNMENT = 64  # bytes, of each array in the unpacked file

LONGEST_ROW = 1 << 25  # bytes of text in one row
WHAT = "The NPZ file"

Span = tuple[int, int]  # start and end of an array in the unpacked file


class Arrays:
    """Arrays with the same number of rows, side by side."""

    def __init__(self, file: IO[bytes], arrays: list[Any], names: list[str], notes: list[str], limits: Limits) -> None:
        self.file = file
        self._arrays = arrays
        self.rows = len(arrays[0])
        limits.check_shape(self.rows, len(names))
        first = 0
        for array in arrays:
            if array.dtype.kind in "SU":
                limits.check_text(array.dtype.itemsize // (4 if array.dtype.kind == "U" else 1), names[first])
            first += array.shape[1]
        text = sum(array.shape[1] * array.dtype.itemsize for array in arrays if array.dtype.kind in "SU")
        if text > LONGEST_ROW:
            raise TooLarge(
                f"Each row has {text:,} bytes of text; at most {LONGEST_ROW:,} are read. Save the text with a shorter "
                "type, such as U20, or send the table as Parquet."
            )
        names, renamed = unique_names(names, limits)
        self.notes = notes + renamed
        types = [TEXT if array.dtype.kind in "SU" else NUMBER for array in arrays for _ in range(array.shape[1])]
        self._typed = pa.schema(list(zip(names, types, strict=True)))
        self.schema = without_empty_texts(self._typed, self._typed_blocks())

    def blocks(self) -> Iterator[Block]:
        """Yield the table in canonical form, block by block."""
        for block in self._typed_blocks():
            yield retyped(block, self._typed, self.schema)

    def _typed_blocks(self) -> Iterator[Block]:
        names = self._typed.names
        row_bytes = sum(array.shape[1] * max(8, array.dtype.itemsize) for array in self._arrays)
        step = max(1, BLOCK_BYTES // row_bytes)
        for start in range(0, self.rows, step):
            rows = min(step, self.rows - start)
            numbers, words, position = [np.empty((0, rows))], [], 0
            for array in self._arrays:
                part = array[start : start + rows]
                if array.dtype.kind in "SU":
                    words += _texts(part, names[position])
                else:
                    with np.errstate(invalid="ignore"):  # signaling NaNs
                        numbers.append(
                            np.array(part.T, dtype=np.float64, order="C")
                        )  # a copy, since the file is mapped
                position += array.shape[1]
            yield Block(rows, numbers[1] if len(numbers) == 2 else np.concatenate(numbers), words)


class NpyFile(Arrays):
    """One array: a table, or a single column."""

    format = "npy"

    def __init__(self, file: IO[bytes], limits: Limits) -> None:
        layout = layout_of(head(file, PREFIX_BYTES), size_of(file), "The file")
        limits.check_shape(layout.rows, layout.columns)
        super().__init__(file, [layout.array(Mapped(file).memory, 0)], numbered(layout.columns), [], limits)


class NpzFile(Arrays):
    """Several named arrays: a one-dimensional one is a column, a two-dimensional one is several."""

    format = "npz"

    def __init__(self, file: IO[bytes], limits: Limits) -> None:
        with opened_archive(file, WHAT) as archive:
            names, spans, unpacked = _unpacked(archive, limits)
        try:
            self._open(unpacked, names, spans, limits)
        except BaseException:
            unpacked.close()
            raise

    def _open(self, unpacked: IO[bytes], names: list[str], spans: list[Span], limits: Limits) -> None:
        mapped = Mapped(unpacked).memory
        layouts = [
            layout_of(mapped[start : min(start + PREFIX_BYTES, end)], end - start, f'The array "{name}"')
            for name, (start, end) in zip(names, spans, strict=True)
        ]
        rows = layouts[0].rows
        columns: list[str] = []
        for name, layout in zip(names, layouts, strict=True):
            if layout.rows != rows:
                raise InvalidTable(
                    f'The array "{name}" has {layout.rows:,} row(s) but "{names[0]}" has {rows:,}. '
                    "All arrays of an NPZ file need the same number of rows.",
                    [FieldError(name, f"It has {layout.rows:,} row(s), not {rows:,}.")],
                )
            limits.check_shape(rows, len(columns) + layout.columns)
            prefix = "x" if names == ["arr_0"] else name
            columns += [name] if len(layout.shape) == 1 else numbered(layout.columns, prefix)
        arrays = [layout.array(mapped, start) for layout, (start, _) in zip(layouts, spans, strict=True)]
        super().__init__(unpacked, arrays, columns, [], limits)


def _unpacked(archive: zipfile.ZipFile, limits: Limits) -> tuple[list[str], list[Span], IO[bytes]]:
    """Unpack the members into one file; return their names and spans, and the file."""
    members = files_of(archive)
    limits.check_shape(0, len(members))
    for member in members:
        limits.check_name(member.filename.removesuffix(".npy"))
    limits.check_bytes(sum(member.file_size for member in members), "The archive")
    spans: list[Span] = []

    def pieces() -> Iterator[bytes]:
        written = 0
        for member in members:
            start = written
            for piece in iter_pieces(archive, member, WHAT):
                written += len(piece)
                yield piece
            spans.append((start, written))
            padding = ALIGNMENT - written % ALIGNMENT  # at least 1: an empty file cannot be mapped
            written += padding
            yield bytes(padding)

    file = spooled(pieces(), limits, "The archive")
    return [member.filename.removesuffix(".npy") for member in members], spans, file


def _texts(part: Any, first_name: str) -> list[Any]:
    """Return the columns of an array of text in canonical form."""
    try:
        _check_characters(part)
        return [texts(pa.array(_decoded(column.tolist()), TEXT)) for column in part.T]
    except (UnicodeError, ValueError) as error:
        sentence = f'The array of the column "{first_name}" holds bytes that are not text. Save it as UTF-8 text.'
        raise InvalidTable(sentence, [FieldError(first_name, sentence)]) from error


def _check_characters(part: Any) -> None:
    """Raise ValueError if an array holds codes that are no characters: numpy accepts them, Python fails later."""
    if part.dtype.kind == "U":
        codes = np.ascontiguousarray(part).view(np.dtype(np.uint32).newbyteorder(part.dtype.byteorder))
        if ((codes > sys.maxunicode) | ((codes >= 0xD800) & (codes <= 0xDFFF))).any():
            raise ValueError("not a character")


def _decoded(values: list[Any]) -> list[str]:
    return [value.decode() if isinstance(value, bytes) else value for value in values]
