"""Finite feature maps: a function of pairs of projected rows as Σm weights[m] · φm(pi) · φm(pj)."""

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal, NamedTuple

import numpy as np
from scipy.special import factorial

from ism_core.arrays import Array, Ints
from ism_core.kernels.monomials import Monomials, monomials

Form = Literal["product", "difference"]


class Recipe(NamedTuple):
    """How compiled code makes the features of some rows."""

    rows: Array  # the coordinates
    factors: Array  # of the monomials, one for each row
    steps: Ints  # products that compute monomials from those of one degree lower, see `Monomials.table`
    begin: int  # the first monomial that is a feature
    frequencies: Array  # of random features, one in each column; none if features are monomials

    def of(self, rows: slice) -> "Recipe":
        """Return the recipe for some of the rows."""
        return self._replace(rows=self.rows[rows], factors=self.factors[rows])


class FeatureMap(ABC):
    """A function of pairs of rows as a finite sum; `count`, the number of features, is known without making them."""

    count: int

    @property
    @abstractmethod
    def weights(self) -> Array:
        """The signed weight of each feature."""

    @abstractmethod
    def of(self, P: Array, memory: Array | None = None) -> Array:
        """Return the features of each row.

        If `memory` is given, they are written there; it needs `numbers_per_row` numbers for each row.
        """

    @property
    def numbers_per_row(self) -> int:
        """The number of numbers that are computed for each row."""
        return self.count


class Compilable(FeatureMap):
    """A map whose features compiled code can make."""

    @abstractmethod
    def recipe(self, P: Array) -> Recipe:
        """Return the recipe for the features of P."""


class MonomialMap(Compilable):
    """Monomials of a row up to a degree, from the monomial `begin` on, times a factor for each row."""

    monomials: Monomials
    begin: int = 0

    @abstractmethod
    def prepared(self, P: Array) -> tuple[Array, Array]:
        """Return the coordinates of the monomials, and the factor of each row."""

    @property
    def numbers_per_row(self) -> int:
        return self.monomials.count

    def of(self, P: Array, memory: Array | None = None) -> Array:
        memory = np.empty(self.numbers_per_row * len(P)) if memory is None else memory
        return self.monomials.of(*self.prepared(P), memory)[self.begin :].T

    def recipe(self, P: Array) -> Recipe:
        rows, factors = self.prepared(P)
        return Recipe(np.ascontiguousarray(rows), factors, self.monomials.table, self.begin, np.empty((P.shape[1], 0)))


class Differentiable(FeatureMap):
    """A map whose span of features is closed under differentiation."""

    @abstractmethod
    def derivatives(self, coefficients: Array) -> Array:
        """Return G with ∇p Σm coefficients[a, m] φm(p) = Σm φm(p) G[a, m], for each a."""


@dataclass(frozen=True)
class TermMap:
    """The feature maps of one term of a kernel.

    With `ratio` = (a, b), f(β) = (a β + b) f′(β), so that J follows from the sums of f′ that Φ needs anyway. Random
    features have no ratio, since f computed from f′ would not be accurate. Then `value` is Differentiable and has the
    features of `derivative` with other weights. J uses the same sums, and Φ(W)W is the exact derivative of this J.
    """

    form: Form
    derivative: FeatureMap  # for f′
    value: FeatureMap  # for f
    ratio: tuple[float, float] | None
    weight: float = 1.0  # of the term in its kernel


@dataclass(frozen=True)
class Constant(FeatureMap):
    """A constant for every pair: the only feature is 1."""

    number: float
    count: int = field(default=1, init=False)

    @property
    def weights(self) -> Array:
        return np.array([self.number])

    def of(self, P: Array, memory: Array | None = None) -> Array:
        return np.ones((len(P), 1))


@dataclass(frozen=True)
class Product(FeatureMap):
    """pi·pj"""

    count: int

    @property
    def weights(self) -> Array:
        return np.ones(self.count)

    def of(self, P: Array, memory: Array | None = None) -> Array:
        return P


@dataclass(frozen=True)
class NegativeSquare(FeatureMap):
    """−‖pi − pj‖² = 2 pi·pj + ½(1 − a)(1 − b) − ½(1 + a)(1 + b), with a = ‖pi‖² and b = ‖pj‖²"""

    q: int

    @property
    def count(self) -> int:  # type: ignore[override]
        return self.q + 2

    @property
    def weights(self) -> Array:
        return np.array([2.0] * self.q + [0.5, -0.5])

    def of(self, P: Array, memory: Array | None = None) -> Array:
        norms = np.einsum("iq,iq->i", P, P)[:, None]
        return np.hstack([P, 1 - norms, 1 + norms])


@dataclass(frozen=True)
class Power(MonomialMap):
    """factor · (γ pi·pj + c)^degree: the monomials of p up to that degree, or of exactly that degree if c is 0."""

    q: int
    degree: int
    gamma: float
    c: float
    factor: float = 1.0

    @property
    def count(self) -> int:  # type: ignore[override]
        return math.comb(self.q + self.degree - (self.c == 0), self.degree)

    @property
    def monomials(self) -> Monomials:  # type: ignore[override]
        return monomials(self.q, self.degree)

    @property
    def begin(self) -> int:  # type: ignore[override]
        return 0 if self.c > 0 else self.monomials.last.start

    @cached_property
    def weights(self) -> Array:
        """The multinomial coefficients times powers of γ and c; infinite if they overflow, which makes J infinite."""
        exponents = self.monomials.exponents[self.begin :]
        orders = exponents.sum(axis=1)
        ways = factorial(self.degree) / factorial(self.degree - orders) / factorial(exponents).prod(axis=1)
        with np.errstate(over="ignore", invalid="ignore"):
            weights = self.factor * ways * np.power(self.gamma, orders) * np.power(self.c, self.degree - orders)
        return np.where(np.isnan(weights), np.inf, weights)

    def prepared(self, P: Array) -> tuple[Array, Array]:
        return P, np.ones(len(P))
