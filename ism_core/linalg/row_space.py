"""The row space of X: the directions along which its rows lie. The solver looks for W there only.

XW is zero along a null direction, such as a constant column or the difference of two equal columns. Some kernels would
prefer such an axis: all rows coincide on it, so that it cannot lower J, while another axis can.

- With fewer rows than columns, the solver works in coordinates of the row space.
- Otherwise X stays as it is, and the null directions are found and kept out.
- If n and d are both large, the solver starts in the row space of a sample of the rows. It then adds the directions
  along which J still grows, so that no matrix exceeds about n × 2,000 or d × 2,000.
"""

from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass

import numpy as np
from scipy.linalg import solve_triangular
from scipy.linalg.lapack import dpstrf

from ism_core.arrays import Array
from ism_core.engines import LOCAL, own_threads
from ism_core.linalg.row_passes import squares
from ism_core.linalg.subspaces import project_out

SMALLEST_ADDED = 1e-3  # directions with a singular value above this share of the largest join a sampled row space
RANK_TOLERANCE = 1e-10  # relative singular values, or squared residuals of unit columns, below this are rounding errors
ACCURATE_EIGENVALUE = 1e-10  # share of XXᵀ's largest eigenvalue: eigenvectors of larger ones are accurate to six digits
SKETCH_ROWS = 2  # random sums of rows, per column of X; with probability 1 they have the same null space as X
SMALL_TABLE = 2**20  # numbers in X below which several BLAS threads slow each other down (measured on 2 cores)
LARGEST = 4_000  # rows and columns of the largest square matrix that is decomposed: 128 MB
SAMPLE = 1_000  # rows of the sample whose row space is the first one if n and d are larger than LARGEST


@dataclass(frozen=True)
class RowSpace:
    """X in coordinates of its row space: X = Z basisᵀ."""

    Z: Array
    basis: Array | None  # d×k with orthonormal columns; None stands for the identity
    null_directions: Array  # k×e, orthonormal: directions v with Zv = 0, except those needed to fill q axes
    rank: int
    rows: Array | None = None  # X, if the basis spans only a part of its row space

    @staticmethod
    def at_least(X: Array, rank: int) -> "RowSpace | None":
        """Return X with its zero columns as null directions if a few rows show this rank; else None."""
        n, d = X.shape
        few = X[:: max(1, n // (2 * rank))]
        if n < d or d > LARGEST or np.linalg.matrix_rank(few) < rank:
            return None
        zero = np.flatnonzero(~few.any(axis=0))
        zero = zero[~X[:, zero].any(axis=0)]
        return RowSpace(X, None, np.eye(d)[:, zero], rank)

    @staticmethod
    def of(X: Array, q: int, seed: int = 0) -> "RowSpace":
        """Return the row space, completed by random directions if it has fewer than q."""
        n, d = X.shape
        if min(n, d) > LARGEST >= SAMPLE + q:  # with a larger q, W itself is as large
            chosen = np.random.default_rng(seed).choice(n, SAMPLE + q, replace=False)
            basis = RowSpace.of(X[np.sort(chosen)], q, seed).basis
            assert basis is not None
            return RowSpace(X @ basis, basis, np.empty((basis.shape[1], 0)), basis.shape[1], X)
        if n >= d:
            with own_threads():  # idle BLAS threads would slow down the next step
                null_directions = _null_directions(X, seed)
            rank = d - null_directions.shape[1]
            return RowSpace(X, None, null_directions[:, max(0, q - rank) :], rank)
        with own_threads() if X.size < SMALL_TABLE else nullcontext():
            basis = _row_basis(X)
        rank = basis.shape[1]
        if rank < q:
            others = np.random.default_rng(seed).standard_normal((d, q - rank))
            basis = np.hstack([basis, np.linalg.qr(np.hstack([basis, others]))[0][:, rank:]])
        return RowSpace(X @ basis, basis, np.empty((basis.shape[1], 0)), rank)

    def outside(self, row_coefficients: Callable[[], tuple[Array, float]]) -> Array:
        """Return the part of XᵀC outside the basis, for row coefficients C; zero if the basis is complete."""
        if self.rows is None or self.basis is None:
            return np.zeros((1, 1))
        half_gradient = self.rows.T @ row_coefficients()[0]
        return project_out(self.basis, project_out(self.basis, half_gradient))  # twice, because of rounding

    def reaching(self, W: Array | None) -> "RowSpace":
        """Return the row space extended by the directions that a given W has outside it."""
        if W is None or self.rows is None or self.basis is None:
            return self
        outside = project_out(self.basis, W)
        return self if np.linalg.norm(outside) < RANK_TOLERANCE * np.linalg.norm(W) else self.widened(outside)

    def widened(self, outside: Array) -> "RowSpace":
        """Return the row space extended by directions outside it."""
        assert self.rows is not None
        assert self.basis is not None
        more, sizes, _ = np.linalg.svd(outside, full_matrices=False)
        more = more[:, sizes > SMALLEST_ADDED * sizes[0]]
        basis = np.hstack([self.basis, more])
        Z = np.hstack([self.Z, self.rows @ more])
        return RowSpace(Z, basis, np.empty((basis.shape[1], 0)), basis.shape[1], self.rows)

    def out(self, W: Array) -> Array:
        """Map W from these coordinates to the columns of X, without the null directions."""
        W = project_out(self.null_directions, W)
        return W if self.basis is None else self.basis @ W

    def into(self, W: Array) -> Array:
        """Return the orthonormal W nearest to the part of a given W that lies in these coordinates."""
        inside = W if self.basis is None else self.basis.T @ W
        inside = project_out(self.null_directions, inside)
        left, _, right = np.linalg.svd(inside, full_matrices=False)
        nearest: Array = left @ right
        return nearest


def _row_basis(X: Array) -> Array:
    """Return an orthonormal basis of the row space, for fewer rows than columns.

    The eigenvectors of the small matrix XXᵀ give the directions of the large singular values. Squaring loses the
    small ones, so these come from an SVD of the rest.
    """
    squares, left = np.linalg.eigh(X @ X.T)
    large = squares > ACCURATE_EIGENVALUE * squares[-1]
    if not large.any():
        return np.empty((X.shape[1], 0))
    basis = X.T @ (left[:, large] / np.sqrt(squares[large]))
    factor = np.linalg.cholesky(basis.T @ basis)
    basis = solve_triangular(factor, basis.T, lower=True).T  # orthonormal up to rounding
    rest = X.T @ left[:, ~large]
    rest = project_out(basis, project_out(basis, rest))  # twice, because of rounding
    more, sizes, _ = np.linalg.svd(rest, full_matrices=False)
    return np.hstack([basis, more[:, sizes > RANK_TOLERANCE * np.sqrt(squares[-1])]])


def _null_directions(X: Array, seed: int) -> Array:
    """Return an orthonormal basis of the directions v with Xv = 0, for at least as many rows as columns."""
    rows = _sketch(X, seed) if len(X) > 2 * SKETCH_ROWS * X.shape[1] else X
    lengths = np.linalg.norm(rows, axis=0)
    used = np.flatnonzero(lengths)
    return null_directions(squares(rows[:, used] / lengths[used]), lengths)


def null_directions(products: Array, lengths: Array) -> Array:
    """Return an orthonormal basis of the directions v with Xv = 0.

    A pivoted Cholesky factorization of XᵀX, with columns scaled to length 1, finds the columns that depend on others.
    Each of them gives one null direction.

    Parameters
    ----------
    products
        XᵀX of the columns that are not zero, scaled to length 1.
    lengths
        Lengths of all columns.
    """
    d = len(lengths)
    used = np.flatnonzero(lengths)
    directions = np.eye(d)[:, lengths == 0] if len(used) < d else np.empty((d, 0))
    if len(used) == 0:
        return directions
    factor, order, rank, _ = dpstrf(products, tol=RANK_TOLERANCE, lower=0, overwrite_a=1)
    if rank == len(used):
        return directions
    order = used[order - 1]
    independent, dependent = order[:rank], order[rank:]
    dependence = np.zeros((d, len(dependent)))
    dependence[independent] = -solve_triangular(factor[:rank, :rank], factor[:rank, rank:]) / lengths[independent, None]
    dependence[dependent, np.arange(len(dependent))] = 1 / lengths[dependent]
    return np.hstack([directions, np.linalg.qr(dependence)[0]])


def _sketch(X: Array, seed: int) -> Array:
    """Return sums of rows with random weights, which have the same null directions as X with probability 1."""
    n, d = X.shape
    size = SKETCH_ROWS * d
    weights = np.random.default_rng(seed).standard_normal((n, 1))
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
