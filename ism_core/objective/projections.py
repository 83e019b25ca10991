"""Proven bounds on the errors of J and Φ(W)W if gaussian features are truncated, and the least degree within a bound.

With ci = √ri for the remainder ri of row i (see `kernels.taylor`), the error of f is at most ci cj, and that of f′ at
most ci cj/2σ². With sums over all pairs of rows, and a B with Bij ≥ |Γij|,

    |ΔJ|     ≤  Σ Bij ci cj
    ‖ΔΦW‖   ≤  Σ Bij ci cj ‖xi − xj‖ ‖pi − pj‖/2σ²  ≤  √(Σ Bij ci cj ‖xi − xj‖²) √(Σ Bij ci cj ‖pi − pj‖²)/2σ²

by Cauchy and Schwarz. All are sums of products of numbers of row i and of row j. B is positive semidefinite, so that
Σ Bij ci cj xi·xj ≥ 0 may be omitted. ri depends on ‖pi‖² alone: the rows are sorted into bins of ‖pi‖² once, and count
as if they were at the upper edge of their bin. After that, the bound for a degree costs next to nothing.

The projected rows XW and their norms are kept for the last W.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.special import gammainc

from ism_core.arrays import Array
from ism_core.gamma import Gamma
from ism_core.kernels import MAX_DEGREE, Kernel, Taylor, TermMap, taylor_maps
from ism_core.linalg import row_passes

BIN_WIDTH = 0.01  # in log ‖p‖²; it makes the bound too large by at most (degree + 1) · BIN_WIDTH/2
BINS = 1_200  # the last bin holds all ‖p‖² below 6e-6 of the largest
MARGIN = 1e-9  # relative; covers rounding errors of the bins and of the incomplete gamma function


@dataclass(frozen=True)
class ErrorBound:
    """Absolute bounds, or sizes, of J and Φ(W)W."""

    objective: float  # of |ΔJ|
    gradient: float  # of ‖ΔΦ(W)W‖ in the Frobenius norm


@dataclass(frozen=True)
class ProjectedNorms:
    """Sums over the rows of each bin, weighted by Γ; the bounds for any σ and degree follow from them."""

    edges: Array  # largest ‖p‖² of each bin
    moments: Array  # bins×r×(q + 3): of p, ‖p‖², ‖x‖² and 1
    majorant: Array  # r×r

    @staticmethod
    def of(P: Array, row_norms: Array, gamma: Gamma) -> "ProjectedNorms":
        """Sort projected rows into bins; `row_norms` are norms of the rows of X minus any center."""
        centered = P - P.mean(axis=0)
        squares = np.einsum("iq,iq->i", centered, centered)
        largest = max(float(squares.max(initial=0.0)), np.finfo(float).tiny)
        with np.errstate(divide="ignore"):
            places = np.log(largest / squares) / BIN_WIDTH
        bins = np.minimum(places, BINS - 1).astype(np.intp)
        edges = largest * np.exp(-BIN_WIDTH * np.arange(BINS)) * (1 + MARGIN)
        columns = np.column_stack([centered, squares, row_norms**2, np.ones_like(squares)])
        return ProjectedNorms(edges, gamma.absolute_moments(bins, BINS, columns), gamma.majorant)

    def bound(self, maps: Sequence[TermMap]) -> ErrorBound:
        """Return the bounds, summed over the truncated terms; other terms are exact."""
        objective = gradient = 0.0
        for each in maps:
            value, derivative = each.value, each.derivative
            if isinstance(derivative, Taylor) and isinstance(value, Taylor):
                roots = np.sqrt(gammainc(derivative.degree + 1, self.edges / derivative.sigma**2)) * (1 + MARGIN)
                sums = np.tensordot(roots, self.moments, axes=1)
                pairs = sums.T @ self.majorant @ sums
                p, p2, x2, one = pairs.diagonal()[:-3].sum(), *pairs[-1, -3:]
                objective += each.weight * abs(value.factor) * one
                gradient += each.weight * abs(derivative.factor) * 2 * math.sqrt(x2 * max(p2 * (1 + MARGIN) - p, 0.0))
        return ErrorBound(objective, gradient)


def least_degree(kernel: Kernel, q: int, norms: ProjectedNorms, allowed: ErrorBound, max_features: int) -> int | None:
    """Return the least degree whose bounds are within the allowed ones; None if it takes more than `max_features`."""
    for degree in range(MAX_DEGREE + 1):
        maps = taylor_maps(kernel, q, degree)
        if maps is None or math.comb(q + degree, degree) > max_features:
            return None
        bound = norms.bound(maps)
        if bound.objective <= allowed.objective and bound.gradient <= allowed.gradient:
            return degree
    return None


MEAN_ROWS = 1_000  # rows that the center is estimated from
SAME_BASIS = 1e-12  # largest difference that rounding leaves between two bases of one subspace


class Projections:
    """Φ(W), Φ(W)W, several tolerances and an error bound all need XW at the same W: it is computed once.

    Several threads may share an instance. Each cache holds one immutable tuple that is read and replaced as a whole, so
    that a thread never combines the W of one call with the projected rows of another.
    """

    def __init__(self, X: Array) -> None:
        self._X = X
        self._projected: tuple[Array, Array] | None = None  # W and XW
        self._coordinates: tuple[Array, Array] | None = None  # an orthonormal basis and X in it
        self._norms: tuple[Array, Gamma, ProjectedNorms] | None = None

    def projected(self, W: Array) -> Array:
        """XW"""
        known = self._projected
        if known is None or not np.array_equal(known[0], W):
            known = self._projected = W, self._project(W)
        return known[1]

    def remember(self, basis: Array, coordinates: Array) -> None:
        """Keep the rows in an orthonormal basis: XW follows from them if W lies in its span."""
        self._coordinates = basis, coordinates

    def norms(self, W: Array, gamma: Gamma) -> ProjectedNorms:
        """Norms of the projected rows, which are the same for every basis of span(W)."""
        known = self._norms
        if known is None or known[1] is not gamma or not np.array_equal(known[0], W):
            known = self._norms = W, gamma, ProjectedNorms.of(self._projected_by_any_basis(W), self._row_norms, gamma)
        return known[2]

    def _project(self, W: Array) -> Array:
        known = self._coordinates
        if known is not None:
            basis, coordinates = known
            V = basis.T @ W
            if _are_same(basis @ V, W):
                within: Array = coordinates @ V
                return within
        return row_passes.projected(self._X, W)

    def _projected_by_any_basis(self, W: Array) -> Array:
        """XW, or XV of the last V if it spans the same subspace."""
        known = self._projected
        if known is not None:
            V, P = known
            if V.shape == W.shape and _are_same(V @ (V.T @ W), W):
                return P
        return self.projected(W)

    @cached_property
    def _row_norms(self) -> Array:
        """Norms of the rows less about their mean; the bound holds for any center."""
        center = self._X[:: max(1, len(self._X) // MEAN_ROWS)].mean(axis=0)
        return np.sqrt(row_passes.square_lengths(self._X, center))


def _are_same(V: Array, W: Array) -> bool:
    return bool(np.abs(V - W).max(initial=0) < SAME_BASIS)
