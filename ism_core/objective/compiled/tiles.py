"""Sums over a tile of pairs, compiled: f, f′, ⊙ Γ, sums and products, block by block, while a block is in the cache.

Importing this module imports numba; only `compiled.pairs` does. One version for each precision serves all kernels, and
numba caches it on disk. Functions for a few rows take whole arrays and slice them themselves: slices made by the caller
would be reference-counted, which takes as long as the work.
"""

from typing import NamedTuple

import numpy as np

from ism_core.arrays import Array
from ism_core.linalg import Tile
from ism_core.objective.compiled.products import (
    PIECE_ROWS,
    PIECE_VECTORS,
    VECTOR_BYTES,
    Strips,
    add_product,
    add_strips,
    cached,
    fast,
    round_up,
    set_piece,
)
from ism_core.objective.compiled.terms import (
    GAUSSIAN,
    MULTIQUADRATIC,
    Scratch,
    Terms,
    over_gaussian,
    over_known,
    over_multiquadratic,
    polynomial,
)

# Hashes of the other files that this one is compiled with: numba's cache notices a change of this file only.
PARTS = {"products": "3ef4d9967dcf70f2", "terms": "914a0adc5bfb5e6f"}

BLOCK_ROWS = 448  # largest number of rows of a block: its M stays in the second-level cache
ROW_BYTES = 1152  # largest size of a row of a block: as many rows of a strip of X stay in the first-level cache


class Factors(NamedTuple):
    """The factors of β in one form, or of Γ. The left factor ends with PIECE_ROWS rows of zeros."""

    left: Tile
    right: Tile


class Weights(NamedTuple):
    """Γ: a product of factors; or, by label, computed from classes and offsets."""

    by_label: bool
    factors: Factors
    excess: Tile  # rounding error of Γ, in each row and column


@fast
def _part(count: int, most: int) -> int:
    """The size of the fewest equal parts that are no larger than `most`."""
    parts = (count + most - 1) // most
    return (count + parts - 1) // parts


@fast
def _label_gamma(weights: Weights, row: int, column: int, count: int, width: int, gamma: Array) -> None:
    """Γ of class labels: 1 for two rows of one class, plus an offset of the row and one of the column."""
    zero, one, left, right = gamma.dtype.type(0), gamma.dtype.type(1), weights.factors.left, weights.factors.right
    codes, offsets = right[0, column : column + width], right[1, column : column + width]
    for i in range(count):
        code, offset, out = left[row + i, 0], left[row + i, 1], gamma[i, :width]
        for j in range(width):
            out[j] = (one if codes[j] == code else zero) + offset + offsets[j]


@fast
def _pack(right: Array, column: int, width: int, packed: Array) -> None:
    """Pack columns of a right factor into strips, with zeros behind the last."""
    wide, steps = PIECE_VECTORS * VECTOR_BYTES // packed.itemsize, len(right)
    for start in range(0, width, wide):
        there = min(wide, width - start)
        for k in range(steps):
            few, at = right[k, column + start : column + start + there], start * steps + k * wide
            for j in range(there):
                packed[at + j] = few[j]
            for j in range(there, wide):
                packed[at + j] = 0


@fast
def _few_rows(left: Array, row: int, packed: Array, width: int, out: Array) -> None:
    """PIECE_ROWS rows of a left factor times the packed columns of the right."""
    wide, steps = PIECE_VECTORS * VECTOR_BYTES // packed.itemsize, left.shape[1]
    for start in range(0, width, wide):
        set_piece(left, row * steps, steps, 1, packed, start * steps, steps, out, start, out.shape[1])


@fast
def _clear(M: Array, h: int, j: int, width: int) -> None:
    """Write zeros into the next PIECE_ROWS rows, and into as many columns as whole pieces reach."""
    for i in range(h, min(h + PIECE_ROWS, len(M))):
        row = M[i, j : j + round_up(width, PIECE_ROWS)]
        for k in range(len(row)):
            row[k] = 0


@fast
def _over_term(
    weighs: bool,
    terms: Terms,
    term: int,
    excess: Array,
    row: int,
    column: int,
    h: int,
    j: int,
    count: int,
    width: int,
    scratch: Scratch,
) -> float:
    """Add one term to a few rows of M (or of f), from M[h, j] on; return its Σ Γf."""
    kind, first, scales = terms.codes[term, 0], term * len(excess) + column, terms.column_scales
    objective: float
    if kind == GAUSSIAN:
        objective = over_gaussian(
            weighs, terms, term, scales, first, 0, excess, row, column, h, j, count, width, scratch
        )
    elif kind == MULTIQUADRATIC:
        objective = over_multiquadratic(
            weighs, terms, term, scales, first, 0, excess, row, column, h, j, count, width, scratch
        )
    else:
        polynomial(terms, term, count, width, scratch)
        stride = scratch.beta.shape[1]
        objective = over_known(
            weighs, terms, term, scratch.slope, 0, stride, excess, row, column, h, j, count, width, scratch
        )
    return objective


@fast
def _block(
    weighs: bool,
    terms: Terms,
    factors: tuple[Factors, Factors],
    weights: Weights,
    packed: tuple[Array, Array, Array],
    first: int,
    height: int,
    column: int,
    width: int,
    h: int,
    j: int,
    scratch: Scratch,
) -> float:
    """Compute M of a block, from M[h, j] on, with its sums, and return Σ Γf; or compute f in the place of M."""
    objective = 0.0
    _pack(factors[0].right, column, width, packed[0])
    _pack(factors[1].right, column, width, packed[1])
    if not weights.by_label:
        _pack(weights.factors.right, column, width, packed[2])
    scratch.column_sums[:] = 0
    for few in range(0, height, PIECE_ROWS):
        count, row = min(PIECE_ROWS, height - few), first + few
        _clear(scratch.M, h + few, j, width)
        if not weights.by_label:
            _few_rows(weights.factors.left, row, packed[2], width, scratch.gamma)
        elif weighs:
            _label_gamma(weights, row, column, count, width, scratch.gamma)
        for term in range(len(terms.codes)):
            if terms.codes[term, 2]:
                _few_rows(factors[1].left, row, packed[1], width, scratch.beta)
            else:
                _few_rows(factors[0].left, row, packed[0], width, scratch.beta)
            objective += _over_term(weighs, terms, term, weights.excess, row, column, h + few, j, count, width, scratch)
    return objective


@cached
def over_tile(
    weighs: bool,
    terms: Terms,
    factors: tuple[Factors, Factors],
    weights: Weights,
    rows: tuple[int, int],
    columns: tuple[int, int],
    M: Array,
    degrees: Array,
    share: float,
    X: Strips,
    sums: Array,
    out: Array,
    mirrored: Array,
) -> float:
    """Compute M = factor · Γ ⊙ f′(β) of a tile (or f(β), if it does not weigh), and return Σ Γf.

    Half of the sums of M is subtracted from the degrees. If X has columns, a share of M X[columns] is added to `out`,
    and a share of Mᵀ X[rows] to `mirrored` if that has rows; then M is scratch memory for one block, and `sums` for its
    products. If X has no columns, M holds the tile.
    """
    objective, lanes = 0.0, VECTOR_BYTES // M.itemsize
    most, wide = ROW_BYTES // M.itemsize, round_up(X.columns, lanes)
    few = np.empty((3, PIECE_ROWS, most), M.dtype)
    scratch = Scratch(M, few[0], few[1], few[2].reshape(-1), degrees, np.empty((2, most), M.dtype))
    packed = (
        np.empty(len(factors[0].right) * most, M.dtype),
        np.empty(len(factors[1].right) * most, M.dtype),
        np.empty(len(weights.factors.right) * most, M.dtype),
    )
    down, across = _part(rows[1] - rows[0], BLOCK_ROWS), _part(columns[1] - columns[0], most)
    for first in range(rows[0], rows[1], down):
        height = min(down, rows[1] - first)
        sums[0, : round_up(height, PIECE_ROWS) * wide] = 0
        for column in range(columns[0], columns[1], across):
            width = min(across, columns[1] - column)
            h, j = (0, 0) if X.columns else (first - rows[0], column - columns[0])
            objective += _block(weighs, terms, factors, weights, packed, first, height, column, width, h, j, scratch)
            if weighs and rows[0] != columns[0]:
                for i in range(width):
                    degrees[column + i] -= 0.5 * scratch.column_sums[1, i]
            if X.columns:
                if share != 1:
                    M *= M.dtype.type(share)
                add_product(M, height, M.shape[1], 1, width, X, column, sums[0])
                if len(mirrored):
                    sums[1, : round_up(width, PIECE_ROWS) * wide] = 0
                    add_product(M, width, 1, M.shape[1], height, X, first, sums[1])
                    add_strips(sums[1], width, lanes, mirrored, column - columns[0])
        if X.columns:
            add_strips(sums[0], height, lanes, out, first - rows[0])
    return objective
