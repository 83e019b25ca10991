"""Sums over a tile of pairs, compiled: f, f′, ⊙ Γ, sums and products, block by block, while a block is in the cache.

Importing this module imports numba, so that only `compiled.pairs` does, and only for problems it pays for.
What is compiled is kept on disk, one version a precision, for all kernels. What is called for a few rows takes whole
arrays and cuts its pieces out of them itself: the caller would count references to every cut, which takes as long.
"""

from typing import NamedTuple

import numpy as np

from ism_core.arrays import Array
from ism_core.linalg.buffers import Tile
from ism_core.objective.compiled.microkernel import BYTES, HIGH, VECTORS, put
from ism_core.objective.compiled.products import Strips, add_strips, kept, multiply, summed, up_to
from ism_core.objective.compiled.terms import (
    GAUSSIAN,
    MULTIQUADRATIC,
    Room,
    Terms,
    fill_gaussian,
    fill_known,
    fill_multiquadratic,
    polynomial,
    weigh_gaussian,
    weigh_known,
    weigh_multiquadratic,
)

# Of the files that this one is compiled with: numba looks at this file alone to see whether what it kept still holds.
PARTS = {
    "products": "dfe2f4ec3d952608",
    "terms": "c043a500cebd4946",
    "microkernel": "9a77677b7837f4c5",
}

HEIGHT = 448  # rows of a block at most: M of it stays in the second cache
ROW_BYTES = 1152  # of a block at most: whole pieces, and as many rows of a strip of X stay in the first cache


class Factors(NamedTuple):
    """What left · right gives: β of one form, or Γ. Behind the last row of the left there are rows of zeros."""

    left: Tile
    right: Tile


class Weights(NamedTuple):
    """Γ: a product of factors; or by label, from classes and offsets."""

    by_label: bool
    factors: Factors
    excess: Tile  # what Γ is known to be too large by, in each row and column


@summed
def _part(count: int, most: int) -> int:
    """The size of parts that are no larger than that, as few as can be, and all alike."""
    parts = (count + most - 1) // most
    return (count + parts - 1) // parts


@summed
def _alike(weights: Weights, row: int, column: int, count: int, width: int, gamma: Array) -> None:
    """Γ of class labels: whether the class is the same, plus an offset of the row and one of the column."""
    zero, one, left, right = gamma.dtype.type(0), gamma.dtype.type(1), weights.factors.left, weights.factors.right
    codes, offsets = right[0, column : column + width], right[1, column : column + width]
    for i in range(count):
        code, offset, out = left[row + i, 0], left[row + i, 1], gamma[i, :width]
        for j in range(width):
            out[j] = (one if codes[j] == code else zero) + offset + offsets[j]


@summed
def _pack(right: Array, column: int, width: int, packed: Array) -> None:
    """Columns of a right factor, as `put` takes them: strip by strip, with zeros behind the last."""
    wide, steps = VECTORS * BYTES // packed.itemsize, len(right)
    for start in range(0, width, wide):
        there = min(wide, width - start)
        for k in range(steps):
            few, at = right[k, column + start : column + start + there], start * steps + k * wide
            for j in range(there):
                packed[at + j] = few[j]
            for j in range(there, wide):
                packed[at + j] = 0


@summed
def _few_rows(left: Array, row: int, packed: Array, width: int, out: Array) -> None:
    """HIGH rows of a left factor times what is packed of the right."""
    wide, steps = VECTORS * BYTES // packed.itemsize, left.shape[1]
    for start in range(0, width, wide):
        put(left, row * steps, steps, 1, packed, start * steps, steps, out, start, out.shape[1])


@summed
def _clear(M: Array, h: int, j: int, width: int) -> None:
    """The next HIGH rows, and as many columns as pieces of so many reach."""
    for i in range(h, min(h + HIGH, len(M))):
        row = M[i, j : j + up_to(width, HIGH)]
        for k in range(len(row)):
            row[k] = 0


@summed
def _weigh(
    terms: Terms, term: int, excess: Array, row: int, column: int, h: int, j: int, count: int, width: int, room: Room
) -> float:
    """A few rows of M of one term, from M[h, j] on; their Σ Γf is returned."""
    kind, first, scales = terms.codes[term, 0], term * len(excess) + column, terms.column_scales
    objective: float
    if kind == GAUSSIAN:
        objective = weigh_gaussian(terms, term, scales, first, 0, excess, row, column, h, j, count, width, room)
    elif kind == MULTIQUADRATIC:
        objective = weigh_multiquadratic(terms, term, scales, first, 0, excess, row, column, h, j, count, width, room)
    else:
        polynomial(terms, term, count, width, room)
        further = room.beta.shape[1]
        objective = weigh_known(terms, term, room.slope, 0, further, excess, row, column, h, j, count, width, room)
    return objective


@summed
def _fill(
    terms: Terms, term: int, n: int, row: int, column: int, h: int, j: int, count: int, width: int, room: Room
) -> None:
    """A few rows of f of one term, from M[h, j] on."""
    kind, first, scales = terms.codes[term, 0], term * n + column, terms.column_scales
    if kind == GAUSSIAN:
        fill_gaussian(terms, term, scales, first, 0, row, h, j, count, width, room)
    elif kind == MULTIQUADRATIC:
        fill_multiquadratic(terms, term, scales, first, 0, row, h, j, count, width, room)
    else:
        polynomial(terms, term, count, width, room)
        fill_known(terms, term, room.slope, 0, room.beta.shape[1], row, h, j, count, width, room)


@summed
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
    room: Room,
) -> float:
    """M of a block, from M[h, j] on, and its sums; Σ Γf is returned. Or f in the place of M."""
    objective = 0.0
    _pack(factors[0].right, column, width, packed[0])
    _pack(factors[1].right, column, width, packed[1])
    if not weights.by_label:
        _pack(weights.factors.right, column, width, packed[2])
    room.column_sums[:] = 0
    for few in range(0, height, HIGH):
        count, row = min(HIGH, height - few), first + few
        _clear(room.M, h + few, j, width)
        if not weights.by_label:
            _few_rows(weights.factors.left, row, packed[2], width, room.gamma)
        elif weighs:
            _alike(weights, row, column, count, width, room.gamma)
        for term in range(len(terms.codes)):
            if terms.codes[term, 2]:
                _few_rows(factors[1].left, row, packed[1], width, room.beta)
            else:
                _few_rows(factors[0].left, row, packed[0], width, room.beta)
            if weighs:
                objective += _weigh(terms, term, weights.excess, row, column, h + few, j, count, width, room)
            else:
                _fill(terms, term, len(weights.excess), row, column, h + few, j, count, width, room)
    return objective


@kept
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
    """M = factor · Γ ⊙ f′(β) over a tile: half of its sums is taken off the degrees, and Σ Γf returned. Or M = f(β).

    Where X has columns, a share of M X[columns] is added to out, and of Mᵀ X[rows] to what is mirrored if that has
    rows; M is room for one block, and sums for what is added up over it. Where X has none, M is left as it is.
    """
    objective, lanes = 0.0, BYTES // M.itemsize
    most, wide = ROW_BYTES // M.itemsize, up_to(X.columns, lanes)
    few = np.empty((3, HIGH, most), M.dtype)
    room = Room(M, few[0], few[1], few[2].reshape(-1), degrees, np.empty((2, most), M.dtype))
    packed = (
        np.empty(len(factors[0].right) * most, M.dtype),
        np.empty(len(factors[1].right) * most, M.dtype),
        np.empty(len(weights.factors.right) * most, M.dtype),
    )
    down, across = _part(rows[1] - rows[0], HEIGHT), _part(columns[1] - columns[0], most)
    for first in range(rows[0], rows[1], down):
        height = min(down, rows[1] - first)
        sums[0, : up_to(height, HIGH) * wide] = 0
        for column in range(columns[0], columns[1], across):
            width = min(across, columns[1] - column)
            h, j = (0, 0) if X.columns else (first - rows[0], column - columns[0])
            objective += _block(weighs, terms, factors, weights, packed, first, height, column, width, h, j, room)
            if weighs and rows[0] != columns[0]:
                for i in range(width):
                    degrees[column + i] -= 0.5 * room.column_sums[1, i]
            if X.columns:
                if share != 1:
                    M *= M.dtype.type(share)
                multiply(M, height, M.shape[1], 1, width, X, column, sums[0])
                if len(mirrored):
                    sums[1, : up_to(width, HIGH) * wide] = 0
                    multiply(M, width, 1, M.shape[1], height, X, first, sums[1])
                    add_strips(sums[1], width, lanes, mirrored, column - columns[0])
        if X.columns:
            add_strips(sums[0], height, lanes, out, first - rows[0])
    return objective
