"""The gaussian kernel cut at a degree: exp(−‖pi‖²/2σ²) exp(−‖pj‖²/2σ²) Σ_{k ≤ degree} (pi·pj/σ²)^k/k!

What is left out is a kernel of its own, positive semidefinite as each power of pi·pj is, so that it is at most √(ri rj)
in size between rows i and j. Here ri is what is left out between row i and itself: the chance that a Poisson variable
of mean ‖pi‖²/σ² exceeds the degree, a regularized incomplete gamma function.
"""

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.special import factorial

from ism_core.arrays import Array
from ism_core.kernels.feature_maps import OfMonomials
from ism_core.kernels.monomials import Monomials, monomials

MAX_DEGREE = 100  # of features whose factorials are numbers


@dataclass(frozen=True)
class Taylor(OfMonomials):
    """factor · exp(−‖pi − pj‖²/2σ²) but for terms of more than that degree: the monomials of p up to it."""

    q: int
    degree: int
    sigma: float
    factor: float = 1.0

    @property
    def count(self) -> int:  # type: ignore[override]
        return math.comb(self.q + self.degree, self.degree)

    @property
    def monomials(self) -> Monomials:  # type: ignore[override]
        return monomials(self.q, self.degree)

    @cached_property
    def weights(self) -> Array:
        exponents = self.monomials.exponents
        weights: Array = self.factor / factorial(exponents).prod(axis=1)
        return weights

    def prepared(self, P: Array) -> tuple[Array, Array]:
        scaled = P / self.sigma
        return scaled, np.exp(-0.5 * np.einsum("iq,iq->i", scaled, scaled))
