"""The Gaussian kernel truncated at a degree: exp(−‖pi‖²/2σ²) exp(−‖pj‖²/2σ²) Σ_{k ≤ degree} (pi·pj/σ²)^k/k!

The remainder is a sum of powers of pi·pj and hence a positive semidefinite kernel. By the Cauchy-Schwarz inequality, it
is at most √(ri rj) between rows i and j. Here ri is the remainder between row i and itself: the probability that a
Poisson variable of mean ‖pi‖²/σ² exceeds the degree, a regularized incomplete gamma function.
"""

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.special import factorial

from ism_core.arrays import Array
from ism_core.kernels.feature_maps import MonomialMap
from ism_core.kernels.monomials import Monomials, monomials

MAX_DEGREE = 100  # well below 170, above which factorials overflow


@dataclass(frozen=True)
class Taylor(MonomialMap):
    """factor · exp(−‖pi − pj‖²/2σ²) without the terms above the degree: the monomials of p up to the degree."""

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
        factors = np.exp(-0.5 * np.einsum("iq,iq->i", scaled, scaled))
        scaled[factors == 0] = 0  # the features are 0 there, even if a power of the coordinates overflows
        return scaled, factors
