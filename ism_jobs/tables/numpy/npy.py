"""The header of an NPY file. Nothing in it is executed, and its sizes are checked against the file."""

import ast
import math
import re
from dataclasses import dataclass
from typing import Any

import numpy as np

from ism_jobs.errors import InvalidTable

MAGIC = b"\x93NUMPY"  # the first bytes of every NPY file
LONGEST_HEADER = 10_000  # bytes
LONGEST_SIDE = 1 << 48  # rows or columns; more bytes than any file has
ALLOWED_TYPES = re.compile(r"[<>|=]?(b1|\?|[iu][1248]|f[248]|[US][1-9]\d{0,7})")
ALLOWED_IN_WORDS = "booleans, integers, floating-point numbers up to 64 bits and fixed-length text"


@dataclass(frozen=True)
class Layout:
    """An array as its header declares it; its values begin at the offset `start`."""

    dtype: np.dtype[Any]
    shape: tuple[int, ...]
    fortran: bool
    start: int

    @property
    def bytes(self) -> int:
        """The bytes of the values."""
        return math.prod(self.shape) * self.dtype.itemsize

    @property
    def rows(self) -> int:
        """The rows of the table."""
        return self.shape[0]

    @property
    def columns(self) -> int:
        """The columns of the table."""
        return self.shape[1] if len(self.shape) == 2 else 1

    def array(self, buffer: Any, offset: int) -> Any:
        """Return the values in the buffer as rows and columns, without a copy."""
        flat: Any = np.ndarray(self.shape, self.dtype, buffer, offset + self.start, order="F" if self.fortran else "C")
        return flat.reshape(self.rows, self.columns)


def layout_of(first: bytes, available: int, what: str) -> Layout:
    """Return the layout of an array from the first bytes and the size of its file; `what` names it in messages."""
    if not first.startswith(MAGIC) or len(first) < 12:
        raise InvalidTable(f"{what} does not start as an NPY file. Save it with numpy.save.")
    version = first[6]
    if version not in (1, 2, 3):
        raise InvalidTable(f"{what} has version {version} of the NPY format; versions 1 to 3 are supported.")
    width = 2 if version == 1 else 4
    length = int.from_bytes(first[8 : 8 + width], "little")
    start = 8 + width + length
    if length > LONGEST_HEADER or start > len(first):
        raise InvalidTable(
            f"{what} has a header of {length:,} bytes; at most {LONGEST_HEADER:,} are allowed, and all must be there."
        )
    layout = _parsed(first[8 + width : start], start, what)
    if layout.bytes > available - start:
        raise InvalidTable(
            f"{what} declares {layout.bytes:,} bytes of values (shape {layout.shape}, {layout.dtype}), but "
            f"{available - start:,} follow. The file is truncated or damaged; save it again."
        )
    return layout


def _parsed(header: bytes, start: int, what: str) -> Layout:
    try:
        # Python 2 wrote long integers as 10L
        fields = ast.literal_eval(re.sub(r"(\d)L\b", r"\1", header.decode("utf-8").strip()))
        descr, fortran, shape = fields["descr"], fields["fortran_order"], fields["shape"]
        valid = (
            isinstance(fortran, bool)
            and isinstance(shape, tuple)
            and all(type(n) is int and 0 <= n <= LONGEST_SIDE for n in shape)
        )
    except (ValueError, SyntaxError, TypeError, KeyError, RecursionError, MemoryError):
        valid = False
    if not valid:
        raise InvalidTable(f"{what} has a header that cannot be read. Save it again with numpy.save.")
    if not isinstance(descr, str) or not ALLOWED_TYPES.fullmatch(descr):
        shown = descr if isinstance(descr, str) and len(descr) < 40 else "a structured type"
        reason = " Objects are pickled, which can run code when read." if shown in ("|O", "O") else ""
        raise InvalidTable(
            f"{what} has values of the type {shown}; {ALLOWED_IN_WORDS} are supported.{reason}"
            " Convert it first, for example with array.astype(float)."
        )
    if len(shape) not in (1, 2):
        raise InvalidTable(f"{what} has {len(shape)} dimensions; a table has 2 (rows and columns), a column has 1.")
    if 0 in shape:
        raise InvalidTable(f"{what} has the shape {shape}. Send at least one row and one column.")
    return Layout(np.dtype(descr), shape, fortran, start)
