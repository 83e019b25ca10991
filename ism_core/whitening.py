"""Whitening: a linear map after which rows, or those of each class about its mean, vary alike in all directions.

The covariance is shrunk towards a multiple of the identity as far as Ledoit and Wolf (2004) advise: with few rows its
smallest eigenvalues are far too small, and what is divided by them would drown in noise.
"""

from dataclasses import dataclass

import numpy as np
from sklearn.covariance import ledoit_wolf_shrinkage

from ism_core.arrays import Array, Ints

SMALLEST = 1e-6  # of the mean variance: less counts as this, also where nothing was shrunk


@dataclass(frozen=True)
class Whitening:
    """The symmetric map L = V diag(stretches) Vᵀ + base (I − VVᵀ), which is not formed: columns may be many."""

    directions: Array  # V, d×r and orthonormal
    stretches: Array
    base: float

    @staticmethod
    def of(X: Array, codes: Ints | None = None) -> "Whitening":
        """For centered rows; with classes, for the rows less the means of these."""
        rows = X if codes is None else _within(X, codes)
        n, d = rows.shape
        mean = float(np.vdot(rows, rows)) / (n * d)
        if mean == 0:  # every row is its class's mean
            return Whitening(np.empty((d, 0)), np.empty(0), 1.0)
        shrinkage = float(ledoit_wolf_shrinkage(rows, assume_centered=True)) if n > 1 else 1.0
        variances, directions = _principal(rows)
        shrunk = (1 - shrinkage) * variances + shrinkage * mean
        stretches = 1 / np.sqrt(np.maximum(shrunk, SMALLEST * mean))
        base = 1 / np.sqrt(max(shrinkage, SMALLEST) * mean) if len(variances) < d else 0.0
        return Whitening(directions, stretches, base)

    def times(self, M: Array) -> Array:
        """LM"""
        return self._spread(M, self.stretches, self.base)

    def undone(self, M: Array) -> Array:
        """L⁻¹M"""
        return self._spread(M, 1 / self.stretches, 1 / self.base if self.base else 0.0)

    def _spread(self, M: Array, stretches: Array, base: float) -> Array:
        V = self.directions
        spread: Array = V @ ((stretches - base)[:, None] * (V.T @ M))
        return spread + base * M if base else spread


def _within(X: Array, codes: Ints) -> Array:
    """The rows less the means of their classes."""
    counts = np.bincount(codes)
    sums = np.zeros((len(counts), X.shape[1]))
    np.add.at(sums, codes, X)
    within: Array = X - (sums / np.maximum(counts, 1)[:, None])[codes]
    return within


def _principal(rows: Array) -> tuple[Array, Array]:
    """Variances along directions that the rows vary in, and these; all d of them where there are rows enough."""
    n, d = rows.shape
    if d <= n:
        variances, directions = np.linalg.eigh(rows.T @ rows / n)
        return np.maximum(variances, 0), directions
    variances, shares = np.linalg.eigh(rows @ rows.T / n)
    kept = variances > np.finfo(float).eps * n * variances[-1]
    variances = variances[kept]
    return variances, np.linalg.qr(rows.T @ shares[:, kept])[0]
