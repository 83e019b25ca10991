"""What a kernel makes of pairs of projected rows, a tile at a time, by numpy: any kernel, without anything to load."""

import numpy as np

from ism_core.arrays import Array
from ism_core.gamma import Gamma
from ism_core.kernels import Form, Kernel
from ism_core.linalg.buffers import Dtype, Tile, buffers


class NumpyPairs:
    """As `ism_core.objective.pairs.Pairs` says."""

    width: float = 0.5  # numpy's passes over a tile should find it in the core's own cache

    def __init__(self, P: Array, kernel: Kernel, gamma: Gamma | None = None, dtype: Dtype = np.float64) -> None:
        self.dtype = dtype
        self._kernel = kernel
        self._factors: dict[Form, tuple[Tile, Tile]] = {}
        for form in {term.form for _, term in kernel.terms}:
            left, right = beta_factors(P, form)
            self._factors[form] = left.astype(dtype), right.astype(dtype, order="C")
        if gamma is not None:
            # in double always: rounding that is the same for all pairs of two classes would not average out in J
            self._gamma: tuple[Tile, Tile] = gamma.U * gamma.s, np.ascontiguousarray(gamma.U.T)

    def factor(self, X: Tile) -> Tile:
        return X.astype(self.dtype, copy=False)

    def slopes_times(
        self,
        rows: slice,
        columns: slice,
        factor: Tile,
        degrees: Array,
        out: Array,
        mirrored: Array | None = None,
        share: float = 1,
    ) -> float:
        M, objective = self._slopes(rows, columns, degrees)
        if share != 1:
            M *= share
        multiply(M, rows, columns, factor, out, mirrored)
        return objective

    def values_times(
        self, rows: slice, columns: slice, factor: Tile, out: Array, mirrored: Array | None = None
    ) -> None:
        multiply(self.values(rows, columns), rows, columns, factor, out, mirrored)

    def values(self, rows: slice, columns: slice) -> Tile:
        """f(β)"""
        total = self._buffer("total", rows, columns)
        total.fill(0)
        for weight, term in self._kernel.restricted(rows, columns).terms:
            beta = self.beta(term.form, rows, columns)
            total += weight * term.value(beta, out=self._buffer("value", rows, columns))
        return total

    def _slopes(self, rows: slice, columns: slice, degrees: Array) -> tuple[Tile, float]:
        """M = Ψp − 2Ψd, and Σ Γ ⊙ f; Ψd 1 and 1ᵀΨd are added to the degrees, once for a tile on the diagonal."""
        gamma = self._product("gamma", self._gamma, rows, columns, np.float64)
        psi: dict[Form, Tile] = {}
        objective = 0.0
        for weight, term in self._kernel.restricted(rows, columns).terms:
            beta = self.beta(term.form, rows, columns)
            value = term.value(beta, out=self._buffer("value", rows, columns))
            slope = term.slope(beta, value, out=self._buffer("slope" if term.form in psi else term.form, rows, columns))
            objective += weight * float(np.vdot(gamma, value))
            if weight != 1:
                slope *= weight
            if term.form in psi:
                psi[term.form] += slope
            else:
                psi[term.form] = slope
        for slopes in psi.values():
            slopes *= gamma
        if not psi:
            return np.multiply(gamma, 0, dtype=self.dtype), objective
        if "difference" not in psi:
            return psi["product"], objective
        difference = psi["difference"]
        degrees[rows] += difference.sum(axis=1)
        if rows != columns:
            degrees[columns] += difference.sum(axis=0)
        difference *= -2
        if "product" in psi:
            difference += psi["product"]
        return difference, objective

    def beta(self, form: Form, rows: slice, columns: slice) -> Tile:
        """xiᵀWWᵀxj or ‖Wᵀ(xi − xj)‖²"""
        beta = self._product("beta", self._factors[form], rows, columns)
        return np.maximum(beta, 0, out=beta) if form == "difference" else beta

    def _product(
        self, name: str, factors: tuple[Tile, Tile], rows: slice, columns: slice, dtype: Dtype | None = None
    ) -> Tile:
        return np.matmul(factors[0][rows], factors[1][:, columns], out=self._buffer(name, rows, columns, dtype))

    def _buffer(self, name: str, rows: slice, columns: slice, dtype: Dtype | None = None) -> Tile:
        return buffers(name, dtype or self.dtype, rows.stop - rows.start, columns.stop - columns.start)


def beta_factors(P: Array, form: Form) -> tuple[Array, Array]:
    """The left and the right factor of β; distances do not see an offset, but rounding does."""
    if form == "product":
        return P, P.T
    centered = P - P.mean(axis=0)
    norms = np.einsum("iq,iq->i", centered, centered)[:, None]
    ones = np.ones_like(norms)
    return np.hstack([-2 * centered, norms, ones]), np.hstack([centered, ones, norms]).T


def multiply(tile: Tile, rows: slice, columns: slice, factor: Tile, out: Array, mirrored: Array | None) -> None:
    """Add the products of a tile with the rows of its columns and, mirrored, with those of its rows."""
    out += np.matmul(tile, factor[columns], out=buffers("part", tile.dtype.type, len(tile), out.shape[1]))
    if mirrored is not None:
        mirrored += tile.T @ factor[rows]
