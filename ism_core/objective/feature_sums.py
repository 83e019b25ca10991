"""Sums over rows that `features` needs: moments, weighted squares, and coefficients of each row, block by block.

`RowSums` is what these sums are taken over. `PlacedRows` are rows in memory; `partitions` has rows that are read again
for each sum.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeVar

import numpy as np

from ism_core.arrays import Array, Ints
from ism_core.engines import LOCAL, Engine, Placed
from ism_core.gamma import Gamma
from ism_core.kernels import FeatureMap, Form
from ism_core.linalg import row_passes
from ism_core.objective.feature_blocks import features_of

T = TypeVar("T")
Parts = list[tuple[FeatureMap, Array]]  # feature maps, each with the coefficients of its features


class Blocks(NamedTuple):
    """How rows are divided into blocks."""

    size: int  # rows of a block
    rows: int  # rows in all, which decides whether compiled code pays


# Returns the part of a sum that belongs to some blocks, as work(share, X, P, gamma, blocks, *args): `share` has the
# numbers of the blocks, and X is None for sums that do not read it.
Work = Callable[..., T]


class RowSums(ABC):
    """Rows X, their projections P = XW and their Γ, for sums over blocks of rows."""

    rows: int
    columns: int
    center: Array  # that the projected rows of terms with distances are taken from
    gamma: Gamma  # with the weights s; partitions have no rows of U here

    @abstractmethod
    def total(self, work: Work[T], size: int, *args: Any, reads_X: bool = True) -> T:
        """Return the sum of `work` over blocks of `size` rows."""

    @abstractmethod
    def column_sums(self, size: int, *args: Any) -> Array:
        """Return XᵀC, where `row_coefficients` gives the rows of C in blocks of `size` rows."""


@dataclass(frozen=True)
class PlacedRows(RowSums):
    """Rows in memory, placed where the engine works on them."""

    X: Placed[Array]
    P: Placed[Array]
    center: Array
    placed_gamma: Placed[Gamma]
    engine: Engine

    @staticmethod
    def of(X: Placed[Array], gamma: Placed[Gamma], W: Array, engine: Engine = LOCAL) -> "PlacedRows":
        """Project the rows in this process, which is faster than to fetch the projections."""
        P = row_passes.projected(X.here, W)
        return PlacedRows(X, engine.place(P), P.mean(axis=0), gamma, engine)

    @property
    def rows(self) -> int:  # type: ignore[override]
        return len(self.P.here)

    @property
    def columns(self) -> int:  # type: ignore[override]
        return int(self.X.here.shape[1])

    @property
    def gamma(self) -> Gamma:  # type: ignore[override]
        return self.placed_gamma.here

    def total(self, work: Work[T], size: int, *args: Any, reads_X: bool = True) -> T:
        X, blocks = self.X if reads_X else None, Blocks(size, self.rows)
        return self.engine.total(work, -(-self.rows // size), X, self.P, self.placed_gamma, blocks, *args)

    def column_sums(self, size: int, *args: Any) -> Array:
        return row_passes.column_sums(self.X.here, self.coefficients(size, *args))

    def coefficients(self, size: int, *args: Any) -> Array:
        """Return the n×q matrix C."""
        blocks = Blocks(size, self.rows)
        shares = self.engine.run(
            row_coefficients, -(-self.rows // size), None, self.P, self.placed_gamma, blocks, *args
        )
        C = np.empty_like(self.P.here)
        for rows, values in (block for share in shares for block in share):
            C[rows] = values
        return C


def add_moments(
    share: list[int],
    X: Array | None,
    P: Array,
    gamma: Gamma,
    blocks: Blocks,
    offset: Array,
    derivatives: list[FeatureMap],
    forms: list[Form],
) -> list[Array]:
    """Return the moments of each term over the blocks of a share."""
    n, q = P.shape
    d = 0 if X is None else X.shape[1]
    totals = [gamma.no_moments(each.count, d + q + 2) for each in derivatives]
    columns = np.ones((blocks.size, d + q + 2))
    for block in row_passes.blocks_of(share, n, blocks.size):
        rows = gamma.rows(block)
        centered = P[rows] - offset
        Z = columns[: len(centered)]
        if X is not None:
            Z[:, :d] = X[rows]
        Z[:, d : d + q] = centered
        np.einsum("iq,iq->i", centered, centered, out=Z[:, -2])
        for total, each, form in zip(totals, derivatives, forms, strict=True):
            F = features_of(each, centered if form == "difference" else P[rows], blocks.rows)
            gamma.add_moments(total, block, F, Z)
    return totals


def weighted_squares(
    share: list[int], X: Array, P: Array, gamma: Gamma, blocks: Blocks, offset: Array, parts: Parts
) -> Array:
    """Return XᵀDX with D = Diag(Ψ1), over the blocks of a share."""
    d = X.shape[1]
    total = np.zeros((d, d))
    roots = np.empty((min(blocks.size, len(X)), d))
    for block in row_passes.blocks_of(share, len(X), blocks.size):
        rows = gamma.rows(block)
        centered = P[rows] - offset
        degrees = np.zeros(len(centered))
        for each, G in parts:
            degrees += gamma.mix(block, features_of(each, centered, blocks.rows), G)[:, 0]
        add_weighted_square(total, X, np.arange(len(X))[rows], degrees, roots)
    return total


def row_coefficients(
    share: list[int],
    X: Array | None,
    P: Array,
    gamma: Gamma,
    blocks: Blocks,
    offset: Array,
    parts: Parts,
    forms: list[Form],
) -> list[tuple[slice | Ints, Array]]:
    """Return the rows of C in each block of a share."""
    n, q = P.shape
    found = []
    for block in row_passes.blocks_of(share, n, blocks.size):
        rows = gamma.rows(block)
        p, centered = P[rows], P[rows] - offset
        C = np.zeros_like(p)
        for (each, G), form in zip(parts, forms, strict=True):
            mixed = gamma.mix(block, features_of(each, centered if form == "difference" else p, blocks.rows), G)
            C += mixed[:, :q]
            if mixed.shape[1] > q:
                C += centered * mixed[:, q:]
        found.append((rows, C))
    return found


def add_weighted_square(total: Array, A: Array, rows: Ints, weights: Array, memory: Array) -> None:
    """Add Aᵀ Diag(weights) A of some rows as ±ZᵀZ, which the BLAS computes with half the flops of other products."""
    for add, chosen in ((np.add, weights > 0), (np.subtract, ~(weights > 0))):
        count = np.count_nonzero(chosen)
        if count:
            roots = np.take(A, rows[chosen], axis=0, out=memory[:count], mode="clip")  # other modes copy
            roots *= np.sqrt(np.abs(weights[chosen]))[:, None]
            add(total, roots.T @ roots, out=total)
