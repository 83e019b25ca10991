"""Sums over the features of many rows, compiled: features are made in the cache, multiplied there and discarded.

Features are monomials of a row, or the cosines and sines of random features. Importing this module imports numba; only
`ism_core.objective.feature_blocks` does, for problems that are large enough.
"""

from typing import Any

import numpy as np
from llvmlite import ir  # type: ignore[import-untyped]
from numba import types
from numba.extending import intrinsic

from ism_core.arrays import Array, Ints
from ism_core.objective.compiled.products import (
    PIECE_ROWS,
    PIECE_VECTORS,
    VECTOR_BYTES,
    Strips,
    add_product,
    add_strips,
    cached,
    exact,
    fast,
    round_up,
)

# Hashes of the other files that this one is compiled with: numba's cache notices a change of this file only.
PARTS = {"products": "235fa31c033cde17"}

PI_HIGH, PI_LOW = 3.141592653589793, 1.2246467991473532e-16  # π in two numbers
ROUNDER = 6755399441055744.0  # 1.5 · 2^52: adding it rounds to a whole number, which stands in the lowest bits


def _with_parity_sign_of(_typing: Any, value: Any, shifted: Any) -> Any:
    """value · (−1)^m, for the m in the lowest bits of m + ROUNDER."""

    def write(_context: Any, builder: Any, _signature: Any, args: Any) -> Any:
        whole = ir.IntType(64)
        sign = builder.shl(builder.bitcast(args[1], whole), ir.Constant(whole, 63))
        return builder.bitcast(builder.xor(builder.bitcast(args[0], whole), sign), args[0].type)

    return types.float64(types.float64, types.float64), write


_with_parity_sign: Any = intrinsic(_with_parity_sign_of)


@exact
def cos_sin(angles: Array, cosines: Array, sines: Array) -> None:
    """Write the cosines and sines of the angles, to 1e-15 and to the rounding of the angle, in a loop that vectorizes.

    An angle is mπ + r with |r| ≤ π/2. The polynomials in r² interpolate cos r and (sin r)/r in Chebyshev nodes, with
    errors of at most 4e-18 and 2e-19.
    """
    for i in range(len(angles)):
        x = angles[i]
        shifted = x * 0.3183098861837907 + ROUNDER  # 1/π
        m = shifted - ROUNDER
        r = x - m * PI_HIGH
        r = r - m * PI_LOW
        u = r * r
        c = 4.60897700283419e-14 * u - 1.1462901901741764e-11
        c = c * u + 2.0876561839932584e-09
        c = c * u - 2.755731639102574e-07
        c = c * u + 2.4801587277414923e-05
        c = c * u - 0.001388888888877299
        c = c * u + 0.04166666666666388
        c = c * u - 0.4999999999999997
        c = c * u + 1.0
        s = 2.7215749422098424e-15 * u - 7.643026557963443e-13
        s = s * u + 1.6058940878486252e-10
        s = s * u - 2.5052106890569513e-08
        s = s * u + 2.7557319211229606e-06
        s = s * u - 0.00019841269841208676
        s = s * u + 0.008333333333333186
        s = s * u - 0.16666666666666666
        s = s * u + 1.0
        cosines[i] = _with_parity_sign(c, shifted)
        sines[i] = _with_parity_sign(s * r, shifted)


@fast
def _make_monomials(
    coordinates: Array, factors: Array, steps: Ints, first: int, count: int, stride: int, values: Array
) -> None:
    """Write the monomials of some rows times a factor for each row: a line of values for each monomial."""
    for i in range(count):
        values[i] = factors[first + i]
    for step in range(len(steps)):
        coordinate, parent, child, last = steps[step, 0], steps[step, 1], steps[step, 2], steps[step, 3]
        times = coordinates[coordinate, :count]
        for k in range(last - child):
            of, to = values[(parent + k) * stride :][:count], values[(child + k) * stride :][:count]
            for i in range(count):
                to[i] = of[i] * times[i]


@fast
def _make_waves(coordinates: Array, frequencies: Array, count: int, stride: int, values: Array) -> None:
    """Write the cosines of the rows' angles, then the sines, then ones, in the same layout."""
    waves, angles = frequencies.shape[1], np.empty(count)
    for wave in range(waves):
        cosines, sines = values[wave * stride :][:count], values[(waves + wave) * stride :][:count]
        angles[:] = 0
        for coordinate in range(len(frequencies)):
            frequency, times = frequencies[coordinate, wave], coordinates[coordinate, :count]
            for i in range(count):
                angles[i] += frequency * times[i]
        cos_sin(angles, cosines, sines)
    values[2 * waves * stride :][:count] = 1


@fast
def _pack(X: Array, first: int, rows: int, numbers: Array) -> None:
    """Pack some rows of X into strips, with zeros behind the last column."""
    columns, lanes = X.shape[1], VECTOR_BYTES // X.itemsize
    for start in range(0, columns, PIECE_VECTORS * lanes):
        width = min(PIECE_VECTORS * lanes, round_up(columns - start, lanes))
        filled = min(width, columns - start)
        for i in range(rows):
            row, strip = X[first + i, start : start + filled], numbers[start * rows + i * width :][:width]
            for j in range(filled):
                strip[j] = row[j]
            for j in range(filled, width):
                strip[j] = 0


@cached
def over_features(
    gathers: bool,
    P: Array,
    factors: Array,
    steps: Ints,
    begin: int,
    frequencies: Array,
    block: int,
    X: Array,
    values: Array,
    packed: Array,
    sums: Array,
    out: Array,
) -> None:
    """Add FᵀX (if `gathers`) or FX to `out`, for the features F of the rows of P.

    F holds waves if there are frequencies, else the monomials from `begin` on, times a factor for each row. Rows are
    taken `block` at a time, a multiple of PIECE_ROWS. `values`, `packed` and `sums` are scratch memory: for all
    features of a block and PIECE_ROWS more, for a block of X or all of X in strips, and for sums in strips.
    """
    rows, columns, lanes = len(P), X.shape[1], VECTOR_BYTES // P.itemsize
    coordinates = np.empty((P.shape[1], block))
    count = len(out) if gathers else len(X)
    width = round_up(columns, lanes)
    used_values = values[begin * block :]
    if gathers:
        sums[: round_up(count, PIECE_ROWS) * width] = 0
    else:
        _pack(X, 0, count, packed)
    for first in range(0, rows, block):
        few = min(block, rows - first)
        for coordinate in range(P.shape[1]):
            for i in range(few):
                coordinates[coordinate, i] = P[first + i, coordinate]
        if frequencies.shape[1]:
            _make_waves(coordinates, frequencies, few, block, values)
        else:
            _make_monomials(coordinates, factors, steps, first, few, block, values)
        if gathers:
            _pack(X, first, few, packed)
            add_product(used_values, count, block, 1, few, Strips(packed, few, columns), 0, sums)
        else:
            sums[: round_up(few, PIECE_ROWS) * width] = 0
            add_product(used_values, few, 1, block, count, Strips(packed, count, columns), 0, sums)
            add_strips(sums, few, lanes, out, first)
    if gathers:
        add_strips(sums, count, lanes, out, 0)
