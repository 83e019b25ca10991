"""Products with the affinity of many projected rows, without forming the matrix.

A = Diag(scale) K Diag(scale) − shift, with zeros on the diagonal. Products with K use feature maps if these are cheaper
than tiles; Gaussians are truncated at a degree. Features are recomputed for every product, block by block. In the cache
this is as fast as reading stored features from memory.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.special import gammainc

from ism_core.arrays import Array, Ints
from ism_core.engines import LOCAL, Engine
from ism_core.gamma import Features
from ism_core.kernels import MAX_DEGREE, Kernel, Taylor, TermMap, taylor_maps
from ism_core.linalg import row_passes
from ism_core.objective import (
    COMPILED_BLOCK,
    TILE,
    Precision,
    are_compiled,
    features_of,
    kernel_product,
    pairs_of,
)

ROWS_PER_FEATURE = 2  # rows per feature below which tiles are cheaper
SEARCHED_ROWS = 256  # rows that the search for the smallest affinity compares with all others
BLOCK_NUMBERS = 2**18  # feature values in a block of rows, so that they stay in the cache
BLOCKS = (64, 2_048)  # rows of a block, at least and at most


@dataclass(frozen=True)
class Affinity:
    """The linear map V ↦ A V."""

    P: Array
    kernel: Kernel
    scale: Array
    shift: float
    maps: list[TermMap] | None  # None stands for tiles
    precision: Precision = "double"
    engine: Engine = LOCAL

    @staticmethod
    def of(
        P: Array,
        kernel: Kernel,
        scale: Array,
        left_out: float,
        precision: Precision = "double",
        engine: Engine = LOCAL,
    ) -> "Affinity":
        """Return the affinity. A kernel with negative values is shifted by its minimum.

        `left_out` is the mean share of Kii that truncated maps may omit.
        """
        shift = 0.0 if kernel.nonnegative else smallest_value(P, kernel, scale)
        return Affinity(P, kernel, scale, shift, affordable_maps(P, kernel, left_out), precision, engine)

    def times(self, V: Array) -> Array:
        """Return A V."""
        scaled = self.scale[:, None] * V
        if self.maps is None:
            product = kernel_product(self.P, self.kernel, scaled, precision=self.precision, engine=self.engine)
        else:
            product = feature_product(self.P, self.maps, scaled, self.engine)
        product *= self.scale[:, None]
        product -= self.shift * V.sum(axis=0) + (self.diagonal - self.shift)[:, None] * V
        return product

    @cached_property
    def diagonal(self) -> Array:
        """The diagonal of Diag(scale) K Diag(scale), as the products contain it."""
        own = kernel_diagonal(self.P, self.kernel)
        if self.maps is not None:
            own -= omissions(self.P, self.maps)
        diagonal: Array = self.scale**2 * own
        return diagonal

    @property
    def size(self) -> float:
        """Approximately the largest absolute entry of the scaled kernel matrix."""
        return max(float(np.abs(self.diagonal).max()), abs(self.shift))


def kernel_diagonal(P: Array, kernel: Kernel) -> Array:
    """Return the diagonal of K: f(‖p‖²) for terms of product form, f(0) for the others."""
    squares = np.einsum("iq,iq->i", P, P)[:, None]
    diagonal: Array = np.zeros_like(squares)
    first = slice(0, 1)
    for weight, term in kernel.terms:
        if term.form == "product":
            diagonal += weight * term.value(squares)
        else:
            diagonal += weight * term.restricted(first, first).value(np.zeros((1, 1)))
    return diagonal[:, 0]


def affordable_maps(P: Array, kernel: Kernel, left_out: float) -> list[TermMap] | None:
    """Return feature maps that leave out at most the mean share `left_out` of Kii; None if tiles cost less.

    The rest is positive semidefinite, so that its largest eigenvalue is at most its trace.
    """
    n, q = P.shape
    squares = _square_lengths(P)
    for degree in range(MAX_DEGREE + 1):
        maps = taylor_maps(kernel, q, degree)
        if maps is None or sum(each.value.count for each in maps) * ROWS_PER_FEATURE > n:
            return None
        if _omitted(squares, maps).mean() <= left_out:
            return maps
    return None


def omissions(P: Array, maps: list[TermMap]) -> Array:
    """Return what truncated maps leave out of Kii."""
    return _omitted(_square_lengths(P), maps)


def _square_lengths(P: Array) -> Array:
    centered = P - P.mean(axis=0)
    return np.asarray(np.einsum("iq,iq->i", centered, centered))


def _omitted(squares: Array, maps: list[TermMap]) -> Array:
    total = np.zeros(len(squares))
    for each in maps:
        if isinstance(each.value, Taylor):
            total += each.weight * gammainc(each.value.degree + 1, squares / each.value.sigma**2)
    return total


def feature_product(P: Array, maps: list[TermMap], V: Array, engine: Engine = LOCAL) -> Array:
    """Return K V = F Diag(w) FᵀV, summed over the terms of the kernel."""
    offset, used = P.mean(axis=0), [each.value for each in maps]
    fewest, most = (COMPILED_BLOCK, COMPILED_BLOCK) if are_compiled(used, len(P)) else BLOCKS
    size = min(most, max(fewest, BLOCK_NUMBERS // max(each.numbers_per_row for each in used)))
    blocks = -(-len(P) // size)
    parts = engine.run(_gathered, blocks, P, offset, maps, V, size)
    sums = [sum(each[1:], start=each[0]) for each in zip(*parts, strict=True)]
    scaled = [each.weight * each.value.weights[:, None] * total for each, total in zip(maps, sums, strict=True)]
    product = np.empty_like(V)
    for share in engine.run(_expanded, blocks, P, offset, maps, scaled, size):
        for rows, values in share:
            product[rows] = values
    return product


def _gathered(share: list[int], P: Array, offset: Array, maps: list[TermMap], V: Array, size: int) -> list[Array]:
    """Return FᵀV of each term, over a share of the rows."""
    sums = [np.zeros((each.value.count, V.shape[1])) for each in maps]
    for rows, features in _features(share, P, offset, maps, size):
        for total, F in zip(sums, features, strict=True):
            total += F.gathered(V[rows])
    return sums


def _expanded(
    share: list[int], P: Array, offset: Array, maps: list[TermMap], sums: list[Array], size: int
) -> list[tuple[slice, Array]]:
    """Return F times the gathered sums, for a share of the rows."""
    found = []
    for rows, features in _features(share, P, offset, maps, size):
        values = np.zeros((rows.stop - rows.start, sums[0].shape[1]))
        for total, F in zip(sums, features, strict=True):
            values += F.times(total)
        found.append((rows, values))
    return found


def _features(
    share: list[int], P: Array, offset: Array, maps: list[TermMap], size: int
) -> Iterator[tuple[slice, Iterator[Features]]]:
    """Yield the features of each term, block by block; those of distances come from centered rows."""
    for rows in row_passes.blocks_of(share, len(P), size):
        yield (
            rows,
            (features_of(each.value, P[rows] if each.form == "product" else P[rows] - offset, len(P)) for each in maps),
        )


def smallest_value(P: Array, kernel: Kernel, scale: Array) -> float:
    """Return approximately the smallest entry of Diag(scale) K Diag(scale), in time linear in n.

    The search compares some rows with all others, then repeats from the rows of the smallest entries: a row at one end
    of the data leads to the other end. A few affinities may stay slightly negative. That is harmless, since a degree
    sums thousands of them.
    """
    rows = np.unique(np.linspace(0, len(P) - 1, SEARCHED_ROWS).astype(np.intp))
    smallest = np.inf
    for _ in range(2):
        values, partners = _lowest(P, kernel, scale, rows)
        smallest = min(smallest, float(values.min()))
        rows = np.unique(partners)
    return smallest


def _lowest(P: Array, kernel: Kernel, scale: Array, rows: Ints) -> tuple[Array, Ints]:
    """Return for each of the rows its smallest entry, and the partner row of that entry."""
    order = np.concatenate([rows, np.setdiff1d(np.arange(len(P)), rows)])
    pairs = pairs_of(P[order], kernel.restricted(order, order))
    scale = scale[order]
    chosen = slice(0, len(rows))
    values, partners = np.full(len(rows), np.inf), rows.copy()
    width = int(TILE * pairs.width)
    for start in range(0, len(P), width):
        columns = slice(start, min(start + width, len(P)))
        tile = pairs.values(chosen, columns) * scale[chosen, None] * scale[columns]
        where = tile.argmin(axis=1)
        found = tile[np.arange(len(rows)), where]
        lower = found < values
        values[lower] = found[lower]
        partners[lower] = order[start + where[lower]]
    return values, partners
