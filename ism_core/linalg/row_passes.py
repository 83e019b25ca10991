"""Passes over all rows of X on our own threads, because one thread cannot saturate the memory bandwidth."""

from collections.abc import Callable, Iterator
from functools import reduce
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from ism_core.arrays import Array, Ints
from ism_core.engines import ALONE, LOCAL, Threads, added

T = TypeVar("T")

BLOCK = 1_024  # rows that one thread takes at a time
FEW_NUMBERS = 2**18  # numbers in X up to which a pass takes less time than the synchronization of two threads


def projected(X: Array, W: Array) -> Array:
    """Return XW."""
    P = np.empty((len(X), W.shape[1]))
    _for_each_block(X, lambda rows: np.matmul(X[rows], W, out=P[rows]))
    return P


def convert(X: Array, out: NDArray[Any]) -> None:
    """Copy X into an array of another precision."""
    _for_each_block(X, lambda rows: np.copyto(out[rows], X[rows], casting="same_kind"))


def column_sums(X: Array, C: Array) -> Array:
    """Return XᵀC. The BLAS computes CᵀX, its transpose, in two thirds of the time."""
    return _sum_over_blocks(X, lambda rows: C[rows].T @ X[rows]).T


def squares(X: Array) -> Array:
    """Return XᵀX."""
    return _sum_over_blocks(X, lambda rows: X[rows].T @ X[rows])


def column_means(X: Array) -> tuple[Array, Array]:
    """Return the means of the columns and of their squares."""
    sums, square_sums = _sum_over_blocks(X, lambda rows: (X[rows].sum(axis=0), np.einsum("ij,ij->j", X[rows], X[rows])))
    return sums / len(X), square_sums / len(X)


def square_lengths(X: Array, center: Array | None = None) -> Array:
    """Return ‖x‖² of each row, or ‖x − center‖²."""
    lengths = np.empty(len(X))

    def measure(rows: slice) -> None:
        away = X[rows] if center is None else X[rows] - center
        np.einsum("ij,ij->i", away, away, out=lengths[rows])

    _for_each_block(X, measure)
    return lengths


def picked(X: Array, chosen: Ints) -> Array:
    """Return X[chosen]."""
    few = np.empty((len(chosen), X.shape[1]))
    _for_each_block(few, lambda rows: np.take(X, chosen[rows], axis=0, out=few[rows], mode="clip"))
    return few


def blocks_of(share: list[int], n: int, size: int) -> Iterator[slice]:
    """Yield the rows of each block of a share."""
    return (slice(index * size, min((index + 1) * size, n)) for index in share)


def _for_each_block(X: NDArray[Any], work: Callable[[slice], Any]) -> None:
    def run(share: list[int]) -> None:
        for rows in blocks_of(share, len(X), BLOCK):
            work(rows)

    _engine(X).run(run, -(-len(X) // BLOCK))


def _sum_over_blocks(X: Array, part: Callable[[slice], T]) -> T:
    blocks = -(-len(X) // BLOCK)
    return _engine(X).total(lambda share: reduce(added, map(part, blocks_of(share, len(X), BLOCK))), blocks)


def _engine(X: NDArray[Any]) -> Threads:
    return ALONE if X.size <= FEW_NUMBERS else LOCAL
