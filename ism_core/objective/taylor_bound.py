"""How far gaussian features cut at a degree can put J and Φ(W)W off, proven; and the least degree that is near enough.

With ci = √ri, of what is left out for row i (see `kernels.taylor`), f is off by at most ci cj and f′ by ci cj/2σ².
With sums over all pairs of rows, and a B that is nowhere less than |Γ|,

    |ΔJ|     ≤  Σ Bij ci cj
    ‖ΔΦW‖   ≤  Σ Bij ci cj ‖xi − xj‖ ‖pi − pj‖/2σ²  ≤  √(Σ Bij ci cj ‖xi − xj‖²) √(Σ Bij ci cj ‖pi − pj‖²)/2σ²

by Cauchy and Schwarz. All are sums of products of numbers of row i and of row j. B is positive semidefinite, so that
Σ Bij ci cj xi·xj ≥ 0 may be left away. ri depends on ‖pi‖² alone: the rows are sorted into bins of it once, as if each
were at the upper edge of its bin, and after that a degree costs next to nothing.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import gammainc

from ism_core.arrays import Array
from ism_core.gamma import Gamma
from ism_core.kernels import MAX_DEGREE, Kernel, Taylor, TermMap, taylor_maps

RATIO = 0.01  # of a bin's edges, in logarithms: the bound is at most (degree + 1)·RATIO/2 too large for it
BINS = 1_200  # the last one, down to 0, begins at 6e-6 of the largest ‖p‖²
MARGIN = 1e-9  # for the rounding of the bins and of the incomplete gamma function


@dataclass(frozen=True)
class ErrorBound:
    """Absolute, and without rounding."""

    objective: float  # on |ΔJ|
    gradient: float  # on ‖ΔΦ(W)W‖, Frobenius


@dataclass(frozen=True)
class ProjectedNorms:
    """Sums over the rows of each bin, weighted by Γ, from which the bounds for any σ and degree follow."""

    edges: Array  # the largest ‖p‖² of each bin
    moments: Array  # bins×r×(q + 3): of p, ‖p‖², ‖x‖² and 1
    majorant: Array  # r×r

    @staticmethod
    def of(P: Array, row_norms: Array, gamma: Gamma) -> "ProjectedNorms":
        """For projected rows, and the lengths of the rows of X, or of X less any one row: the shorter, the better."""
        centered = P - P.mean(axis=0)
        squares = np.einsum("iq,iq->i", centered, centered)
        largest = max(float(squares.max(initial=0.0)), np.finfo(float).tiny)
        with np.errstate(divide="ignore"):
            places = np.log(largest / squares) / RATIO
        bins = np.minimum(places, BINS - 1).astype(np.intp)
        edges = largest * np.exp(-RATIO * np.arange(BINS)) * (1 + MARGIN)
        columns = np.column_stack([centered, squares, row_norms**2, np.ones_like(squares)])
        return ProjectedNorms(edges, gamma.absolute_moments(bins, BINS, columns), gamma.majorant)

    def bound(self, maps: Sequence[TermMap]) -> ErrorBound:
        """The sum over the terms that are cut; others are exact."""
        objective = gradient = 0.0
        for each in maps:
            if isinstance(each.slope, Taylor) and isinstance(each.value, Taylor):
                roots = np.sqrt(gammainc(each.slope.degree + 1, self.edges / each.slope.sigma**2)) * (1 + MARGIN)
                sums = np.tensordot(roots, self.moments, axes=1)
                pairs = sums.T @ self.majorant @ sums
                p, p2, x2, one = pairs.diagonal()[:-3].sum(), *pairs[-1, -3:]
                objective += each.weight * abs(each.value.factor) * one
                gradient += each.weight * abs(each.slope.factor) * 2 * math.sqrt(x2 * max(p2 * (1 + MARGIN) - p, 0.0))
        return ErrorBound(objective, gradient)


def least_degree(kernel: Kernel, q: int, norms: ProjectedNorms, allowed: ErrorBound, max_features: int) -> int | None:
    """The least degree whose bounds are within the allowed ones, or None if that takes more features than those."""
    for degree in range(MAX_DEGREE + 1):
        maps = taylor_maps(kernel, q, degree)
        if maps is None or math.comb(q + degree, degree) > max_features:
            return None
        bound = norms.bound(maps)
        if bound.objective <= allowed.objective and bound.gradient <= allowed.gradient:
            return degree
    return None
