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
    """How the features of some rows are made, as what is compiled takes it."""

    rows: Array  # what the features are of
    factors: Array  # of monomials, one a row
    steps: Ints  # in which monomials are made of those of a degree less
    begin: int  # the first monomial that counts
    frequencies: Array  # of waves, one a column; no columns where features are monomials

    def of(self, rows: slice) -> "Recipe":
        """The same for some of the rows."""
        return self._replace(rows=self.rows[rows], factors=self.factors[rows])


class FeatureMap(ABC):
    """`count` is known at once; whether the features are worth making is decided by it."""

    count: int

    @property
    @abstractmethod
    def weights(self) -> Array:
        """One signed number for each feature."""

    @abstractmethod
    def of(self, P: Array, memory: Array | None = None) -> Array:
        """The features of each row; written into the memory, `made` numbers a row, where that is given."""

    @property
    def made(self) -> int:
        """How many numbers a row are made on the way."""
        return self.count


class Compilable(FeatureMap):
    """A map whose features can be made by what is compiled, and are summed faster then."""

    @abstractmethod
    def recipe(self, P: Array) -> Recipe:
        """For the features of rows P."""


class OfMonomials(Compilable):
    """The monomials of a row up to a degree, from some first one on, times a factor."""

    monomials: Monomials
    begin: int = 0

    @abstractmethod
    def prepared(self, P: Array) -> tuple[Array, Array]:
        """What the monomials are taken of, and the factor of each row."""

    @property
    def made(self) -> int:
        return self.monomials.count

    def of(self, P: Array, memory: Array | None = None) -> Array:
        memory = np.empty(self.made * len(P)) if memory is None else memory
        return self.monomials.of(*self.prepared(P), memory)[self.begin :].T

    def recipe(self, P: Array) -> Recipe:
        rows, factors = self.prepared(P)
        return Recipe(np.ascontiguousarray(rows), factors, self.monomials.table, self.begin, np.empty((P.shape[1], 0)))


class Differentiable(FeatureMap):
    """A map whose features have derivatives that are sums of the features again."""

    @abstractmethod
    def derivatives(self, coefficients: Array) -> Array:
        """G with ∇p Σm coefficients[a, m] φm(p) = Σm φm(p) G[a, m], for each a."""


@dataclass(frozen=True)
class TermMap:
    """The feature maps of one term of a kernel.

    J comes from the sums of f′ that Φ needs anyway: f(β) = (a β + b) f′(β), with `ratio` = (a, b). Without a ratio, as
    where the features are so few that f from f′ would be off, `value` is Differentiable and has the features of `slope`
    under other weights. Then J has the same sums, and its true derivative stands for Φ(W)W.
    """

    form: Form
    slope: FeatureMap  # of f′
    value: FeatureMap  # of f
    ratio: tuple[float, float] | None
    weight: float = 1.0  # of the term in its kernel


@dataclass(frozen=True)
class Constant(FeatureMap):
    """The same number for every pair: one feature, which is 1."""

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
class Power(OfMonomials):
    """factor · (γ pi·pj + c)^degree: the monomials of p of at most that degree, or of just that degree where c is 0."""

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
        """The multinomial coefficients, with the powers of γ and c.

        Infinite where they are too large for a number, which whoever uses the map's values finds out.
        """
        exponents = self.monomials.exponents[self.begin :]
        orders = exponents.sum(axis=1)
        ways = factorial(self.degree) / factorial(self.degree - orders) / factorial(exponents).prod(axis=1)
        with np.errstate(over="ignore", invalid="ignore"):
            weights = self.factor * ways * np.power(self.gamma, orders) * np.power(self.c, self.degree - orders)
        return np.where(np.isnan(weights), np.inf, weights)

    def prepared(self, P: Array) -> tuple[Array, Array]:
        return P, np.ones(len(P))
