"""Finite feature maps: a function of pairs of projected rows as Σm weights[m] · φm(pi) · φm(pj)."""

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ism_core.arrays import Array


class FeatureMap(ABC):
    """`count` is known at once; whether the features are worth making is decided by it."""

    count: int

    @property
    @abstractmethod
    def weights(self) -> Array:
        """One signed number for each feature."""

    @abstractmethod
    def of(self, P: Array) -> Array:
        """The features of each row."""


@dataclass(frozen=True)
class Constant(FeatureMap):
    """The same number for every pair: one feature, which is 1."""

    number: float
    count: int = field(default=1, init=False)

    @property
    def weights(self) -> Array:
        return np.array([self.number])

    def of(self, P: Array) -> Array:
        return np.ones((len(P), 1))


@dataclass(frozen=True)
class Product(FeatureMap):
    """pi·pj"""

    count: int

    @property
    def weights(self) -> Array:
        return np.ones(self.count)

    def of(self, P: Array) -> Array:
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

    def of(self, P: Array) -> Array:
        norms = np.einsum("iq,iq->i", P, P)[:, None]
        return np.hstack([P, 1 - norms, 1 + norms])


@dataclass(frozen=True)
class Power(FeatureMap):
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
    def _monomials(self) -> "list[Monomial]":
        return monomials(self.q, self.degree)

    @cached_property
    def _kept(self) -> NDArray[np.intp]:
        orders = np.array([monomial.exponents.sum() for monomial in self._monomials])
        return np.flatnonzero((orders == self.degree) | (self.c > 0))

    @cached_property
    def weights(self) -> Array:
        """The multinomial coefficients, with the powers of γ and c."""
        return np.array([self._weight(self._monomials[index].exponents) for index in self._kept])

    def _weight(self, exponents: Array) -> float:
        """One of them; infinite where it is too large for a number, which whoever uses the map's values finds out."""
        order = int(exponents.sum())
        ways = math.factorial(self.degree) // math.factorial(self.degree - order)
        for power in exponents[exponents > 1]:
            ways //= math.factorial(int(power))
        try:
            return self.factor * ways * self.gamma**order * self.c ** (self.degree - order)
        except OverflowError:
            return math.inf

    def of(self, P: Array) -> Array:
        F = np.empty((len(self._monomials), len(P)))
        F[0] = 1
        coordinates = np.ascontiguousarray(P.T)
        for index, monomial in enumerate(self._monomials[1:], start=1):
            np.multiply(F[monomial.parent], coordinates[monomial.coordinate], out=F[index])
        return F.T if len(self._kept) == len(F) else F[self._kept].T


class Monomial(NamedTuple):
    """A monomial of one degree less, the coordinate that it is multiplied by, and the exponents of the product."""

    parent: int
    coordinate: int
    exponents: Array


@lru_cache(maxsize=32)
def monomials(q: int, degree: int) -> list[Monomial]:
    """The monomials in q coordinates up to a degree, each after its parent."""
    found = [Monomial(0, 0, np.zeros(q))]
    level = [0]
    for _ in range(degree):
        children = []
        for parent in level:
            for coordinate in range(found[parent].coordinate, q):  # not before the parent's own: each is made once
                children.append(len(found))
                found.append(Monomial(parent, coordinate, found[parent].exponents + (np.arange(q) == coordinate)))
        level = children
    return found
