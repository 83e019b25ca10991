"""Γ, which pairs of rows should be alike, as a low-rank product: Γ = U diag(s) Uᵀ. The n×n matrix is never formed."""

from dataclasses import dataclass

import numpy as np

from ism_core.arrays import Array, Ints


@dataclass(frozen=True)
class Gamma:
    """U is n×r and s holds r signed weights."""

    U: Array
    s: Array

    def add_moments(self, total: Array, rows: slice, X: Array, F: Array) -> None:
        """Add Xᵀ Diag(ua) F to total[a] for every column ua of U, where X and F are those rows of theirs."""
        for a, u in enumerate(self.U[rows].T):
            total[a] += X.T @ (u[:, None] * F)

    def finished(self, total: Array) -> Array:
        """What the moments added up to, once all rows are in."""
        return total

    def moment_flops(self, d: int, m: int) -> float:
        """What the moments cost for X with d columns and F with m."""
        n, r = self.U.shape
        return float(2 * n * d * m * r)

    def sample(self, count: int, rng: np.random.Generator) -> Ints:
        """Some of the rows, in order."""
        return np.sort(rng.choice(len(self.U), count, replace=False))

    def restricted(self, rows: Ints) -> "Gamma":
        """Γ among some of the rows."""
        return Gamma(self.U[rows], self.s)


@dataclass(frozen=True)
class LabelGamma(Gamma):
    """Γ = H Y Yᵀ H for the one-hot Y of class labels: with sums over classes, their number costs nothing."""

    codes: Ints

    @staticmethod
    def of(codes: Ints) -> "LabelGamma":
        """From class numbers 0…k−1."""
        onehot = np.eye(codes.max() + 1)[codes]
        return LabelGamma(onehot - onehot.mean(axis=0), np.ones(onehot.shape[1]), codes)

    def add_moments(self, total: Array, rows: slice, X: Array, F: Array) -> None:
        codes = self.codes[rows]
        for c in np.unique(codes):
            members = codes == c
            total[c] += X[members].T @ F[members]

    def finished(self, total: Array) -> Array:
        shares = np.bincount(self.codes) / len(self.codes)
        centred: Array = total - shares[:, None, None] * total.sum(axis=0)
        return centred

    def moment_flops(self, d: int, m: int) -> float:
        return float(2 * len(self.codes) * d * m)

    def sample(self, count: int, rng: np.random.Generator) -> Ints:
        """Some of the rows of every class, as many as its share but at least 5 if it has them."""
        chosen = []
        for c in range(len(self.s)):
            members = np.flatnonzero(self.codes == c)
            wanted = max(5, round(count * len(members) / len(self.codes)))
            chosen.append(rng.choice(members, min(wanted, len(members)), replace=False))
        return np.sort(np.concatenate(chosen))

    def restricted(self, rows: Ints) -> "LabelGamma":
        return LabelGamma.of(np.unique(self.codes[rows], return_inverse=True)[1])
