"""The directions along which the rows of X lie: W is sought there and nowhere else.

A direction outside (a constant column, the excess of d over n, a copy of another column) gives an empty axis: XW is
zero on it. Some kernels would even prefer it, since an axis that separates nothing also blurs nothing. With fewer
rows than columns the solver works in coordinates of the row space; otherwise X stays as it is, and the empty
directions are known and kept out. Where rows and columns are both too many for either, it begins in the row space of a
sample of the rows, which is then widened by the directions in which J still grows: no matrix is larger than n or d
by some two thousand.
"""

from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass

import numpy as np
from scipy.linalg import solve_triangular
from scipy.linalg.lapack import dpstrf

from ism_core.arrays import Array
from ism_core.engines.base import LOCAL
from ism_core.engines.threads import own_threads
from ism_core.linalg.row_passes import squares

WORTH = 1e-3  # of the largest: what a direction must add
TOLERANCE = 1e-10  # what a column adds to the others (squared, of length 1), and singular values: less is rounding
SURE = 1e-10  # of the largest eigenvalue of XXᵀ: larger ones have their eigenvectors to six digits
SKETCH_ROWS = 2  # for each column: so many random sums of rows have the same empty directions as all rows
SMALL = 2**20  # numbers in X
LARGEST = 4_000  # dimensions: no matrix of more than this squared
SAMPLE = 1_000  # rows whose space is the first one where there are more dimensions


@dataclass(frozen=True)
class RowSpace:
    """X in coordinates of its row space: X = Z basisᵀ."""

    Z: Array
    basis: Array | None  # d×k with orthonormal columns; None where it would be the identity
    null_directions: (
        Array  # k×e, orthonormal: the directions of Z that no row has anything of, and that q can do without
    )
    rank: int
    rows: Array | None = None  # X, where the basis spans but a part of its row space

    @staticmethod
    def at_least(X: Array, rank: int) -> "RowSpace | None":
        """As if only columns of zeros were empty, where a few rows show that so many directions are not; else None."""
        n, d = X.shape
        few = X[:: max(1, n // (2 * rank))]
        if n < d or d > LARGEST or np.linalg.matrix_rank(few) < rank:
            return None
        zero = np.flatnonzero(~few.any(axis=0))
        zero = zero[~X[:, zero].any(axis=0)]
        return RowSpace(X, None, np.eye(d)[:, zero], rank)

    @staticmethod
    def of(X: Array, q: int) -> "RowSpace":
        """The row space, with arbitrary directions left in where it has fewer than q."""
        n, d = X.shape
        if min(n, d) > LARGEST >= SAMPLE + q:  # with more directions asked for, W itself is as large
            chosen = np.random.default_rng(0).choice(n, SAMPLE + q, replace=False)
            basis = RowSpace.of(X[np.sort(chosen)], q).basis
            assert basis is not None
            return RowSpace(X @ basis, basis, np.empty((basis.shape[1], 0)), basis.shape[1], X)
        if n >= d:
            with own_threads():  # the BLAS's would still be in the way of what comes next
                null_directions = _empty_directions(X)
            rank = d - null_directions.shape[1]
            return RowSpace(X, None, null_directions[:, max(0, q - rank) :], rank)
        with own_threads() if X.size < SMALL else nullcontext():  # which several threads would only be in the way of
            basis = _row_basis(X)
        rank = basis.shape[1]
        if rank < q:
            others = np.random.default_rng(0).standard_normal((d, q - rank))
            basis = np.hstack([basis, np.linalg.qr(np.hstack([basis, others]))[0][:, rank:]])
        return RowSpace(X @ basis, basis, np.empty((basis.shape[1], 0)), rank)

    def outside(self, row_coefficients: Callable[[], tuple[Array, float]]) -> Array:
        """What XᵀC has outside the basis, C being the first of the pair; nothing where that spans the row space."""
        if self.rows is None or self.basis is None:
            return np.zeros((1, 1))
        half_gradient = self.rows.T @ row_coefficients()[0]
        half_gradient -= self.basis @ (self.basis.T @ half_gradient)
        return half_gradient - self.basis @ (
            self.basis.T @ half_gradient
        )  # twice, since the first leaves some by rounding

    def reaching(self, W: Array | None) -> "RowSpace":
        """With the directions that a given W has outside."""
        if W is None or self.rows is None or self.basis is None:
            return self
        outside = W - self.basis @ (self.basis.T @ W)
        return self if np.linalg.norm(outside) < TOLERANCE * np.linalg.norm(W) else self.widened(outside)

    def widened(self, outside: Array) -> "RowSpace":
        """With more directions, that lie outside."""
        assert self.rows is not None
        assert self.basis is not None
        more, sizes, _ = np.linalg.svd(outside, full_matrices=False)
        more = more[:, sizes > WORTH * sizes[0]]
        basis = np.hstack([self.basis, more])
        Z = np.hstack([self.Z, self.rows @ more])
        return RowSpace(Z, basis, np.empty((basis.shape[1], 0)), basis.shape[1], self.rows)

    def out(self, W: Array) -> Array:
        """From these coordinates to those of the columns of X, with nothing of the empty directions."""
        W = W - self.null_directions @ (self.null_directions.T @ W)
        return W if self.basis is None else self.basis @ W

    def into(self, W: Array) -> Array:
        """The orthonormal W nearest to the part of a given W that lies in these coordinates."""
        inside = W if self.basis is None else self.basis.T @ W
        inside = inside - self.null_directions @ (self.null_directions.T @ inside)
        left, _, right = np.linalg.svd(inside, full_matrices=False)
        nearest: Array = left @ right
        return nearest


def _row_basis(X: Array) -> Array:
    """An orthonormal basis of the row space, for fewer rows than columns.

    From the eigenvectors of XXᵀ, which is small. Squares lose the small singular values, so that those are taken from
    what the rest of the rows has outside the others.
    """
    squares, left = np.linalg.eigh(X @ X.T)
    large = squares > SURE * squares[-1]
    if not large.any():
        return np.empty((X.shape[1], 0))
    basis = X.T @ (left[:, large] / np.sqrt(squares[large]))
    factor = np.linalg.cholesky(basis.T @ basis)
    basis = solve_triangular(factor, basis.T, lower=True).T  # the first time it was orthonormal but for rounding
    rest = X.T @ left[:, ~large]
    for _ in range(2):
        rest -= basis @ (basis.T @ rest)
    more, sizes, _ = np.linalg.svd(rest, full_matrices=False)
    return np.hstack([basis, more[:, sizes > TOLERANCE * np.sqrt(squares[-1])]])


def _empty_directions(X: Array) -> Array:
    """An orthonormal basis of the directions v with Xv = 0, for at least as many rows as columns.

    A Cholesky factor with pivots of XᵀX, its columns scaled to length 1, brings out the columns that depend on others;
    each gives one such direction.
    """
    d = X.shape[1]
    rows = _sketch(X) if len(X) > 2 * SKETCH_ROWS * d else X
    lengths = np.linalg.norm(rows, axis=0)
    used = np.flatnonzero(lengths)
    directions = np.eye(d)[:, lengths == 0] if len(used) < d else np.empty((d, 0))
    if len(used) == 0:
        return directions
    unit = rows[:, used] / lengths[used]
    factor, order, rank, _ = dpstrf(squares(unit), tol=TOLERANCE, lower=0, overwrite_a=1)
    if rank == len(used):
        return directions
    order = used[order - 1]
    independent, dependent = order[:rank], order[rank:]
    dependence = np.zeros((d, len(dependent)))
    dependence[independent] = -solve_triangular(factor[:rank, :rank], factor[:rank, rank:]) / lengths[independent, None]
    dependence[dependent, np.arange(len(dependent))] = 1 / lengths[dependent]
    return np.hstack([directions, np.linalg.qr(dependence)[0]])


def _sketch(X: Array) -> Array:
    """Sums of rows with random weights: with probability 1 they have the empty directions of X and no others."""
    n, d = X.shape
    size = SKETCH_ROWS * d
    weights = np.random.default_rng(0).standard_normal((n, 1))
    parts = LOCAL.run(_sketch_share, -(-n // size), X, weights, size)
    return sum(parts[1:], start=parts[0])


def _sketch_share(share: list[int], X: Array, weights: Array, size: int) -> Array:
    total = np.zeros((size, X.shape[1]))
    weighted = np.empty_like(total)
    for block in share:
        rows = slice(block * size, min((block + 1) * size, len(X)))
        count = rows.stop - rows.start
        total[:count] += np.multiply(X[rows], weights[rows], out=weighted[:count])
    return total
