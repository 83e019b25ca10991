"""Finite feature maps: a function of pairs of projected rows written as a sum over features of each row."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from ism_core.arrays import Array


@dataclass(frozen=True)
class FeatureMap:
    """Σm weights[m] · map(P)[i, m] · map(P)[j, m], with `count` features."""

    count: int
    map: Callable[[Array], Array]
    weights: Array


def constant_feature(slope: float) -> FeatureMap:
    """f′ is the same for every pair: one feature, which is 1."""
    return FeatureMap(1, lambda P: np.ones((len(P), 1)), np.array([slope]))


@lru_cache(maxsize=64)
def monomials(q: int, degree: int, gamma: float, c: float) -> FeatureMap:
    """(γ p·p′ + c)^degree as the C(q + degree, degree) monomials of p of at most that degree."""
    # A monomial of degree k is one of degree k − 1 (its parent) times a coordinate not before the parent's last one.
    steps: list[tuple[int, int]] = []
    exponents = [np.zeros(q, dtype=int)]
    last = [0]
    level = [0]
    for _ in range(degree):
        children = []
        for parent in level:
            for coordinate in range(last[parent], q):
                children.append(len(exponents))
                steps.append((parent, coordinate))
                exponents.append(exponents[parent] + (np.arange(q) == coordinate))
                last.append(coordinate)
        level = children

    def weight(exponent: Any) -> float:
        order = int(exponent.sum())
        multinomial = math.factorial(degree) / math.factorial(degree - order)
        for power in exponent:
            multinomial /= math.factorial(int(power))
        return float(multinomial * gamma**order * c ** (degree - order))

    weights = np.array([weight(exponent) for exponent in exponents])
    kept = np.flatnonzero(weights)

    def features(P: Array) -> Array:
        F = np.empty((len(exponents), len(P)))
        F[0] = 1
        coordinates = np.ascontiguousarray(P.T)
        for index, (parent, coordinate) in enumerate(steps, start=1):
            np.multiply(F[parent], coordinates[coordinate], out=F[index])
        return F[kept].T if len(kept) < len(exponents) else F.T

    return FeatureMap(len(kept), features, weights[kept])
