"""Φ(W), Φ(W)W and J(W) of one Gaussian on few rows, from whole n×n matrices in a dozen calls of numpy.

The search for settings evaluates thousands of such problems. Tiles take most of their time for calls if rows are few.
With G = Γ ⊙ K and the sums r = G1 of its rows, Φ = Xᵀ(GX − Diag(r)X)/σ² and Φ(W)W = XᵀC for C = (GP − Diag(r)P)/σ².
"""

from functools import cached_property

import numpy as np

from ism_core.arrays import Array, Dtype, Tile
from ism_core.gamma import Gamma
from ism_core.kernels import Gaussian, Kernel
from ism_core.objective.neighbors import ISOLATION, ClassNeighborGamma, NeighborGamma

ROUNDING = 8  # times the precision of a product: rounding error of a sum over the rows
MOST_ROWS = 599  # the folds of most searches have at most 533; from 640 on compiled tiles are as fast


class FewRows:
    """The sums over all pairs of rows for weight · exp(−β/2σ²)."""

    def __init__(self, X: Array, gamma: Gamma, weight: float, sigma: float, dtype: Dtype) -> None:
        self._X = X
        self._gamma = gamma
        self._weight = weight
        self._sigma = sigma
        self._dtype = dtype

    @staticmethod
    def of(X: Array, gamma: Gamma, kernel: Kernel, dtype: Dtype) -> "FewRows | None":
        """Return the sums if the kernel is one fitted Gaussian, else None."""
        if len(kernel.terms) != 1:
            return None
        weight, term = kernel.terms[0]
        if not isinstance(term, Gaussian) or isinstance(term.sigma, str):
            return None
        return FewRows(X, gamma, weight, float(term.sigma), dtype)

    def evaluate(self, W: Array) -> tuple[Array, float]:
        """Return Φ(W) and J(W)."""
        with np.errstate(over="ignore", invalid="ignore"):
            G, sums = self._weighted(self._X @ W)
            X = self._X.astype(self._dtype, copy=False)
            half = X.T @ (G @ X - sums[:, None] * X)
            phi: Array = (half + half.T) * (0.5 * self._weight / self._sigma**2)
            return phi.astype(np.float64, copy=False), self._weight * float(sums.sum(dtype=np.float64))

    def row_coefficients(self, P: Array) -> tuple[Array, float]:
        """Return the n×q matrix C with Φ(W)W = XᵀC, and J(W), for P = XW."""
        with np.errstate(over="ignore", invalid="ignore"):
            P = P - P.mean(axis=0)  # C is the same; rounding errors are smaller
            G, sums = self._weighted(P)
            C = (G @ P.astype(self._dtype, copy=False) - sums[:, None] * P) * (self._weight / self._sigma**2)
            return C, self._weight * float(sums.sum(dtype=np.float64))

    def neighbor_coefficients(self, P: Array) -> tuple[Array, float]:
        """Return C and J(W) for the Γ of `NeighborGamma` at W."""
        gamma = self._gamma
        assert isinstance(gamma, NeighborGamma)
        if isinstance(gamma, ClassNeighborGamma):
            return self._class_coefficients(P, gamma)
        with np.errstate(over="ignore", invalid="ignore"):
            P = P - P.mean(axis=0)
            K = self._kernel(P)
            counted = (K @ gamma.counted.astype(self._dtype)).astype(np.float64) - gamma.counted
            fixed, objective = gamma.at(self._weight * counted)
            K *= fixed.dense
            C: Array = (K @ P.astype(self._dtype) - K.sum(axis=1)[:, None] * P) * (self._weight / self._sigma**2)
            return C, objective

    def _class_coefficients(self, P: Array, gamma: ClassNeighborGamma) -> tuple[Array, float]:
        """Return C and J(W) for the Γ of classes.

        It is Γij = ½ (wi + wj) Yij − ½ (oi + oj), with w = 1 / (d + ε) and o = p w. So Y ⊙ K and K replace G.
        """
        with np.errstate(over="ignore", invalid="ignore"):
            P = P - P.mean(axis=0)
            K = self._kernel(P)
            of_classes = (K @ gamma.counted.astype(self._dtype)).astype(np.float64)
            nearness = self._weight * np.maximum(of_classes - gamma.counted, 0)
            w = 1 / (nearness.sum(axis=1) + ISOLATION)
            rows = np.arange(len(P))
            shares = nearness[rows, gamma.codes] * w
            o = shares * w
            own, everything = of_classes[rows, gamma.codes], of_classes.sum(axis=1)
            columns = np.hstack([P, w[:, None] * P, w[:, None]]).astype(self._dtype)
            within = (K * self._same_class) @ columns
            columns = np.hstack([P, o[:, None] * P, o[:, None]]).astype(self._dtype)
            among = K @ columns
            q = P.shape[1]
            GP = w[:, None] * within[:, :q] + within[:, q:-1] - o[:, None] * among[:, :q] - among[:, q:-1]
            sums = w * own + within[:, -1] - o * everything - among[:, -1]
            C: Array = GP - sums[:, None] * P
            # Rows that coincide, or are far from all others, have no gradient; rounding leaves them a little.
            C[np.abs(C) < ROUNDING * np.finfo(self._dtype).eps * (w * own).max() * np.abs(P).max()] = 0
            return C * (0.5 * self._weight / self._sigma**2), float(shares.sum())

    def _kernel(self, P: Array) -> Tile:
        """Return K, without the weight."""
        Z = (P - P.mean(axis=0)) / self._sigma
        halves = -0.5 * np.einsum("iq,iq->i", Z, Z)[:, None]
        ones = np.ones_like(halves)
        left, right = np.hstack([Z, halves, ones]), np.hstack([Z, ones, halves])
        K: Tile = np.matmul(left.astype(self._dtype, copy=False), right.astype(self._dtype, copy=False).T)
        return np.exp(np.minimum(K, 0, out=K), out=K)

    def _weighted(self, P: Array) -> tuple[Tile, Tile]:
        """Return G, without the weight, and the sums of its rows."""
        G = self._kernel(P)
        G *= self._dense_gamma
        return G, G.sum(axis=1)

    @cached_property
    def _dense_gamma(self) -> Tile:
        return self._gamma.dense.astype(self._dtype, copy=False)

    @cached_property
    def _same_class(self) -> Tile:
        assert isinstance(self._gamma, ClassNeighborGamma)
        codes = self._gamma.codes
        same: Tile = (codes[:, None] == codes).astype(self._dtype)
        return same
