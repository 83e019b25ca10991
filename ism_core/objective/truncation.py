"""The degree at which Gaussian features are truncated, from proven bounds on the errors of J and Φ(W)W.

With ci = √ri for the remainder ri of row i (see `kernels.taylor`), the error of f is at most ci cj, and that of f′ at
most ci cj/2σ². With sums over all pairs of rows, and a B with Bij ≥ |Γij|,

    |ΔJ|     ≤  Σ Bij ci cj
    ‖ΔΦW‖   ≤  Σ Bij ci cj ‖xi − xj‖ ‖pi − pj‖/2σ²  ≤  √(Σ Bij ci cj ‖xi − xj‖²) √(Σ Bij ci cj ‖pi − pj‖²)/2σ²

by Cauchy and Schwarz. All are sums of products of numbers of row i and of row j. B is positive semidefinite, so that
Σ Bij ci cj xi·xj ≥ 0 may be omitted. ri depends on ‖pi‖² alone: the rows are sorted into bins of ‖pi‖² once, and count
as if they were at the upper edge of their bin. After that, the bound for a degree costs next to nothing.

If the pairs among some far rows are exact, the others remain. Pairs among near rows are bounded as above. Pairs of a
far and a near row come in both orders, and ‖xi − xj‖² ≤ 2‖xi‖² + 2‖xj‖² for them.
"""

import math
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np
from scipy.special import gammainc

from ism_core.arrays import Array, Ints
from ism_core.gamma import Gamma
from ism_core.kernels import MAX_DEGREE, Kernel, Taylor, TermMap, taylor_maps

BIN_WIDTH = 0.01  # in log ‖p‖²; it makes the bound too large by at most (degree + 1) · BIN_WIDTH/2
BINS = 1_200  # the last bin holds all ‖p‖² below 6e-6 of the largest
ROUNDING_MARGIN = 1e-9  # relative; covers rounding errors of the bins and of the incomplete gamma function


@dataclass(frozen=True)
class Magnitudes:
    """Absolute values of J and Φ(W)W, or bounds on their errors."""

    objective: float  # |J|, or a bound on |ΔJ|
    gradient: float  # ‖Φ(W)W‖ in the Frobenius norm, or a bound on ‖ΔΦ(W)W‖


@dataclass(frozen=True)
class ProjectedNorms:
    """Sums over the rows of each bin, weighted by Γ; the bounds for any σ and degree follow from them."""

    edges: Array  # largest ‖p‖² of each bin
    moments: Array  # bins×r×(q + 3): of p, ‖p‖², ‖x‖² and 1
    majorant: Array  # r×r
    counts: Ints  # the number of rows in each bin
    bins: Ints | None = None  # the bin of each row; None for rows in partitions
    far_bins: int = 0  # the rows of the first bins are far: the pairs among them are exact

    @staticmethod
    def of(
        P: Array,
        row_norms: Array,
        gamma: Gamma,
        far: Ints | None = None,
        center: Array | None = None,
        largest: float | None = None,
    ) -> "ProjectedNorms":
        """Sort projected rows into bins; `row_norms` are norms of the rows of X minus any center.

        Without given far rows, the bins are in descending order of ‖p‖². The far rows have bins of their own. Some of
        the rows need the center and the largest ‖p‖² of all.
        """
        centered = P - (P.mean(axis=0) if center is None else center)
        squares = np.einsum("iq,iq->i", centered, centered)
        largest = max(float(squares.max(initial=0.0)) if largest is None else largest, np.finfo(float).tiny)
        with np.errstate(divide="ignore"):
            places = np.log(largest / squares) / BIN_WIDTH
        bins = np.clip(places, 0, BINS - 1).astype(np.intp)
        edges = largest * np.exp(-BIN_WIDTH * np.arange(BINS)) * (1 + ROUNDING_MARGIN)
        if far is not None:
            edges = np.tile(edges, 2)
            bins += BINS
            bins[far] -= BINS
        columns = np.column_stack([centered, squares, row_norms**2, np.ones_like(squares)])
        moments = gamma.absolute_moments(bins, len(edges), columns)
        counts = np.bincount(bins, minlength=len(edges))
        return ProjectedNorms(edges, moments, gamma.majorant, counts, bins, 0 if far is None else BINS)

    @property
    def far(self) -> Ints | None:
        """The far rows; None if there are none."""
        return np.flatnonzero(self.bins < self.far_bins) if self.far_count and self.bins is not None else None

    def bound(self, maps: Sequence[TermMap]) -> Magnitudes:
        """Return the bounds, summed over the truncated terms; other terms are exact."""
        objective = gradient = 0.0
        for each in maps:
            value, derivative = each.value, each.derivative
            if isinstance(derivative, Taylor) and isinstance(value, Taylor):
                remainders = gammainc(derivative.degree + 1, self.edges / derivative.sigma**2)
                roots = np.sqrt(remainders) * (1 + ROUNDING_MARGIN)
                parts = slice(self.far_bins), slice(self.far_bins, None)
                far, near = (np.tensordot(roots[part], self.moments[part], axes=1) for part in parts)
                sums = [(2.0, near.T @ self.majorant @ near)]
                if self.far_bins:
                    one_order = far.T @ self.majorant @ near
                    sums.append((math.sqrt(8), one_order + one_order.T))
                for constant, pairs in sums:
                    p, p2, x2, one = pairs.diagonal()[:-3].sum(), *pairs[-1, -3:]
                    lengths = math.sqrt(x2 * max(p2 * (1 + ROUNDING_MARGIN) - p, 0.0))
                    objective += each.weight * abs(value.factor) * one
                    gradient += each.weight * abs(derivative.factor) * constant * lengths
        return Magnitudes(objective, gradient)

    def is_within(self, maps: Sequence[TermMap], allowed: Magnitudes) -> bool:
        """Whether the bounds with these maps are within the allowed ones."""
        bound = self.bound(maps)
        return bound.objective <= allowed.objective and bound.gradient <= allowed.gradient

    def with_fewest_far(self, maps: Sequence[TermMap], allowed: Magnitudes, most: float) -> "ProjectedNorms | None":
        """Return the norms with the fewest far rows that keep the bounds; None if it takes more than `most` rows."""

        def suffices(far_bins: int) -> bool:
            return replace(self, far_bins=far_bins).is_within(maps, allowed)

        last = int(np.searchsorted(self._rows_before, most, side="right")) - 1
        return replace(self, far_bins=bisect_left(range(last), True, key=suffices)) if suffices(last) else None

    @property
    def far_count(self) -> int:
        """The number of far rows."""
        return int(self._rows_before[self.far_bins])

    @cached_property
    def _rows_before(self) -> Ints:
        """The number of rows before each bin, and that of all rows."""
        return np.append(0, np.cumsum(self.counts))


def least_degree(kernel: Kernel, q: int, norms: ProjectedNorms, allowed: Magnitudes, max_features: int) -> int | None:
    """Return the least degree whose bounds are within the allowed ones; None if it takes more than `max_features`."""
    for degree in range(MAX_DEGREE + 1):
        maps = taylor_maps(kernel, q, degree)
        if maps is None or math.comb(q + degree, degree) > max_features:
            return None
        if norms.is_within(maps, allowed):
            return degree
    return None


class Truncation(NamedTuple):
    """Features of one degree, with norms that say which rows are far."""

    tolerance: float
    degree: int
    norms: ProjectedNorms
    flops: float  # of one Φ(W)W


def cheapest_truncation(
    kernel: Kernel,
    q: int,
    norms: ProjectedNorms,
    tolerance: float,
    allowed: Magnitudes,
    feature_flops: float,
    pair_flops: float,
    most: float,
) -> Truncation | None:
    """Return the cheapest truncation whose bounds are within the allowed ones; None if it costs more than `most` flops.

    A higher degree has more features and needs fewer far rows.

    Parameters
    ----------
    feature_flops, pair_flops
        Flops for each feature, and for each pair among the far rows.
    """
    best = None
    for degree in range(MAX_DEGREE + 1):
        maps, flops = taylor_maps(kernel, q, degree), feature_flops * math.comb(q + degree, degree)
        if maps is None or flops >= most:
            break
        found = norms.with_fewest_far(maps, allowed, math.sqrt((most - flops) / pair_flops))
        if found is not None:
            most = flops + pair_flops * found.far_count**2
            best = Truncation(tolerance, degree, found, most)
    return best
