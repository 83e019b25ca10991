"""A Γ that depends on W: each row's class or values are predicted by its neighbors in the projection.

The kernel's value Kij is the nearness of two rows, and di + ε its sum over all other rows. The gradient of J is that of
Σij Γij Kij for a Γ that is fixed at its value for W, of low rank.
"""

from abc import abstractmethod
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ism_core.arrays import Array, Ints
from ism_core.gamma import MIN_CLASS_ROWS, Gamma, LabelGamma

ISOLATION = 0.01  # ε: rows whose summed kernel values with all others are below this hardly count


@dataclass(frozen=True)
class NeighborGamma(Gamma):
    """A Γ that depends on W. U and s are those of the fixed Γ from which W starts."""

    @property
    @abstractmethod
    def counted(self) -> Array:
        """The columns whose sums over the neighbors of each row, weighted by K, determine Γ and J."""

    @property
    @abstractmethod
    def compared(self) -> tuple[Ints, Array]:
        """The class or the values of each row; the other of the two is empty."""

    def at(self, sums: Array) -> tuple[Gamma, float]:
        """Return Γ and J, given the sums of the counted columns over the other rows, for every row."""
        return self.fixed(*self.split(sums))

    @abstractmethod
    def split(self, sums: Array) -> tuple[Array, Array]:
        """Return `own` and `degrees`, as `weights` takes them, given the sums of the counted columns."""

    @abstractmethod
    def weights(self, own: Array, degrees: Array) -> tuple[Array, Array, float]:
        """Return the weights w (n×t), the offsets o and J.

        2 Γij = Σt (yit wjt + wit yjt) + oi + oj, where Σt is over the values, or over the class if i and j have one.

        Parameters
        ----------
        own
            Σj Kij yj over the other rows, or the sum of K over those of row i's class.
        degrees
            The sum of K over all other rows.
        """

    @abstractmethod
    def fixed(self, own: Array, degrees: Array) -> tuple[Gamma, float]:
        """Return Γ and J, given the same."""

    @abstractmethod
    def by_chance(self, K: Array) -> float:
        """Return the expectation of J if the targets were shuffled; K is the kernel matrix with a zero diagonal."""

    @property
    def rank(self) -> int:
        """Number of columns of the factor of Γ at some W."""
        return 2 * int(self.counted.shape[1]) + 2


@dataclass(frozen=True)
class ClassNeighborGamma(NeighborGamma):
    """J = Σi pi, where pi is the share of row i's own class among its neighbors.

    Let si be the sum of K over the other rows of i's class. Then pi = si / (di + ε), and

        Γij = ½ (Yij − pi) / (di + ε) + ½ (Yij − pj) / (dj + ε),    Y = 1 within a class, else 0

    of rank 2k + 2 for k classes. Goldberger et al. (2004) take the same J with softmax weights.
    """

    codes: Ints

    @staticmethod
    def of(codes: Ints) -> "ClassNeighborGamma":
        """Return Γ of class numbers 0…k−1."""
        labels = LabelGamma.of(codes)
        return ClassNeighborGamma(labels.U, labels.s, codes)

    @cached_property
    def counted(self) -> Array:
        """The one-hot matrix of the classes."""
        onehot: Array = np.eye(self.codes.max() + 1)[self.codes]
        return onehot

    @property
    def compared(self) -> tuple[Ints, Array]:
        return self.codes, np.empty((len(self.codes), 0))

    def split(self, sums: Array) -> tuple[Array, Array]:
        sums = np.maximum(sums, 0)
        return sums[np.arange(len(sums)), self.codes, None], sums.sum(axis=1)

    def weights(self, own: Array, degrees: Array) -> tuple[Array, Array, float]:
        weights = 1 / (degrees + ISOLATION)
        shares = own[:, 0] * weights
        return weights[:, None], -shares * weights, float(shares.sum())

    def fixed(self, own: Array, degrees: Array) -> tuple[Gamma, float]:
        weights, offsets, objective = self.weights(own, degrees)
        return Gamma(*_symmetric(self.counted, weights * self.counted, offsets[:, None])), objective

    def by_chance(self, K: Array) -> float:
        counts = self.counted.sum(axis=0)
        return float(counts @ (counts - 1)) / (len(K) - 1)

    def sample(self, count: int, rng: np.random.Generator, fewest: int = MIN_CLASS_ROWS) -> Ints:
        return LabelGamma.of(self.codes).sample(count, rng, fewest)

    def restricted(self, rows: Ints) -> "ClassNeighborGamma":
        return ClassNeighborGamma.of(np.unique(self.codes[rows], return_inverse=True)[1])


@dataclass(frozen=True)
class ValueNeighborGamma(NeighborGamma):
    """J = Σi ‖yi‖² − ‖ri‖², where ri = yi − ŷi is the error of predicting row i's values from its neighbors.

    The prediction is kernel regression without the row itself, ŷi = Σj Kij yj / (di + ε), and

        Γij = ri·(yj − ŷi) / (di + ε) + rj·(yi − ŷj) / (dj + ε)

    of rank 2t + 2 for t targets. J is n times the R² of these predictions if the targets are standardized. Weinberger
    and Tesauro (2007) minimize the same errors by a matrix without constraints.
    """

    values: Array  # n×t, centered

    @cached_property
    def counted(self) -> Array:
        """The values, and a column of ones."""
        return np.column_stack([self.values, np.ones(len(self.values))])

    @property
    def rank(self) -> int:
        return 2 * int(self.values.shape[1]) + 2

    @property
    def compared(self) -> tuple[Ints, Array]:
        return np.empty(0, dtype=np.intp), self.values

    def split(self, sums: Array) -> tuple[Array, Array]:
        return sums[:, :-1], sums[:, -1]

    def weights(self, own: Array, degrees: Array) -> tuple[Array, Array, float]:
        nearness = 1 / (np.maximum(degrees, 0) + ISOLATION)
        predicted = own * nearness[:, None]
        errors = self.values - predicted
        weights = 2 * nearness[:, None] * errors
        objective = float(np.vdot(self.values, self.values) - np.vdot(errors, errors))
        return weights, -np.einsum("it,it->i", weights, predicted), objective

    def fixed(self, own: Array, degrees: Array) -> tuple[Gamma, float]:
        weights, offsets, objective = self.weights(own, degrees)
        return Gamma(*_symmetric(self.values, weights, offsets[:, None])), objective

    def by_chance(self, K: Array) -> float:
        n, total = len(K), float(np.vdot(self.values, self.values))
        own, other = total / n, -total / (n * (n - 1))  # the expected products of a row with itself and with another
        sums, squares = K.sum(axis=1), (K**2).sum(axis=1)
        weights = 1 / (sums + ISOLATION)
        length = weights**2 * (squares * own + (sums**2 - squares) * other)
        return float((2 * weights * sums * other - length).sum())

    def restricted(self, rows: Ints) -> "ValueNeighborGamma":
        return ValueNeighborGamma(self.U[rows], self.s, self.values[rows])


def _symmetric(Y: Array, weighted: Array, offsets: Array) -> tuple[Array, Array]:
    """Return U and s of ½ (Y weightedᵀ + weighted Yᵀ) + ½ (offsets 1ᵀ + 1 offsetsᵀ), as differences of squares."""
    left, right = np.hstack([Y, np.ones_like(offsets)]), np.hstack([weighted, offsets])
    balance = np.sqrt(
        np.linalg.norm(right, axis=0) / np.linalg.norm(left, axis=0)
    )  # equal norms keep cancellation small
    balance[balance == 0] = 1.0
    left, right = left * balance, right / balance
    ones = np.ones(left.shape[1])
    return np.hstack([left + right, left - right]), np.concatenate([ones, -ones]) / 4
