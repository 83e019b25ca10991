"""Whitening: the linear map after which rows vary alike in all directions, within classes if there are any.

The covariance is shrunk towards a multiple of the identity. Without classes, Ledoit and Wolf (2004) tell how much: they
minimize the expected error of the covariance. But a direction that varies little is stretched most, and its sample
variance is too small if rows are few. So discriminant analysis often needs more shrinkage. With classes, the shrinkage
is at least that of the ridge regression of the class indicators on the rows which generalized cross-validation prefers
(Golub, Heath and Wahba, 1979). For two classes, ridge regression and discriminant analysis with the shrunk covariance
have the same direction.
"""

from dataclasses import dataclass

import numpy as np

from ism_core.arrays import Array, Ints

SMALLEST_VARIANCE = 1e-6  # of the mean variance: the least that a direction counts with, shrunken or not
SHRINKAGES = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95)  # to compare
SMALLEST_FREEDOM = 1e-9  # share of the degrees of freedom below which it is rounding


@dataclass(frozen=True)
class Whitening:
    """The symmetric map L = V diag(stretches) Vᵀ + base (I − VVᵀ), after which rows vary alike in all directions.

    L is never formed, because d can be large.
    """

    directions: Array  # V, d×r and orthonormal
    stretches: Array
    base: float

    @staticmethod
    def of(X: Array, codes: Ints | None = None) -> "Whitening":
        """Return the whitening of centered rows; with classes, of the rows minus their class means."""
        rows = X if codes is None else _within(X, codes)
        lengths = np.einsum("ij,ij->i", rows, rows)
        few = len(rows) < rows.shape[1]
        squares = rows @ rows.T if few else rows.T @ rows
        sums = None if codes is None else _class_sums(X, codes)
        return Whitening._of(rows.shape, squares, float(lengths @ lengths), _principal(rows, squares), sums)

    @staticmethod
    def of_moments(
        n: int, squares: Array, fourth: float, counts: Ints | None = None, means: Array | None = None
    ) -> "Whitening":
        """Return the whitening of n centered rows that are not in memory.

        Parameters
        ----------
        squares
            The sum of xxᵀ over the rows; with classes, over the rows minus their class means.
        fourth
            The sum of ‖x‖⁴ over the same rows.
        counts, means
            The number of rows in each class, and their means.
        """
        sums = None if counts is None or means is None else (counts, counts[:, None] * means)
        variances, directions = np.linalg.eigh(squares / n)
        return Whitening._of((n, len(squares)), squares, fourth, (np.maximum(variances, 0), directions), sums)

    @staticmethod
    def _of(
        shape: tuple[int, ...],
        squares: Array,
        fourth: float,
        principal: tuple[Array, Array],
        sums: tuple[Ints, Array] | None,
    ) -> "Whitening":
        n, d = shape
        mean = float(np.trace(squares)) / (n * d)
        if mean == 0:  # every row equals its class mean
            return Whitening(np.empty((d, 0)), np.empty(0), 1.0)
        shrinkage = _ledoit_wolf(n, d, squares, fourth) if n > 1 else 1.0
        variances, directions = principal
        if sums is not None:
            shrinkage = max(shrinkage, _discriminant(n, *sums, variances, directions, mean))
        shrunk = (1 - shrinkage) * variances + shrinkage * mean
        stretches = 1 / np.sqrt(np.maximum(shrunk, SMALLEST_VARIANCE * mean))
        base = 1 / np.sqrt(max(shrinkage, SMALLEST_VARIANCE) * mean) if len(variances) < d else 0.0
        return Whitening(directions, stretches, base)

    def times(self, M: Array) -> Array:
        """Return LM."""
        return self._apply(M, self.stretches, self.base)

    def solve(self, M: Array) -> Array:
        """Return L⁻¹M."""
        return self._apply(M, 1 / self.stretches, 1 / self.base if self.base else 0.0)

    def _apply(self, M: Array, stretches: Array, base: float) -> Array:
        V = self.directions
        product: Array = V @ ((stretches - base)[:, None] * (V.T @ M))
        return product + base * M if base else product


def _ledoit_wolf(n: int, d: int, squares: Array, fourth: float) -> float:
    """Return the shrinkage for centered rows, given XᵀX or XXᵀ: the smaller one will do."""
    variance = float(np.vdot(squares, squares)) / n**2  # the squared norm of the covariance
    mean = float(np.trace(squares)) / (n * d)
    deviation = variance - d * mean**2
    noise = min((fourth / n - variance) / n, deviation)
    return max(noise / deviation, 0.0) if deviation > 0 else 0.0


def _discriminant(n: int, counts: Ints, sums: Array, variances: Array, directions: Array, mean: float) -> float:
    """Return the shrinkage whose ridge regression of the class indicators has the best generalized cross-validation.

    `sums` are those of the centered rows of each class. `variances` and `directions` are those of the rows minus their
    class means, and `mean` is the mean of all d variances. The covariance of X is S = V diag(variances) Vᵀ + BBᵀ, where
    the columns of B are the class means, times the square root of the class's share. With
    D = (S − BBᵀ + penalty · I)⁻¹, all that the criterion needs are the small matrices BᵀDB and BᵀD²B (Woodbury).
    """
    d = sums.shape[1]
    shares = counts[counts > 0] / n
    if len(shares) < 2:
        return 0.0
    B = (sums[counts > 0] / (n * np.sqrt(shares)[:, None])).T
    along = directions.T @ B
    others = B.T @ B - along.T @ along  # of the directions in which no row varies within its class
    total, identity = 1 - float(shares @ shares), np.eye(len(shares))  # variance of the indicators

    def criterion(shrinkage: float) -> float:
        penalty = shrinkage / (1 - shrinkage) * mean
        inverse = 1 / (variances + penalty)
        first = (along.T * inverse) @ along + others / penalty
        second = (along.T * inverse**2) @ along + others / penalty**2
        solved = np.linalg.solve(identity + first, np.column_stack([first, second]))
        squares = solved[:, len(shares) :]
        explained = solved[:, : len(shares)] + penalty * np.linalg.solve(identity + first, squares.T).T
        trace = float(inverse.sum() + (d - len(variances)) / penalty - np.trace(squares))
        free = 1 - (1 + d - penalty * trace) / n  # share of the degrees of freedom that are left; 1 for the intercept
        errors = total - float(np.diagonal(explained) @ shares)
        return float(errors / max(free, SMALLEST_FREEDOM) ** 2)

    return min(SHRINKAGES, key=criterion)


def _within(X: Array, codes: Ints) -> Array:
    """Return the rows minus their class means."""
    counts, sums = _class_sums(X, codes)
    within: Array = X - (sums / np.maximum(counts, 1)[:, None])[codes]
    return within


def _class_sums(X: Array, codes: Ints) -> tuple[Ints, Array]:
    """Return the number of rows in each class, and their sums."""
    counts = np.bincount(codes)
    sums = np.zeros((len(counts), X.shape[1]))
    np.add.at(sums, codes, X)
    return counts, sums


def _principal(rows: Array, squares: Array) -> tuple[Array, Array]:
    """Return the variances along the principal directions, and the directions: all d of them if n ≥ d.

    `squares` is XᵀX if n ≥ d, else XXᵀ.
    """
    n, d = rows.shape
    if d <= n:
        variances, directions = np.linalg.eigh(squares / n)
        return np.maximum(variances, 0), directions
    variances, shares = np.linalg.eigh(squares / n)
    kept = variances > np.finfo(float).eps * n * variances[-1]
    variances = variances[kept]
    return variances, np.linalg.qr(rows.T @ shares[:, kept])[0]
