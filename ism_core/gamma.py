"""Γ, which pairs of rows should be alike, as a low-rank product: Γ = U diag(s) Uᵀ. The n×n matrix is never formed.

Sums over the rows are taken block by block, in an order that Γ chooses: class labels put the rows of a class side by
side, so that sums over classes stand for products with the columns of U.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np
from scipy.sparse import csr_array

from ism_core.arrays import Array, Ints

LONELY = 0.01  # ε: a row whose neighbors all together are no nearer than this hardly counts
WIDTH = 512  # columns of a product, before the columns of U are taken a few at a time


class Features(Protocol):
    """F, the features of some rows."""

    def __getitem__(self, rows: slice, /) -> "Features":
        """Of some of these."""

    def gathered(self, X: Array) -> Array:
        """FᵀX"""

    def times(self, G: Array) -> Array:
        """FG"""


@dataclass(frozen=True)
class Gamma:
    """U is n×r and s holds r signed weights."""

    U: Array
    s: Array

    def rows(self, block: slice) -> slice | Ints:
        """Which rows lie in a block of the order that sums are taken in."""
        return block

    def no_moments(self, m: int, d: int) -> Array:
        """An r×m×d array of zeros, to add moments to."""
        return np.zeros((len(self.s), m, d))

    def add_moments(self, total: Array, block: slice, F: Features, Z: Array) -> None:
        """Add Fᵀ Diag(ua) Z to total[a] for every column ua of U, where F and Z are of the rows of the block."""
        for some in self._groups(Z.shape[1]):
            U = self.U[block, some]
            weighted = (U[:, :, None] * Z[:, None, :]).reshape(len(Z), -1)
            total[some] += F.gathered(weighted).reshape(-1, U.shape[1], Z.shape[1]).transpose(1, 0, 2)

    def finished(self, total: Array) -> Array:
        """What the moments added up to, once all rows are in; written over them."""
        return total

    def spread(self, G: Array) -> Array:
        """G[a] for every column of U, made ready for `mix`."""
        return np.ascontiguousarray(G.transpose(1, 0, 2))

    def mix(self, block: slice, F: Features, G: Array) -> Array:
        """Σa Diag(ua) F G[a] for the rows of the block."""
        m, _, k = G.shape
        U = self.U[block]
        mixed = np.zeros((len(U), k))
        for some in self._groups(k):
            products = F.times(G[:, some].reshape(m, -1)).reshape(len(U), -1, k)
            mixed += np.einsum("ia,iak->ik", U[:, some], products)
        return mixed

    def absolute_moments(self, bins: Ints, count: int, columns: Array) -> Array:
        """Σ |uai| columns[i] over the rows i of each bin, as a count×r×k array."""
        gather = _gathering(bins, count)
        return np.stack([gather @ (u[:, None] * columns) for u in np.abs(self.U.T)], axis=1)

    @property
    def majorant(self) -> Array:
        """An r×r positive semidefinite B: |Γij| ≤ Σab |uai| Bab |ubj|."""
        return np.diag(np.abs(self.s))

    def moment_flops(self, d: int, m: int) -> float:
        """What the moments cost for Z with d columns and F with m."""
        n, r = self.U.shape
        return float(2 * n * d * m * r)

    def sample(self, count: int, rng: np.random.Generator) -> Ints:
        """Some of the rows, in order."""
        return np.sort(rng.choice(len(self.U), count, replace=False))

    def restricted(self, rows: Ints) -> "Gamma":
        """Γ among some of the rows."""
        return Gamma(self.U[rows], self.s)

    def _groups(self, k: int) -> Iterator[slice]:
        step = max(1, WIDTH // max(k, 1))
        return (slice(start, start + step) for start in range(0, len(self.s), step))


@dataclass(frozen=True)
class LabelGamma(Gamma):
    """Γ = H Y Yᵀ H for the one-hot Y of class labels: with sums over classes, their number costs nothing."""

    codes: Ints

    @staticmethod
    def of(codes: Ints) -> "LabelGamma":
        """From class numbers 0…k−1."""
        onehot = np.eye(codes.max() + 1)[codes]
        return LabelGamma(onehot - onehot.mean(axis=0), np.ones(onehot.shape[1]), codes)

    def rows(self, block: slice) -> Ints:
        return self._order[block]

    def no_moments(self, m: int, d: int) -> Array:
        """With the features side by side in memory, as products with them are."""
        return np.zeros((len(self.s), d, m)).transpose(0, 2, 1)

    def add_moments(self, total: Array, block: slice, F: Features, Z: Array) -> None:
        """Of the columns of Y; those of U are left to `finished`."""
        for c, members in self._classes(block):
            total[c] += F[members].gathered(Z[members])

    def finished(self, total: Array) -> Array:
        everything = total.sum(axis=0)
        for moments, share in zip(total, self._shares, strict=True):
            moments -= share * everything
        return total

    def spread(self, G: Array) -> Array:
        spread: Array = G - np.tensordot(self._shares, G, axes=1)
        return spread

    def mix(self, block: slice, F: Features, G: Array) -> Array:
        mixed = np.empty((block.stop - block.start, G.shape[2]))
        for c, members in self._classes(block):
            mixed[members] = F[members].times(G[c])
        return mixed

    def absolute_moments(self, bins: Ints, count: int, columns: Array) -> Array:
        """Of the columns of Y: sums over the rows of each bin and class."""
        r = len(self.s)
        gathered = _gathering(bins * r + self.codes, count * r) @ columns
        return np.asarray(gathered).reshape(count, r, -1)

    @property
    def majorant(self) -> Array:
        """For Y in place of U: |Γij| itself, which is the same for all pairs of two classes, made semidefinite."""
        entries = np.abs(np.eye(len(self.s)) - self._shares - self._shares[:, None] + self._shares @ self._shares)
        majorant: Array = entries + max(0.0, -np.linalg.eigvalsh(entries)[0]) * np.eye(len(self.s))
        return majorant

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

    def _classes(self, block: slice) -> Iterator[tuple[int, slice]]:
        """The classes in a block, and where in it their rows lie."""
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

    @cached_property
    def _shares(self) -> Array:
        shares: Array = np.bincount(self.codes, minlength=len(self.s)) / len(self.codes)
        return shares


@dataclass(frozen=True)
class BalancedGamma(Gamma):
    """Γ = H Y diag(n/(k nc)) Yᵀ H: class indicators of one length, so that pairs of a rare class weigh more."""

    codes: Ints

    @staticmethod
    def of(codes: Ints) -> "BalancedGamma":
        """From class numbers 0…k−1. Classes of one size weigh 1, as without weights."""
        counts = np.bincount(codes)
        onehot = np.eye(len(counts))[codes]
        return BalancedGamma(onehot - onehot.mean(axis=0), len(codes) / (len(counts) * counts), codes)

    def sample(self, count: int, rng: np.random.Generator) -> Ints:
        return LabelGamma.of(self.codes).sample(count, rng)

    def restricted(self, rows: Ints) -> "BalancedGamma":
        return BalancedGamma.of(np.unique(self.codes[rows], return_inverse=True)[1])


@dataclass(frozen=True)
class NeighborGamma(Gamma):
    """A Γ that follows W, with J = Σi pi, where pi is the share that row i's own class has among its neighbors.

    With the kernel's values Kij as the nearness of two rows, si the sum over the others of i's class and di that over
    all others, pi = si / (di + ε). The gradient of J is that of Σ Γij Kij with Γ held fixed at

        Γij = ½ (Yij − pi) / (di + ε) + ½ (Yij − pj) / (dj + ε),    Y = 1 within a class, else 0

    of rank 2k + 2 for k classes (Goldberger et al., 2004, take the same J with softmax weights). What U and s hold is Γ
    of the labels: it is where W begins.
    """

    codes: Ints

    @staticmethod
    def of(codes: Ints) -> "NeighborGamma":
        """From class numbers 0…k−1."""
        labels = LabelGamma.of(codes)
        return NeighborGamma(labels.U, labels.s, codes)

    def at(self, nearness: Array) -> tuple[Gamma, float]:
        """Γ and J where the values of K of every row, its own left out, add up to these for each class."""
        rows = np.arange(len(nearness))
        weights = 1 / (nearness.sum(axis=1) + LONELY)
        shares = nearness[rows, self.codes] * weights
        offsets = shares * weights
        return Gamma(*_symmetric(self.onehot, weights[:, None] * self.onehot, -offsets[:, None])), float(shares.sum())

    @cached_property
    def onehot(self) -> Array:
        """Y's factor."""
        onehot: Array = np.eye(self.codes.max() + 1)[self.codes]
        return onehot

    def sample(self, count: int, rng: np.random.Generator) -> Ints:
        return LabelGamma.of(self.codes).sample(count, rng)

    def restricted(self, rows: Ints) -> "NeighborGamma":
        return NeighborGamma.of(np.unique(self.codes[rows], return_inverse=True)[1])


def _symmetric(Y: Array, weighted: Array, offsets: Array) -> tuple[Array, Array]:
    """U and s of ½ (Y weightedᵀ + weighted Yᵀ) + ½ (offsets 1ᵀ + 1 offsetsᵀ), each as a difference of two squares."""
    left, right = np.hstack([Y, np.ones_like(offsets)]), np.hstack([weighted, offsets])
    balance = np.sqrt(np.linalg.norm(right, axis=0) / np.linalg.norm(left, axis=0))  # so that little cancels out
    balance[balance == 0] = 1.0
    left, right = left * balance, right / balance
    ones = np.ones(left.shape[1])
    return np.hstack([left + right, left - right]), np.concatenate([ones, -ones]) / 4


def _gathering(places: Ints, count: int) -> csr_array:
    """The count×n matrix that adds up the rows of each place."""
    n = len(places)
    return csr_array((np.ones(n), (places, np.arange(n))), shape=(count, n))
