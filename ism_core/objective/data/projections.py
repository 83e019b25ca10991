"""The projected rows XW of rows in memory, which are computed once for each W."""

from functools import cached_property

import numpy as np

from ism_core.arrays import Array, Ints
from ism_core.gamma import Gamma
from ism_core.linalg import row_passes
from ism_core.objective.truncation import ProjectedNorms

MEAN_ROWS = 1_000  # rows that the center is estimated from
SAME_BASIS = 1e-12  # largest difference that rounding leaves between two bases of one subspace


class Projections:
    """Φ(W), Φ(W)W, several tolerances and an error bound all need XW at the same W: it is computed once.

    Several threads may share an instance. Each cache holds one immutable tuple that is read and replaced as a whole, so
    that a thread never combines the W of one call with the projected rows of another.
    """

    def __init__(self, X: Array, center: Array | None = None) -> None:
        self._X = X
        self._center = center  # of the rows; None: their mean
        self._projected: tuple[Array, Array] | None = None  # W and XW
        self._coordinates: tuple[Array, Array] | None = None  # an orthonormal basis and X in it
        self._norms: tuple[Array, Gamma, Ints | None, ProjectedNorms] | None = None

    def projected(self, W: Array) -> Array:
        """XW"""
        known = self._projected
        if known is None or not np.array_equal(known[0], W):
            known = self._projected = W, self._project(W)
        return known[1]

    def centered(self, W: Array) -> tuple[Array, Array]:
        """XW, and the projected center."""
        P = self.projected(W)
        return P, P.mean(axis=0) if self._center is None else self._center @ W

    def remember(self, basis: Array, coordinates: Array) -> None:
        """Keep the rows in an orthonormal basis: XW follows from them if W lies in its span."""
        self._coordinates = basis, coordinates

    def norms(self, W: Array, gamma: Gamma, far: Ints | None = None) -> ProjectedNorms:
        """Norms of the projected rows, which are the same for every basis of span(W)."""
        known = self._norms
        if known is None or known[1] is not gamma or known[2] is not far or not np.array_equal(known[0], W):
            norms = ProjectedNorms.of(self._projected_by_any_basis(W), self._row_norms, gamma, far)
            known = self._norms = W, gamma, far, norms
        return known[3]

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
