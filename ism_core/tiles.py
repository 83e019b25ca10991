"""Sums over all pairs of rows, tile by tile, for any kernel. Exact; time n², memory linear in n."""

import threading
from collections.abc import Callable, Iterator
from typing import TypeVar

import numpy as np

from ism_core.arrays import Array
from ism_core.gamma import Gamma
from ism_core.kernel import Form, Kernel
from ism_core.threads import in_threads, own_threads

T = TypeVar("T")

TILE = 256  # rows: the few buffers of a tile, 0.5 MB each, stay in the cache of the core that works on them


class Pairs:
    """β between blocks of projected rows, in both forms."""

    def __init__(self, P: Array) -> None:
        centred = P - P.mean(axis=0)  # distances do not see an offset, but rounding does
        norms = np.einsum("iq,iq->i", centred, centred)[:, None]
        ones = np.ones_like(norms)
        self._P = P
        self._left = np.hstack([-2 * centred, norms, ones])
        self._right = np.hstack([centred, ones, norms])

    def beta(self, form: Form, rows: slice, columns: slice, out: Array) -> Array:
        """xiᵀWWᵀxj or ‖Wᵀ(xi − xj)‖²"""
        if form == "product":
            return np.matmul(self._P[rows], self._P[columns].T, out=out)
        np.matmul(self._left[rows], self._right[columns].T, out=out)
        return np.maximum(out, 0, out=out)


class Buffers(threading.local):
    """The arrays that a thread uses again for every tile: fresh ones would cost more than the sums."""

    def __init__(self) -> None:
        self._memory: dict[str, Array] = {}

    def __call__(self, name: str, rows: slice, columns: slice) -> Array:
        shape = rows.stop - rows.start, columns.stop - columns.start
        size = shape[0] * shape[1]
        memory = self._memory.get(name)
        if memory is None or len(memory) < size:
            memory = self._memory[name] = np.empty(size)
        return memory[:size].reshape(shape)


buffers = Buffers()


def surrogate(X: Array, gamma: Gamma, kernel: Kernel, W: Array, right: Array | None = None) -> tuple[Array, float]:
    """Φ(W), or Φ(W)·right where that is all that is asked for, and J(W).

    With Ψ summed by form, Φ = XᵀMX + 2XᵀDX where M = Ψp − 2Ψd and D = Diag(Ψd 1): one product with X serves every
    kernel of a sum. All of it is symmetric, so that the upper triangle of tiles is enough.
    """
    with own_threads() as threads:
        return _surrogate(X, gamma, kernel, W, right, threads)


def _surrogate(
    X: Array, gamma: Gamma, kernel: Kernel, W: Array, right: Array | None, threads: int
) -> tuple[Array, float]:
    n, d = X.shape
    pairs = Pairs(X @ W)
    scaled = gamma.U * gamma.s
    target = X if right is None else X @ right
    panels = list(_blocks(n))

    def work(share: list[int]) -> tuple[Array, Array, float]:
        """One thread's panels (rows of tiles): its shares of Xᵀ·(upper half of MX) or M·target, of Ψd 1, and of J."""
        product = np.zeros((d if right is None else n, target.shape[1]))
        degrees = np.zeros(n)
        objective = 0.0
        for index in share:
            rows = panels[index]
            panel = np.zeros((rows.stop - rows.start, target.shape[1]))
            for columns in panels[index:]:
                on_diagonal = columns == rows
                M, psi_d, value = _tile(pairs, kernel, scaled, gamma.U, rows, columns)
                objective += value if on_diagonal else 2 * value
                if psi_d is not None:
                    degrees[rows] += psi_d.sum(axis=1)
                    if not on_diagonal:
                        degrees[columns] += psi_d.sum(axis=0)
                if right is None and on_diagonal:
                    M *= 0.5
                panel += M @ target[columns]
                if right is not None and not on_diagonal:
                    product[columns] += M.T @ target[rows]
            if right is None:
                product += X[rows].T @ panel
            else:
                product[rows] += panel
        return product, degrees, objective

    products, degrees, objectives = zip(*in_threads(work, len(panels), threads), strict=True)
    product = sum(products[1:], start=products[0])
    diagonal = X.T @ (2 * sum(degrees[1:], start=degrees[0])[:, None] * target)
    phi = product + product.T + diagonal if right is None else X.T @ product + diagonal
    return phi, float(sum(objectives))


def _tile(
    pairs: Pairs, kernel: Kernel, scaled: Array, U: Array, rows: slice, columns: slice
) -> tuple[Array, Array | None, float]:
    """M, Ψd (where the kernel has terms of difference form) and the sum of Γ ⊙ f over one tile."""
    gamma = np.matmul(scaled[rows], U[columns].T, out=buffers("gamma", rows, columns))
    psi: dict[Form, Array] = {}
    objective = 0.0
    for weight, term in kernel.restricted(rows, columns).terms:
        beta = pairs.beta(term.form, rows, columns, buffers("beta", rows, columns))
        value = term.value(beta, out=buffers("value", rows, columns))
        slope = term.slope(beta, value, out=buffers("slope" if term.form in psi else term.form, rows, columns))
        objective += weight * float(np.vdot(gamma, value))
        if weight != 1:
            slope *= weight
        if term.form in psi:
            psi[term.form] += slope
        else:
            psi[term.form] = slope
    for slopes in psi.values():
        slopes *= gamma
    if "difference" not in psi:
        return psi["product"], None, objective
    M = np.multiply(psi["difference"], -2, out=buffers("M", rows, columns))
    if "product" in psi:
        M += psi["product"]
    return M, psi["difference"], objective


def _values(pairs: Pairs, kernel: Kernel, rows: slice, columns: slice) -> Array:
    """f(β) over one tile."""
    total = buffers("total", rows, columns)
    total.fill(0)
    for weight, term in kernel.restricted(rows, columns).terms:
        beta = pairs.beta(term.form, rows, columns, buffers("beta", rows, columns))
        total += weight * term.value(beta, out=buffers("value", rows, columns))
    return total


def _over_tiles(
    P: Array, kernel: Kernel, begin: Callable[[], T], add: Callable[[T, slice, slice, Array], T]
) -> list[T]:
    """Fold the tiles of the upper triangle of K, with one running value a thread."""
    pairs = Pairs(P)
    panels = list(_blocks(len(P)))

    def work(share: list[int]) -> T:
        running = begin()
        for index in share:
            for columns in panels[index:]:
                running = add(running, panels[index], columns, _values(pairs, kernel, panels[index], columns))
        return running

    with own_threads() as threads:
        return in_threads(work, len(panels), threads)


def kernel_matrix(P: Array, kernel: Kernel) -> Array:
    """K of the projected rows P, all n×n of it."""

    def fill(K: Array, rows: slice, columns: slice, tile: Array) -> Array:
        K[rows, columns] = tile
        K[columns, rows] = tile.T
        return K

    K = np.empty((len(P), len(P)))
    return _over_tiles(P, kernel, lambda: K, fill)[0]


def kernel_product(P: Array, kernel: Kernel, V: Array) -> Array:
    """K V, with no more of K at a time than a tile a thread."""

    def multiply(product: Array, rows: slice, columns: slice, tile: Array) -> Array:
        product[rows] += tile @ V[columns]
        if columns != rows:
            product[columns] += tile.T @ V[rows]
        return product

    parts = _over_tiles(P, kernel, lambda: np.zeros_like(V), multiply)
    return sum(parts[1:], start=parts[0])


def kernel_diagonal(P: Array, kernel: Kernel) -> Array:
    """The diagonal of K."""
    pairs = Pairs(P)
    return np.concatenate([_values(pairs, kernel, rows, rows).diagonal().copy() for rows in _blocks(len(P))])


def smallest_value(P: Array, kernel: Kernel, scale: Array) -> float:
    """The smallest entry of Diag(scale) K Diag(scale)."""

    def lower(smallest: float, rows: slice, columns: slice, tile: Array) -> float:
        tile *= scale[rows][:, None]
        tile *= scale[columns]
        return min(smallest, float(tile.min()))

    return min(_over_tiles(P, kernel, lambda: np.inf, lower))


def square_sum(P: Array, kernel: Kernel, offsets: Array) -> float:
    """Σ (Kij − offsets[i] − offsets[j])²"""

    def add(total: float, rows: slice, columns: slice, tile: Array) -> float:
        tile -= offsets[rows][:, None]
        tile -= offsets[columns]
        return total + (1 if rows == columns else 2) * float(np.vdot(tile, tile))

    return sum(_over_tiles(P, kernel, float, add))


def _blocks(n: int) -> Iterator[slice]:
    return (slice(start, min(start + TILE, n)) for start in range(0, n, TILE))
