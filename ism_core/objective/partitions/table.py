"""What a table in partitions is, and partitions of arrays in memory or mapped from a file."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from ism_core.arrays import Array, Tile
from ism_core.linalg import Scaling

Block = tuple[Tile, NDArray[Any] | None]  # rows, and their targets: a label or a number for each row, or None

PARTITION_ROWS = 2**18  # rows of a partition of an array
BLOCK_ROWS = 2**16  # rows of a block of an array; also the most rows that are scaled at a time


@runtime_checkable
class Partitions(Protocol):
    """A table in parts that can be read in any order, any number of times, by any process: it can be pickled."""

    @property
    def columns(self) -> int:
        """The number of columns of X."""

    def __len__(self) -> int:
        """The number of partitions."""

    def blocks(self, index: int) -> Iterator[Block]:
        """Read a partition: yield its rows block by block, with their targets; the same blocks each time.

        Rows are floats of either precision. Targets are class labels, or floats that are real values. A block should
        have 10,000 to 100,000 rows.
        """


class ArrayPartitions:
    """An array in memory, or mapped from an NPY file (`numpy.load(path, mmap_mode="r")`), with its targets."""

    def __init__(
        self,
        X: Tile,
        y: NDArray[Any] | None = None,
        partition_rows: int = PARTITION_ROWS,
        block_rows: int = BLOCK_ROWS,
    ) -> None:
        self._X, self._y = X, y
        self._partition_rows, self._block_rows = partition_rows, block_rows

    @property
    def columns(self) -> int:
        return int(self._X.shape[1])

    def __len__(self) -> int:
        return -(-len(self._X) // self._partition_rows)

    def blocks(self, index: int) -> Iterator[Block]:
        first = index * self._partition_rows
        last = min(first + self._partition_rows, len(self._X))
        for start in range(first, last, self._block_rows):
            rows = slice(start, min(start + self._block_rows, last))
            yield np.asarray(self._X[rows]), None if self._y is None else np.asarray(self._y[rows])

    def __getstate__(self) -> dict[str, Any]:
        """Mapped arrays travel as the names of their files."""
        return {name: _Mapped.of(value) or value for name, value in self.__dict__.items()}

    def __setstate__(self, state: dict[str, Any]) -> None:
        opened = {name: value.opened() if isinstance(value, _Mapped) else value for name, value in state.items()}
        self.__dict__.update(opened)


@dataclass(frozen=True)
class _Mapped:
    """Where the numbers of a mapped array are."""

    path: str
    dtype: Any
    offset: int
    shape: tuple[int, ...]
    order: str

    @staticmethod
    def of(value: Any) -> "_Mapped | None":
        """Return the place of a mapped array; None for other values, and for parts of mapped arrays."""
        if not isinstance(value, np.memmap) or value.filename is None or isinstance(value.base, np.ndarray):
            return None
        order = "C" if value.flags.c_contiguous else "F"
        return _Mapped(str(value.filename), value.dtype, value.offset, value.shape, order)

    def opened(self) -> Any:
        """Map the file again."""
        order: Any = self.order
        return np.memmap(self.path, self.dtype, "r", self.offset, self.shape, order)


@dataclass(frozen=True)
class ScaledPartitions:
    """Partitions with scaled rows, in double precision and in blocks of at most `BLOCK_ROWS` rows."""

    table: Partitions
    scaling: Scaling | None  # None: as they are

    @property
    def columns(self) -> int:
        return self.table.columns

    def __len__(self) -> int:
        return len(self.table)

    def blocks(self, index: int) -> Iterator[Block]:
        return scaled(self.table.blocks(index), self.scaling)


def scaled(blocks: Iterator[Block], scaling: Scaling | None) -> Iterator[Block]:
    """Yield scaled rows, in double precision and in blocks of at most `BLOCK_ROWS` rows."""
    for X, y in blocks:
        for start in range(0, len(X), BLOCK_ROWS):
            rows = slice(start, start + BLOCK_ROWS)
            exact: Array = np.ascontiguousarray(X[rows], dtype=np.float64)
            yield exact if scaling is None else scaling.apply(exact), None if y is None else y[rows]
