"""Exact sums over all pairs of rows, tile by tile, for any kernel, in time n² and memory linear in n.

The sums are symmetric, so that the upper triangle of tiles is enough (`objective.pairs`).
"""

from collections.abc import Iterator
from typing import Any

import numpy as np

from ism_core.arrays import Array, Dtype, Ints, Tile, buffers
from ism_core.engines import LOCAL, Engine, Placed, Threads
from ism_core.gamma import Gamma
from ism_core.kernels import Kernel
from ism_core.linalg import row_passes
from ism_core.objective.data import DTYPES, Precision
from ism_core.objective.neighbors import NeighborGamma
from ism_core.objective.pairs import TILE, Pairs, blocks, items, neighbor_pairs_of, pairs_of, panels_of

GATHERED_ROWS = 64  # rows that are scaled at a time: they stay in the first-level cache
DIAGONAL_FINENESS = 2  # tiles on the diagonal are smaller, since pairs below it cost products with X in vain


def evaluate(
    X: Placed[Array],
    gamma: Placed[Gamma],
    kernel: Placed[Kernel],
    W: Array,
    *,
    precision: Precision = "double",
    engine: Engine = LOCAL,
    lean: bool = False,
) -> tuple[Array, float]:
    """Return Φ(W) and J(W).

    With Ψ summed by form, Φ = XᵀMX + 2XᵀDX, where M = Ψp − 2Ψd and D = Diag(Ψd 1): one product with X serves all terms
    of a kernel. D is complete only after all tiles. Threads keep UX until then, for the upper half U of M, and compute
    Xᵀ(UX + DX). Other engines, and threads that are to be `lean`, compute XᵀDX as a product of its own. In single
    precision, tiles are single, and sums over tiles are double.
    """
    if not isinstance(engine, Threads):
        return _apart(engine, X, gamma, kernel, W, precision)
    n, rows = len(X.here), _in_precision(X.here, DTYPES[precision])
    pairs = pairs_of(row_passes.projected(X.here, W), kernel.here, gamma.here, rows.dtype.type)
    factor = pairs.factor(rows)
    if lean:
        return _apart(engine, X, gamma, kernel, W, precision, (rows, pairs, factor))
    kept = np.empty(rows.shape, rows.dtype)
    D, objective = engine.total(_kept_share, items(n), pairs, factor, kept)
    half = engine.total(_square_share, len(blocks(n)), rows, kept, D)
    return half + half.T, objective


def _in_precision(X: Array, dtype: Dtype) -> Tile:
    """Return X, or a copy if it has another precision."""
    if X.dtype == dtype:
        return X
    rows = np.empty(X.shape, dtype)
    row_passes.convert(X, rows)
    return rows


def _apart(
    engine: Engine,
    X: Placed[Array],
    gamma: Placed[Gamma],
    kernel: Placed[Kernel],
    W: Array,
    precision: Precision,
    made: tuple[Tile, Pairs, Any] | None = None,
) -> tuple[Array, float]:
    """Return Φ(W) and J(W), with XᵀDX as a product of its own; threads may share rows, pairs and factor."""
    half, D, objective = engine.total(_surrogate_share, items(len(X.here)), X, gamma, kernel, W, precision, made)
    phi: Array = half + half.T
    if D.any():
        phi += 2 * engine.total(_diagonal_share, len(_by_sign(D)), X, D, precision)
    return phi, objective


def half_gradient(
    X: Placed[Array],
    gamma: Placed[Gamma],
    kernel: Placed[Kernel],
    W: Array,
    *,
    precision: Precision = "double",
    engine: Engine = LOCAL,
    known: Array | None = None,
) -> tuple[Array, float]:
    """Return the n×q matrix C = MP + 2DP with Φ(W)W = XᵀC, and J(W); P = XW may be known.

    Pairs of rows are multiplied by P only, not by X.
    """
    return engine.total(_half_gradient_share, items(len(X.here)), X, gamma, kernel, W, precision, known)


def _kept_share(share: list[int], pairs: Pairs, factor: Any, kept: Tile) -> tuple[Array, float]:
    """Return the share of Ψd 1 and of J; write UX into `kept`."""
    upper = _Upper(pairs, factor, kept.shape)
    for panel, product in upper.products(share):
        kept[panel] = product
    return upper.degrees, upper.objective


def _square_share(share: list[int], X: Tile, kept: Tile, D: Array) -> Array:
    """Return the share of Xᵀ(UX + DX); `kept` is overwritten."""
    half, square = np.zeros((X.shape[1], X.shape[1])), np.empty((X.shape[1], X.shape[1]), kept.dtype)
    everything, D = blocks(len(X)), D.astype(kept.dtype)[:, None]
    for index in share:
        panel = everything[index]
        for start in range(panel.start, panel.stop, GATHERED_ROWS):
            few = slice(start, min(start + GATHERED_ROWS, panel.stop))
            kept[few] += D[few] * X[few]
        half += np.matmul(X[panel].T, kept[panel], out=square)
    return half


def _surrogate_share(
    share: list[int],
    X: Array,
    gamma: Gamma,
    kernel: Kernel,
    W: Array,
    precision: Precision,
    made: tuple[Tile, Pairs, Any] | None,
) -> tuple[Array, Array, float]:
    """Return the share of XᵀUX, of Ψd 1, and of J."""
    if made is None:
        rows = X.astype(DTYPES[precision], copy=False)
        pairs = pairs_of(_projected(X, W), kernel, gamma, DTYPES[precision])
        made = rows, pairs, pairs.factor(rows)
    rows, pairs, factor = made
    half, square = np.zeros((X.shape[1], X.shape[1])), np.empty((X.shape[1], X.shape[1]), rows.dtype)
    upper = _Upper(pairs, factor, rows.shape)
    for panel, product in upper.products(share):
        half += np.matmul(rows[panel].T, product.astype(square.dtype, copy=False), out=square)
    return half, upper.degrees, upper.objective


class _Upper:
    """UX for the upper half U of M, with half of its diagonal; on the way, Ψd 1 and J."""

    def __init__(self, pairs: Pairs, factor: Any, shape: tuple[int, int]) -> None:
        self._pairs, self._factor, self._columns = pairs, factor, shape[1]
        self.degrees = np.zeros(shape[0])
        self.objective = 0.0

    def products(self, share: list[int]) -> Iterator[tuple[slice, Array]]:
        """Yield UX of each panel of a share; the next one overwrites it."""
        for panel, tiles in panels_of(share, len(self.degrees), self._pairs.width, DIAGONAL_FINENESS):
            product = buffers("panel", np.float64, panel.stop - panel.start, self._columns)
            product.fill(0)
            for rows, columns in tiles:
                out = product[rows.start - panel.start : rows.stop - panel.start]
                on = rows == columns
                value = self._pairs.derivatives_times(
                    rows, columns, self._factor, self.degrees, out, share=0.5 if on else 1.0
                )
                self.objective += value if on else 2 * value
            yield panel, product


def _diagonal_share(share: list[int], X: Array, D: Array, precision: Precision) -> Array:
    """Return the share of XᵀDX as ±ZᵀZ, which the BLAS computes with half the flops of other products."""
    total = np.zeros((X.shape[1], X.shape[1]))
    groups = _by_sign(D)
    roots = np.sqrt(np.abs(D)).astype(X.dtype, copy=False)[:, None]
    for index in share:
        rows = groups[index]
        Z = buffers("part", DTYPES[precision], len(rows), X.shape[1])
        for start in range(0, len(rows), GATHERED_ROWS):
            few = slice(start, start + GATHERED_ROWS)
            np.multiply(X[rows[few]], roots[rows[few]], out=Z[few], casting="same_kind")
        if D[rows[0]] > 0:
            total += Z.T @ Z
        else:
            total -= Z.T @ Z
    return total


def _by_sign(D: Array) -> list[Ints]:
    """Return blocks of rows that have the same sign in D, without those that are 0."""
    groups = []
    for rows in (np.flatnonzero(D > 0), np.flatnonzero(~(D >= 0))):
        if len(rows):
            groups += np.array_split(rows, 2 * -(-len(rows) // (8 * TILE)) if len(rows) > TILE else 1)
    return groups


def _half_gradient_share(
    share: list[int], X: Array, gamma: Gamma, kernel: Kernel, W: Array, precision: Precision, known: Array | None
) -> tuple[Array, float]:
    """Return the share of C and of J."""
    P = _projected(X, W) if known is None else known
    pairs = pairs_of(P, kernel, gamma, DTYPES[precision])
    factor, product, degrees = pairs.factor(P), np.zeros(P.shape), np.zeros(len(P))
    objective = 0.0
    for _, tiles in panels_of(share, len(P), pairs.width):
        for rows, columns in tiles:
            if rows == columns:
                objective += pairs.derivatives_times(rows, columns, factor, degrees, product[rows])
            else:
                objective += 2 * pairs.derivatives_times(
                    rows, columns, factor, degrees, product[rows], product[columns]
                )
    product += 2 * degrees[:, None] * P
    return product, objective


def kernel_matrix(P: Array, kernel: Kernel) -> Array:
    """Return the n×n kernel matrix K of the projected rows P."""
    K = np.empty((len(P), len(P)))
    LOCAL.run(_matrix_share, items(len(P)), P, kernel, K)
    return K


def _matrix_share(share: list[int], P: Array, kernel: Kernel, K: Array) -> None:
    for rows, columns, tile in _values(share, P, kernel):
        K[rows, columns] = tile
        K[columns, rows] = tile.T


def kernel_product(
    P: Array,
    kernel: Kernel | Placed[Kernel],
    V: Array,
    *,
    precision: Precision = "double",
    engine: Engine = LOCAL,
) -> Array:
    """Return K V, with one tile of K for each thread at a time."""
    parts = engine.run(_product_share, items(len(P)), P, kernel, V, precision)
    product: Array = sum(parts[1:], start=parts[0])
    return product


def _product_share(share: list[int], P: Array, kernel: Kernel, V: Array, precision: Precision) -> Array:
    pairs = pairs_of(P, kernel, dtype=DTYPES[precision])
    factor, product = pairs.factor(V), np.zeros(V.shape)
    for _, tiles in panels_of(share, len(P), pairs.width):
        for rows, columns in tiles:
            pairs.values_times(rows, columns, factor, product[rows], None if rows == columns else product[columns])
    return product


def neighbor_sums(
    P: Array, kernel: Placed[Kernel], gamma: NeighborGamma, *, precision: Precision, engine: Engine
) -> tuple[Array, Array]:
    """Return the sums of K over the other rows that `NeighborGamma.weights` takes: `own` and `degrees`."""
    compiled = neighbor_pairs_of(P, kernel.here, gamma, DTYPES[precision], engine)
    if compiled is not None:
        return compiled.sums()
    sums = kernel_product(P, kernel, gamma.counted, precision=precision, engine=engine)
    sums -= sum(weight for weight, _ in kernel.here.terms) * gamma.counted  # of a row to itself: f(0) = 1
    return gamma.split(sums)


def square_sum(P: Array, kernel: Kernel, offsets: Array) -> float:
    """Return Σ (Kij − offsets[i] − offsets[j])²."""
    return sum(LOCAL.run(_offset_share, items(len(P)), P, kernel, offsets))


def _offset_share(share: list[int], P: Array, kernel: Kernel, offsets: Array) -> float:
    total = 0.0
    for rows, columns, tile in _values(share, P, kernel):
        tile -= offsets[rows, None]
        tile -= offsets[columns]
        total += (1 if rows == columns else 2) * float(np.vdot(tile, tile))
    return total


def _values(share: list[int], P: Array, kernel: Kernel) -> Iterator[tuple[slice, slice, Tile]]:
    """Yield the tiles of K in a share of the panels."""
    pairs = pairs_of(P, kernel)
    for _, tiles in panels_of(share, len(P), pairs.width):
        for rows, columns in tiles:
            yield rows, columns, pairs.values(rows, columns)


def _projected(X: Array, W: Array) -> Array:
    return (X @ W.astype(X.dtype, copy=False)).astype(np.float64, copy=False)
