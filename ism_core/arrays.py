"""Array types, the validation of every table of numbers, and scratch arrays that threads reuse."""

import threading
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import issparse

from ism_core.engines import LOCAL
from ism_core.errors import InvalidInput

Array = NDArray[np.float64]
Ints = NDArray[np.intp]
Tile = NDArray[Any]  # of either precision
Dtype = type[np.float64] | type[np.float32]

BLOCK = 256  # rows that stay in the cache for a second pass


def as_table(X: ArrayLike, name: str = "X", min_rows: int = 2) -> Array:
    """Return X as a C-ordered n×d array of finite float64 numbers, or raise InvalidInput."""
    given = _as_array(X, name)
    if given.ndim != 2:
        raise InvalidInput(
            name, f"{name} must be a table of rows and columns (2 dimensions), not an array of shape {given.shape}."
        )
    rows, columns = given.shape
    if rows < min_rows:
        raise InvalidInput(name, f"{name} has {rows} sample(s) (n_samples = {rows}); at least {min_rows} are needed.")
    if columns < 1:
        raise InvalidInput(name, f"{name} has 0 feature(s) (shape={given.shape}) while a minimum of 1 is required.")
    table = _as_numbers(given, name)
    if not np.isfinite(extremes(table)).all():
        finite = np.isfinite(table)
        row, column = np.argwhere(~finite)[0]
        raise InvalidInput(
            name,
            f"{name} has {np.count_nonzero(~finite)} value(s) that are NaN or infinity,"
            f" the first in row {row}, column {column}. Drop or fill them.",
        )
    return table


def extremes(table: Array) -> tuple[float, float]:
    """Return the smallest and the largest number in one pass; NaN if there is one."""
    smallest, largest = np.array(LOCAL.run(_extremes, -(-len(table) // BLOCK), table)).T
    return float(smallest.min()), float(largest.max())


def _extremes(share: list[int], table: Array) -> tuple[float, float]:
    blocks = [table[index * BLOCK : (index + 1) * BLOCK] for index in share]
    smallest, largest = np.array([(block.min(), block.max()) for block in blocks]).T
    return float(smallest.min()), float(largest.max())


def _as_array(X: ArrayLike, name: str) -> NDArray[Any]:
    if issparse(X):
        raise InvalidInput(name, f"{name} is a sparse matrix; give it as a dense one, such as {name}.toarray().")
    if np.ma.is_masked(X):
        raise InvalidInput(name, f"{name} has masked values; fill them or drop their rows.")
    try:
        return np.asarray(X)
    except ValueError:
        raise InvalidInput(
            name, f"{name} has rows of different lengths; each must have the same number of values."
        ) from None


def _as_numbers(given: NDArray[Any], name: str) -> Array:
    if np.iscomplexobj(given):
        raise InvalidInput(name, f"{name} holds complex data, and only real numbers are supported.")
    if given.dtype.kind in "fiub":
        return np.ascontiguousarray(given, dtype=np.float64)
    for column in range(given.shape[1]):
        if given.dtype != object or any(isinstance(value, str) for value in given[:, column]):
            kind = "text" if given.dtype.kind in "OUS" else str(given.dtype)
            raise InvalidInput(name, f"{name} must hold numbers; column {column} holds {kind}. Encode it or drop it.")
    try:
        return np.ascontiguousarray(given, dtype=np.float64)
    except (TypeError, ValueError):
        raise InvalidInput(
            name, f"{name} must hold numbers; some of its values are neither numbers nor text."
        ) from None


def is_whole(value: object) -> bool:
    """Tell whether a value is an integer and not a boolean."""
    return isinstance(value, int | np.integer) and not isinstance(value, bool)


class Buffers(threading.local):
    """Scratch arrays of one thread: one for each name and precision, as large as the largest request so far."""

    def __init__(self) -> None:
        self._memory: dict[tuple[str, Dtype], Tile] = {}

    def __call__(self, name: str, dtype: Dtype, rows: int, columns: int) -> Tile:
        memory = self._memory.get((name, dtype))
        if memory is None or len(memory) < rows * columns:
            memory = self._memory[name, dtype] = np.empty(rows * columns, dtype)
        return memory[: rows * columns].reshape(rows, columns)


buffers = Buffers()
