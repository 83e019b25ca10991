"""Φ and J: the one place that computes them, by whichever way costs fewer flops.

tiles       every pair of rows, for any kernel                                   n²
features    sums over rows, for kernels with a finite feature map                n
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np

from ism_core import features, tiles
from ism_core.arrays import Array, Ints
from ism_core.features import Maps
from ism_core.gamma import Gamma
from ism_core.kernel import Kernel

Way = Literal["tiles", "features"]

PAIR_FLOPS = 60.0  # what f and f′ of one pair cost, in flops of a matrix product: passes over memory, exp


@dataclass(frozen=True)
class Problem:
    """maximise J(W) = Σij Γij f(βij(W)) over W with q orthonormal columns, for rows X and a kernel bound to them."""

    X: Array
    gamma: Gamma
    kernel: Kernel
    q: int

    @cached_property
    def way(self) -> Way:
        """The cheaper way for this problem."""
        by_features = self._feature_flops
        return "tiles" if by_features is None or by_features > self._tile_flops else "features"

    def rows_within(self, flops: float) -> int:
        """How many of the rows a problem may have for its Φ to cost no more than that."""
        n = len(self.X)
        share = (flops / self._tile_flops) ** 0.5 if self.way == "tiles" else flops / (self._feature_flops or flops)
        return n if share >= 1 else int(n * share)

    @cached_property
    def _tile_flops(self) -> float:
        n, d = self.X.shape
        return float(n * n * (d + len(self.gamma.s) + self.q + PAIR_FLOPS * len(self.kernel.terms)))

    @cached_property
    def _feature_flops(self) -> float | None:
        if self._slopes is None or self._values is None:
            return None
        n, d = self.X.shape
        r = len(self.gamma.s)
        slopes = sum(self.gamma.moment_flops(d, m.count) + 2.0 * d * d * r * m.count for _, _, m in self._slopes)
        return float(slopes + sum(2 * n * r * m.count for _, _, m in self._values))

    def surrogate(self, W: Array) -> tuple[Array, float]:
        """Φ(W) and J(W)"""
        if self.way == "features":
            return features.surrogate(self.X, W, self.gamma, self._slopes or []), self.objective(W)
        return tiles.surrogate(self.X, self.gamma, self.kernel, W)

    def objective(self, W: Array) -> float:
        """J(W)"""
        if self.way == "features":
            return features.objective(self.X, W, self.gamma, self._values or [])
        return tiles.surrogate(self.X, self.gamma, self.kernel, W, right=np.empty((len(W), 0)))[1]

    def gradient(self, W: Array) -> Array:
        """2Φ(W)W, the gradient of J at any W, orthonormal or not."""
        if self.way == "features":
            return 2 * self.surrogate(W)[0] @ W
        return 2 * tiles.surrogate(self.X, self.gamma, self.kernel, W, right=W)[0]

    def first_surrogate(self) -> Array:
        """Φ0"""
        return features.first_surrogate(self.X, self.gamma, self.kernel)

    def restricted(self, rows: Ints) -> "Problem":
        """The problem on some of the rows."""
        return Problem(self.X[rows], self.gamma.restricted(rows), self.kernel.restricted(rows, rows), self.q)

    @cached_property
    def _slopes(self) -> Maps | None:
        return features.slope_maps(self.kernel, self.q)

    @cached_property
    def _values(self) -> Maps | None:
        return features.value_maps(self.kernel, self.q)
