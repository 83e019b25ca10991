"""Sums over pairs of rows for a Γ that counts neighbors and one Gaussian, without tiles in memory.

Each pass computes β, e^−β and what follows from them for a row and a chunk of columns, in loops that vectorize over the
columns and stay in the first-level cache. Pairs above the diagonal are enough: both rows of a pair get their share.

Importing this module imports numba; only `ism_core.objective.pairs` does, for problems that are large enough.
"""

import numpy as np

from ism_core.arrays import Array, Dtype, Tile
from ism_core.engines import Engine
from ism_core.kernels import Gaussian
from ism_core.objective.compiled.products import cached, fast
from ism_core.objective.compiled.tiles import exp
from ism_core.objective.neighbors import NeighborGamma
from ism_core.objective.pairs import items, panels_of

# Hashes of the other files that this one is compiled with: numba's cache notices a change of this file only.
PARTS = {"products": "235fa31c033cde17", "tiles": "1c47a5f45752cfd7"}

CHUNK_BYTES = 2_048  # of a row of a chunk: a dozen such rows stay in the first-level cache
HEIGHT = 256  # rows whose sums have the precision of the pairs; longer sums are double


class CompiledNeighborPairs:
    """The pairs of projected rows P, for weight · exp(−‖pi − pj‖² / 2σ²)."""

    def __init__(
        self, P: Array, gamma: NeighborGamma, weight: float, kernel: Gaussian, dtype: Dtype, engine: Engine
    ) -> None:
        """`engine` runs shares of the pairs; it must be one of threads."""
        self._gamma = gamma
        self._weight = weight
        self._unit = np.sqrt(2) * float(kernel.sigma)  # the kernel is e^−β for distances in this unit
        self._Z = np.ascontiguousarray(((P - P.mean(axis=0)) / self._unit).T.astype(dtype))
        classes, values = gamma.compared
        self._codes = classes.astype(dtype)
        self._values = np.ascontiguousarray(values.T.astype(dtype))
        self._engine = engine

    def sums(self) -> tuple[Array, Array]:
        """Return the sums over the other rows that `NeighborGamma.weights` takes: `own` and `degrees`."""
        given = self._Z, self._codes, self._values
        total: Array = self._weight * self._engine.total(_share_of_sums, items(self._Z.shape[1]), *given)
        return total[:-1].T, total[-1]

    def row_coefficients(self) -> tuple[Array, float]:
        """Return the n×q matrix C with Φ(W)W = XᵀC, and J(W)."""
        weights, offsets, objective = self._gamma.weights(*self.sums())
        dtype = self._Z.dtype
        columns = np.ascontiguousarray(weights.T.astype(dtype)), offsets.astype(dtype)
        given = self._Z, self._codes, self._values, *columns
        total: Array = self._engine.total(_share_of_coefficients, items(self._Z.shape[1]), *given)
        return total.T * (self._weight / self._unit), objective  # 2 / unit is the unit over σ²


def _share_of_sums(share: list[int], Z: Tile, codes: Tile, values: Tile) -> Array:
    """Return the share of the sums, a column for each row."""
    total = np.zeros((len(values) + 1 if len(codes) == 0 else 2, Z.shape[1]))
    for rows, _ in panels_of(share, Z.shape[1], 1.0):
        add_sums(rows.start, rows.stop, Z, codes, values, total)
    return total


def _share_of_coefficients(share: list[int], Z: Tile, codes: Tile, values: Tile, weights: Tile, offsets: Tile) -> Array:
    """Return the share of 2 Σj Γij kij (zj − zi), a column for each row."""
    total = np.zeros(Z.shape)
    for rows, _ in panels_of(share, Z.shape[1], 1.0):
        add_coefficients(rows.start, rows.stop, Z, codes, values, weights, offsets, total)
    return total


@fast
def _kernel_of_row(Z: Tile, row: int, low: int, high: int, beta: Tile) -> None:
    """Write the kernel of a row and the rows from `low` to `high`."""
    first, z = Z[0, row], Z[0, low:high]
    for j in range(len(beta)):
        beta[j] = -(z[j] - first) * (z[j] - first)
    for axis in range(1, len(Z)):
        other, z = Z[axis, row], Z[axis, low:high]
        for j in range(len(beta)):
            beta[j] -= (z[j] - other) * (z[j] - other)
    for j in range(len(beta)):
        beta[j] = exp(beta[j])


@cached
def add_sums(first: int, last: int, Z: Tile, codes: Tile, values: Tile, total: Array) -> None:
    """Add the sums over the pairs of the rows from `first` to `last` with those below them.

    Parameters
    ----------
    Z
        q×n: the projected rows, so that the kernel is exp(−‖zi − zj‖²).
    codes
        The class of each row; empty if the rows have values.
    values
        t×n: the values of each row.
    total
        The sums: over rows of the same class or the sums of values, and over all rows.
    """
    n, sums, zero, one = Z.shape[1], len(total), Z.dtype.type(0), Z.dtype.type(1)
    size = CHUNK_BYTES // Z.itemsize
    kernel, part = np.empty(size, Z.dtype), np.empty((sums, size), Z.dtype)
    for top in range(first, last, HEIGHT):
        bottom = min(top + HEIGHT, last)
        for start in range(top, n, size):
            end = min(start + size, n)
            part[:] = zero
            for row in range(top, min(bottom, end - 1)):
                low = max(start, row + 1)
                k, among = kernel[: end - low], part[sums - 1, low - start : end - start]
                _kernel_of_row(Z, row, low, end, k)
                whole = zero
                for j in range(len(k)):
                    whole += k[j]
                    among[j] += k[j]
                total[sums - 1, row] += whole
                if len(codes):
                    code, others, own = codes[row], codes[low:end], part[0, low - start : end - start]
                    within = zero
                    for j in range(len(k)):
                        same = k[j] * (one if others[j] == code else zero)
                        within += same
                        own[j] += same
                    total[0, row] += within
                else:
                    for target in range(sums - 1):
                        value, others = values[target, row], values[target, low:end]
                        column, weighted = part[target, low - start : end - start], zero
                        for j in range(len(k)):
                            weighted += k[j] * others[j]
                            column[j] += k[j] * value
                        total[target, row] += weighted
            for each in range(sums):
                for j in range(end - start):
                    total[each, start + j] += part[each, j]


@cached
def add_coefficients(
    first: int, last: int, Z: Tile, codes: Tile, values: Tile, weights: Tile, offsets: Tile, total: Array
) -> None:
    """Add 2 Σj Γij kij (zj − zi) over the same pairs to `total`, q×n.

    2 Γij = Σt (yit wjt + wit yjt) + oi + oj, for the values y, the weights w and the offsets o. For classes the first
    sum is wi + wj for two rows of one class, else 0.
    """
    n, q, zero = Z.shape[1], len(Z), Z.dtype.type(0)
    size = CHUNK_BYTES // Z.itemsize
    kernel, gamma = np.empty(size, Z.dtype), np.empty(size, Z.dtype)
    part = np.empty((q, size), Z.dtype)
    for top in range(first, last, HEIGHT):
        bottom = min(top + HEIGHT, last)
        for start in range(top, n, size):
            end = min(start + size, n)
            part[:] = zero
            for row in range(top, min(bottom, end - 1)):
                low = max(start, row + 1)
                m, g, other = kernel[: end - low], gamma[: end - low], offsets[low:end]
                _kernel_of_row(Z, row, low, end, m)
                offset = offsets[row]
                if len(codes):
                    code, others, weight, column = codes[row], codes[low:end], weights[0, row], weights[0, low:end]
                    for j in range(len(m)):
                        m[j] *= (weight + column[j] if others[j] == code else zero) + offset + other[j]
                else:
                    for j in range(len(m)):
                        g[j] = offset + other[j]
                    for target in range(len(values)):
                        value, weight = values[target, row], weights[target, row]
                        others, column = values[target, low:end], weights[target, low:end]
                        for j in range(len(m)):
                            g[j] += value * column[j] + weight * others[j]
                    for j in range(len(m)):
                        m[j] *= g[j]
                for axis in range(q):
                    here, z, pulled = Z[axis, row], Z[axis, low:end], part[axis, low - start : end - start]
                    along = zero
                    for j in range(len(m)):
                        pull = m[j] * (z[j] - here)
                        along += pull
                        pulled[j] -= pull
                    total[axis, row] += along
            for axis in range(q):
                for j in range(end - start):
                    total[axis, start + j] += part[axis, j]
