"""Products with a matrix of few columns, compiled, and how what is compiled is kept.

Importing this module imports numba; only what is compiled does.
"""

from collections.abc import Callable
from typing import Any, NamedTuple, TypeVar, cast

from numba import njit

from ism_core.arrays import Array
from ism_core.objective.compiled.microkernel import BYTES, HIGH, VECTORS, add_one, add_three, add_two

F = TypeVar("F", bound=Callable[..., Any])

REORDERED = {"contract", "reassoc", "nsz"}  # sums, which is what lets them run in vectors


def kept(function: F) -> F:
    """Compiled free of the GIL, and kept on disk where anything there can be written."""
    try:
        return cast(F, njit(nogil=True, cache=True, fastmath=REORDERED, error_model="numpy")(function))
    except RuntimeError:  # numba found no place to write to
        return cast(F, njit(nogil=True, fastmath=REORDERED, error_model="numpy")(function))


def summed(function: F) -> F:
    """Compiled into what calls it, with its sums reordered."""
    return cast(F, njit(fastmath=REORDERED, error_model="numpy")(function))


def exact(function: F) -> F:
    """Compiled as it is written: what lives by the order of its sums."""
    return cast(F, njit(fastmath={"contract"}, error_model="numpy")(function))


class Strips(NamedTuple):
    """A matrix of few columns: all rows of the first 3 vectors of columns, then of the next 3, then of the rest."""

    numbers: Array
    rows: int
    columns: int


@summed
def up_to(count: int, multiple: int) -> int:
    """The next multiple."""
    return (count + multiple - 1) // multiple * multiple


@summed
def multiply(M: Array, rows: int, to_row: int, to_step: int, steps: int, X: Strips, first: int, sums: Array) -> None:
    """Add M X[first:] to sums, in strips of so many rows; or Mᵀ X[first:], with the ways to row and step exchanged."""
    lanes, height = BYTES // M.itemsize, up_to(rows, HIGH)
    for start in range(0, X.columns, VECTORS * lanes):
        wide = min(VECTORS * lanes, up_to(X.columns - start, lanes))
        of_X = start * X.rows + first * wide
        for i in range(0, rows, HIGH):
            of_M, to = i * to_row, start * height + i * wide
            if wide == 3 * lanes:
                add_three(M, of_M, to_row, to_step, X.numbers, of_X, steps, sums, to, wide)
            elif wide == 2 * lanes:
                add_two(M, of_M, to_row, to_step, X.numbers, of_X, steps, sums, to, wide)
            else:
                add_one(M, of_M, to_row, to_step, X.numbers, of_X, steps, sums, to, wide)


@summed
def add_strips(sums: Array, rows: int, lanes: int, out: Array, first: int) -> None:
    """Sums in strips, added to rows of a matrix from a first one on."""
    columns, height = out.shape[1], up_to(rows, HIGH)
    for start in range(0, columns, VECTORS * lanes):
        wide = min(VECTORS * lanes, up_to(columns - start, lanes))
        for i in range(rows):
            few, row = sums[start * height + i * wide :], out[first + i, start : start + wide]
            for j in range(len(row)):
                row[j] += few[j]
