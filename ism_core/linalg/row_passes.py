"""Passes over all rows, on our own threads: each is as fast as the memory gives them, so that one thread would wait."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ism_core.arrays import Array, Ints
from ism_core.engines.base import LOCAL

BLOCK = 1_024  # rows


def projected(X: Array, W: Array) -> Array:
    """XW"""
    P = np.empty((len(X), W.shape[1]))
    LOCAL.run(_project, _blocks(len(X)), X, W, P)
    return P


def _project(share: list[int], X: Array, W: Array, P: Array) -> None:
    for rows in blocks_of(share, len(X), BLOCK):
        np.matmul(X[rows], W, out=P[rows])


def convert(X: Array, out: NDArray[Any]) -> None:
    """X in another precision."""
    LOCAL.run(_convert, _blocks(len(X)), X, out)


def _convert(share: list[int], X: Array, other: NDArray[Any]) -> None:
    for rows in blocks_of(share, len(X), BLOCK):
        other[rows] = X[rows]


def column_sums(X: Array, C: Array) -> Array:
    """XᵀC"""
    return LOCAL.total(_column_sums, _blocks(len(X)), X, C).T


def _column_sums(share: list[int], X: Array, C: Array) -> Array:
    """CᵀX, which the BLAS does in two thirds of the time of XᵀC."""
    total = np.zeros((C.shape[1], X.shape[1]))
    for rows in blocks_of(share, len(X), BLOCK):
        total += C[rows].T @ X[rows]
    return total


def squares(X: Array) -> Array:
    """XᵀX"""
    return LOCAL.total(_squares, _blocks(len(X)), X)


def _squares(share: list[int], X: Array) -> Array:
    total = np.zeros((X.shape[1], X.shape[1]))
    for rows in blocks_of(share, len(X), BLOCK):
        total += X[rows].T @ X[rows]
    return total


def options(X: Array) -> tuple[Array, Array]:
    """Of each column and of its squares."""
    sums, squares = LOCAL.total(_sums, _blocks(len(X)), X)
    return sums / len(X), squares / len(X)


def _sums(share: list[int], X: Array) -> tuple[Array, Array]:
    sums, squares = np.zeros(X.shape[1]), np.zeros(X.shape[1])
    for rows in blocks_of(share, len(X), BLOCK):
        sums += X[rows].sum(axis=0)
        squares += np.einsum("ij,ij->j", X[rows], X[rows])
    return sums, squares


def square_lengths(X: Array, center: Array | None = None) -> Array:
    """Of the rows, or of these less the center."""
    squares = np.empty(len(X))
    LOCAL.run(_square_lengths, _blocks(len(X)), X, center, squares)
    return squares


def _square_lengths(share: list[int], X: Array, center: Array | None, squares: Array) -> None:
    for rows in blocks_of(share, len(X), BLOCK):
        away = X[rows] if center is None else X[rows] - center
        np.einsum("ij,ij->i", away, away, out=squares[rows])


def picked(X: Array, chosen: Ints) -> Array:
    """X[chosen]"""
    few = np.empty((len(chosen), X.shape[1]))
    LOCAL.run(_pick, _blocks(len(chosen)), X, chosen, few)
    return few


def _pick(share: list[int], X: Array, chosen: Ints, few: Array) -> None:
    for rows in blocks_of(share, len(chosen), BLOCK):
        few[rows] = X[chosen[rows]]


def blocks_of(share: list[int], n: int, size: int) -> Iterator[slice]:
    """The rows of each block of a share."""
    return (slice(index * size, min((index + 1) * size, n)) for index in share)


def _blocks(n: int) -> int:
    return -(-n // BLOCK)
