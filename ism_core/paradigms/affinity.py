"""Products with the affinity of many projected rows, without a matrix of them.

A = Diag(scale) K Diag(scale) − shift, with zeros on the diagonal. Products with K go through feature maps where these
are cheaper than tiles; gaussians are cut at a degree. Features are made anew for every product, block by block: in the
cache that costs no more than reading them from memory would.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.special import gammainc

from ism_core.arrays import Array, Ints
from ism_core.engines.base import LOCAL, Engine
from ism_core.gamma import Features
from ism_core.kernels import MAX_DEGREE, Kernel, Taylor, TermMap, taylor_maps
from ism_core.linalg.row_passes import blocks_of
from ism_core.objective import (
    COMPILED_BLOCK,
    TILE,
    Precision,
    are_compiled,
    features_of,
    kernel_product,
    pairs_of,
)

FEATURE_ROWS = 2  # features are used where there is one for this many rows at the most: there tiles cost as much
LOOKED_AT = 256  # rows that the smallest value is looked for among, each against all others
BLOCK_NUMBERS = 2**18  # of features in a block of rows: they stay in the cache
BLOCKS = (64, 2_048)  # rows


@dataclass(frozen=True)
class Affinity:
    """V ↦ A V"""

    P: Array
    kernel: Kernel
    scale: Array
    shift: float
    maps: list[TermMap] | None  # None: tiles
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
        """A kernel that goes negative is shifted by about its smallest value; cut maps may leave out so much of f."""
        shift = 0.0 if kernel.nonnegative else smallest_value(P, kernel, scale)
        return Affinity(P, kernel, scale, shift, affordable_maps(P, kernel, left_out), precision, engine)

    def times(self, V: Array) -> Array:
        """A V"""
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
        """Of Diag(scale) K Diag(scale), as it is in the products."""
        own = kernel_diagonal(self.P, self.kernel)
        if self.maps is not None:
            own -= omissions(self.P, self.maps)
        diagonal: Array = self.scale**2 * own
        return diagonal

    @property
    def size(self) -> float:
        """Of the entries that A was made from."""
        return max(float(np.abs(self.diagonal).max()), abs(self.shift))


def kernel_diagonal(P: Array, kernel: Kernel) -> Array:
    """The diagonal of K: f(‖p‖²) for terms of product form, f(0) for the others."""
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
    """Feature maps with gaussians cut to leave out no more than that of Kii, on average; None where tiles cost less.

    What is left out is positive semidefinite, so that its largest eigenvalue is at most its trace.
    """
    n, q = P.shape
    squares = _square_lengths(P)
    for degree in range(MAX_DEGREE + 1):
        maps = taylor_maps(kernel, q, degree)
        if maps is None or sum(each.value.count for each in maps) * FEATURE_ROWS > n:
            return None
        if _omitted(squares, maps).mean() <= left_out:
            return maps
    return None


def omissions(P: Array, maps: list[TermMap]) -> Array:
    """What cut maps leave out of Kii."""
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
    """K V = F Diag(w) FᵀV, added up over the terms of the kernel."""
    offset, used = P.mean(axis=0), [each.value for each in maps]
    fewest, most = (COMPILED_BLOCK, COMPILED_BLOCK) if are_compiled(used, len(P)) else BLOCKS
    size = min(most, max(fewest, BLOCK_NUMBERS // max(each.made for each in used)))
    blocks = -(-len(P) // size)
    parts = engine.run(_gathered, blocks, P, offset, maps, V, size)
    sums = [sum(each[1:], start=each[0]) for each in zip(*parts, strict=True)]
    scaled = [each.weight * each.value.weights[:, None] * total for each, total in zip(maps, sums, strict=True)]
    product = np.empty_like(V)
    for share in engine.run(_handed_back, blocks, P, offset, maps, scaled, size):
        for rows, values in share:
            product[rows] = values
    return product


def _gathered(share: list[int], P: Array, offset: Array, maps: list[TermMap], V: Array, size: int) -> list[Array]:
    """FᵀV of each term, over a share of the rows."""
    sums = [np.zeros((each.value.count, V.shape[1])) for each in maps]
    for rows, features in _features(share, P, offset, maps, size):
        for total, F in zip(sums, features, strict=True):
            total += F.gathered(V[rows])
    return sums


def _handed_back(
    share: list[int], P: Array, offset: Array, maps: list[TermMap], sums: list[Array], size: int
) -> list[tuple[slice, Array]]:
    """F times those sums, for a share of the rows."""
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
    """Block by block the features of each term; distances do not see an offset, and theirs are of rows without it."""
    for rows in blocks_of(share, len(P), size):
        yield (
            rows,
            (features_of(each.value, P[rows] if each.form == "product" else P[rows] - offset, len(P)) for each in maps),
        )


def smallest_value(P: Array, kernel: Kernel, scale: Array) -> float:
    """About the smallest entry of Diag(scale) K Diag(scale), in time linear in n.

    It is looked for between some of the rows and all others, and again from the rows where those have their smallest:
    a row at one end of the data leads to the other end. An affinity or two may be left below 0 by a little, in degrees
    that are sums of thousands.
    """
    rows = np.unique(np.linspace(0, len(P) - 1, LOOKED_AT).astype(np.intp))
    smallest = np.inf
    for _ in range(2):
        values, partners = _lowest(P, kernel, scale, rows)
        smallest = min(smallest, float(values.min()))
        rows = np.unique(partners)
    return smallest


def _lowest(P: Array, kernel: Kernel, scale: Array, rows: Ints) -> tuple[Array, Ints]:
    """For each of those rows its smallest entry, and the row that it has it with."""
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
