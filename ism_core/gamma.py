"""Γ, what a paradigm wants to see in the projection, as a low-rank product.

Γ = U diag(s) Uᵀ. The n×n matrix is never formed.
"""

from dataclasses import dataclass

import numpy as np

from ism_core.arrays import Array, Ints

BLOCK = 4_096  # rows per pass, so that what a pass makes stays small


@dataclass(frozen=True)
class Gamma:
    """U is n×r and s holds r signed weights."""

    U: Array
    s: Array

    def moments(self, X: Array, F: Array) -> Array:
        """Xᵀ Diag(ua) F for every column ua of U, as an r×d×m array."""
        total = np.zeros((len(self.s), X.shape[1], F.shape[1]))
        for start in range(0, len(X), BLOCK):
            rows = slice(start, start + BLOCK)
            for a, u in enumerate(self.U[rows].T):
                total[a] += (
                    (X[rows] * u[:, None]).T @ F[rows]
                    if X.shape[1] < F.shape[1]
                    else X[rows].T @ (F[rows] * u[:, None])
                )
        return total

    def moments_flops(self, d: int, m: int) -> float:
        """What `moments` costs."""
        n, r = self.U.shape
        return float(2 * n * d * m * r)

    def restricted(self, rows: Ints) -> "Gamma":
        """Γ among some of the rows."""
        return Gamma(self.U[rows], self.s)


@dataclass(frozen=True)
class LabelGamma(Gamma):
    """Γ = H Y Yᵀ H for the one-hot Y of class labels: sums over classes take the place of products with U."""

    codes: Ints

    @staticmethod
    def of(codes: Ints) -> "LabelGamma":
        """From class numbers 0…k−1."""
        onehot = np.eye(codes.max() + 1)[codes]
        return LabelGamma(onehot - onehot.mean(axis=0), np.ones(onehot.shape[1]), codes)

    def moments(self, X: Array, F: Array) -> Array:
        counts = np.bincount(self.codes, minlength=len(self.s))
        total = np.empty((len(counts), X.shape[1], F.shape[1]))
        for c in range(len(counts)):
            members = self.codes == c
            total[c] = X[members].T @ F[members]
        total -= (counts / len(X))[:, None, None] * total.sum(axis=0)
        return total

    def moments_flops(self, d: int, m: int) -> float:
        return float(2 * len(self.codes) * d * m)

    def restricted(self, rows: Ints) -> "LabelGamma":
        return LabelGamma.of(np.unique(self.codes[rows], return_inverse=True)[1])
