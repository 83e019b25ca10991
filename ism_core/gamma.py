"""Γ, the pair weights, as a low-rank product Γ = U diag(s) Uᵀ, without the n×n matrix.

Sums over the rows are taken block by block, in an order that Γ chooses. Class labels sort the rows by class: then sums
over each class replace products with the columns of U.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np
from scipy.sparse import csr_array

from ism_core.arrays import Array, Ints

PRODUCT_COLUMNS = 512  # largest width of a product with several columns of U at once
MIN_CLASS_ROWS = 5  # rows of every class that a sample holds at least, if the class has them


class Features(Protocol):
    """The features F of some rows."""

    def __getitem__(self, rows: slice, /) -> "Features":
        """Return the features of some of these rows."""

    def gathered(self, X: Array) -> Array:
        """FᵀX"""

    def times(self, G: Array) -> Array:
        """FG"""


@dataclass(frozen=True)
class Gamma:
    """Γ = U diag(s) Uᵀ"""

    U: Array  # n×r
    s: Array  # r signed weights

    @cached_property
    def dense(self) -> Array:
        """The n×n matrix, for few rows."""
        matrix: Array = (self.U * self.s) @ self.U.T
        return matrix

    def rows(self, block: slice) -> slice | Ints:
        """Return the rows of a block, in the order in which sums are taken."""
        return block

    def no_moments(self, m: int, d: int) -> Array:
        """Return an r×m×d array of zeros to which moments are added."""
        return np.zeros((len(self.s), m, d))

    def add_moments(self, total: Array, block: slice, F: Features, Z: Array) -> None:
        """Add Fᵀ Diag(ua) Z to total[a] for every column ua of U; F and Z belong to the rows of the block."""
        for some in self._groups(Z.shape[1]):
            U = self.U[block, some]
            weighted = (U[:, :, None] * Z[:, None, :]).reshape(len(Z), -1)
            total[some] += F.gathered(weighted).reshape(-1, U.shape[1], Z.shape[1]).transpose(1, 0, 2)

    def finished(self, total: Array) -> Array:
        """Return the moments once all rows are added; may overwrite `total`."""
        return total

    def spread(self, G: Array) -> Array:
        """Convert G, one matrix for each column of U, into the layout that `mix` requires."""
        return np.ascontiguousarray(G.transpose(1, 0, 2))

    def mix(self, block: slice, F: Features, G: Array) -> Array:
        """Return Σa Diag(ua) F G[a] for the rows of the block."""
        m, _, k = G.shape
        U = self.U[block]
        mixed = np.zeros((len(U), k))
        for some in self._groups(k):
            products = F.times(G[:, some].reshape(m, -1)).reshape(len(U), -1, k)
            mixed += np.einsum("ia,iak->ik", U[:, some], products)
        return mixed

    def absolute_moments(self, bins: Ints, count: int, columns: Array) -> Array:
        """Return Σ |uai| columns[i] over the rows i of each bin, as a count×r×k array."""
        gather = _gathering(bins, count)
        return np.stack([gather @ (u[:, None] * columns) for u in np.abs(self.U.T)], axis=1)

    @property
    def majorant(self) -> Array:
        """A positive semidefinite r×r matrix B with |Γij| ≤ Σab |uai| Bab |ubj|."""
        return np.diag(np.abs(self.s))

    def moment_flops(self, n: int, d: int, m: int) -> float:
        """Return the flops of the moments of n rows, for Z with d columns and F with m."""
        return float(2 * n * d * m * len(self.s))

    def sample(self, count: int, rng: np.random.Generator, fewest: int = MIN_CLASS_ROWS) -> Ints:
        """Return a random sample of the rows, in order.

        If rows have classes, every class has its share in the sample, and `fewest` rows at least if it has them.
        """
        return np.sort(rng.choice(len(self.U), count, replace=False))

    def restricted(self, rows: Ints) -> "Gamma":
        """Return Γ of some of the rows."""
        return Gamma(self.U[rows], self.s)

    def among(self, rows: Ints) -> "Gamma":
        """Return the Γij of all rows, for pairs of these rows. `restricted` computes Γ anew from their labels."""
        return Gamma(self.U[rows], self.s)

    def _groups(self, k: int) -> Iterator[slice]:
        step = max(1, PRODUCT_COLUMNS // max(k, 1))
        return (slice(start, start + step) for start in range(0, len(self.s), step))


@dataclass(frozen=True)
class LabelGamma(Gamma):
    """Γ = H Y Yᵀ H for the one-hot matrix Y of class labels.

    Sums over classes replace products, so that the cost of moments does not depend on the number of classes.
    """

    codes: Ints
    shares: Array  # of the classes among all rows

    @staticmethod
    def of(codes: Ints) -> "LabelGamma":
        """Return Γ of class numbers 0…k−1."""
        shares = np.bincount(codes) / len(codes)
        return LabelGamma(np.eye(len(shares))[codes] - shares, np.ones(len(shares)), codes, shares)

    def rows(self, block: slice) -> Ints:
        return self._order[block]

    def no_moments(self, m: int, d: int) -> Array:
        """Return zeros with contiguous features, the layout that products with features have."""
        return np.zeros((len(self.s), d, m)).transpose(0, 2, 1)

    def add_moments(self, total: Array, block: slice, F: Features, Z: Array) -> None:
        """Add the moments of the columns of Y; `finished` turns them into those of U."""
        for c, members in self._classes(block):
            total[c] += F[members].gathered(Z[members])

    def finished(self, total: Array) -> Array:
        everything = total.sum(axis=0)
        for moments, share in zip(total, self.shares, strict=True):
            moments -= share * everything
        return total

    def spread(self, G: Array) -> Array:
        spread: Array = G - np.tensordot(self.shares, G, axes=1)
        return spread

    def mix(self, block: slice, F: Features, G: Array) -> Array:
        mixed = np.empty((block.stop - block.start, G.shape[2]))
        for c, members in self._classes(block):
            mixed[members] = F[members].times(G[c])
        return mixed

    def absolute_moments(self, bins: Ints, count: int, columns: Array) -> Array:
        """Return the moments of the columns of Y: sums over the rows of each bin and class."""
        r = len(self.s)
        gathered = _gathering(bins * r + self.codes, count * r) @ columns
        return np.asarray(gathered).reshape(count, r, -1)

    @property
    def majorant(self) -> Array:
        """B for Y in place of U: the matrix of |Γij| between classes, with a shifted diagonal.

        The shift makes it positive semidefinite.
        """
        entries = np.abs(np.eye(len(self.s)) - self.shares - self.shares[:, None] + self.shares @ self.shares)
        majorant: Array = entries + max(0.0, -np.linalg.eigvalsh(entries)[0]) * np.eye(len(self.s))
        return majorant

    def moment_flops(self, n: int, d: int, m: int) -> float:
        return float(2 * n * d * m)

    def sample(self, count: int, rng: np.random.Generator, fewest: int = MIN_CLASS_ROWS) -> Ints:
        chosen = []
        for c in range(len(self.s)):
            members = np.flatnonzero(self.codes == c)
            wanted = max(fewest, round(count * len(members) / len(self.codes)))
            chosen.append(rng.choice(members, min(wanted, len(members)), replace=False))
        return np.sort(np.concatenate(chosen))

    def restricted(self, rows: Ints) -> "LabelGamma":
        return LabelGamma.of(np.unique(self.codes[rows], return_inverse=True)[1])

    def among(self, rows: Ints) -> "LabelGamma":
        return LabelGamma(self.U[rows], self.s, self.codes[rows], self.shares)

    def _classes(self, block: slice) -> Iterator[tuple[int, slice]]:
        """Yield the classes in a block, and the position of their rows in it."""
        first, last = self.codes[self._order[[block.start, block.stop - 1]]]
        for c in range(first, last + 1):
            start, stop = (min(max(end, block.start), block.stop) - block.start for end in self._ends[c : c + 2])
            if stop > start:
                yield c, slice(start, stop)

    @cached_property
    def _order(self) -> Ints:
        return np.argsort(self.codes, kind="stable")

    @cached_property
    def _ends(self) -> list[int]:
        counts = np.bincount(self.codes, minlength=len(self.s))
        return [0, *np.cumsum(counts).tolist()]


@dataclass(frozen=True)
class BalancedGamma(Gamma):
    """Γ = H Y diag(n/(k nc)) Yᵀ H: class indicators of equal norm, so that pairs of a rare class weigh more."""

    codes: Ints

    @staticmethod
    def of(codes: Ints) -> "BalancedGamma":
        """Return Γ of class numbers 0…k−1. If all classes have the same size, it equals `LabelGamma`."""
        counts = np.bincount(codes)
        onehot = np.eye(len(counts))[codes]
        return BalancedGamma(onehot - onehot.mean(axis=0), len(codes) / (len(counts) * counts), codes)

    def sample(self, count: int, rng: np.random.Generator, fewest: int = MIN_CLASS_ROWS) -> Ints:
        return LabelGamma.of(self.codes).sample(count, rng, fewest)

    def restricted(self, rows: Ints) -> "BalancedGamma":
        return BalancedGamma.of(np.unique(self.codes[rows], return_inverse=True)[1])


def _gathering(places: Ints, count: int) -> csr_array:
    """Return the count×n matrix whose product sums the rows that have the same place."""
    n = len(places)
    return csr_array((np.ones(n), (places, np.arange(n))), shape=(count, n))
