"""f, f′, ⊙ Γ and sums of a tile of pairs in one compiled pass, in loops that vectorize.

Importing this module imports numba; only `compiled.pairs` does. One version for each precision serves all kernels, and
numba caches it on disk.
"""

import math
from typing import Any, NamedTuple

import numpy as np
from llvmlite import ir  # type: ignore[import-untyped]
from numba import types
from numba.extending import intrinsic, overload

from ism_core.arrays import Array, Ints, Tile
from ism_core.objective.compiled.products import cached, exact, fast

# Hashes of the other files that this one is compiled with: numba's cache notices a change of this file only.
PARTS = {"products": "235fa31c033cde17"}

GAUSSIAN, MULTIQUADRATIC, POLYNOMIAL = range(3)  # codes of the kinds of terms


class Terms(NamedTuple):
    """The terms of a kernel, as arrays."""

    codes: Ints  # for each term its kind, its degree, and the form of β: 0 for products, 1 for differences
    numbers: Array  # for each term γ or c², c, the smallest β, and the weight
    row_scales: Array  # terms×n: factor of β in each row
    column_scales: Array  # terms×n: factor of β in each column


class Labels(NamedTuple):
    """Γ of class labels: 1 for two rows of one class, plus an offset of each row. Empty for another Γ."""

    codes: Tile
    offsets: Tile
    excess: Tile  # rounding error of the offsets


def _times_power_of(_typing: Any, value: Any, shifted: Any) -> Any:
    """value · 2^m, for the m in the lowest bits of m plus 1.5 · 2^52 (in single precision, 1.5 · 2^23)."""
    width, mantissa = (64, 52) if value == types.float64 else (32, 23)

    def write(_context: Any, builder: Any, _signature: Any, args: Any) -> Any:
        whole = ir.IntType(width)
        power = builder.shl(builder.bitcast(args[1], whole), ir.Constant(whole, mantissa))
        return builder.bitcast(builder.add(builder.bitcast(args[0], whole), power), args[0].type)

    return value(value, shifted), write


_times_power: Any = intrinsic(_times_power_of)


@exact
def _exp_double(x: Any) -> Any:
    """e^x to 1 unit in the last place: 2^m times a minimax polynomial of degree 11 on ±½ log 2."""
    y = -708.0 if x < -708.0 else x
    shifted = y * 1.4426950408889634 + 6755399441055744.0  # 1.5 · 2^52
    m = shifted - 6755399441055744.0
    r = y - m * 6.93147180369123816490e-01
    r = r - m * 1.90821492927058770002e-10
    p = 2.49943163277611743e-8 * r + 2.76323085373495613e-7
    p = p * r + 2.75576225575811254e-6
    p = p * r + 2.48014864801524535e-5
    p = p * r + 1.98412694325754567e-4
    p = p * r + 1.38888889512626908e-3
    p = p * r + 8.33333333355935836e-3
    p = p * r + 4.16666666664926208e-2
    p = p * r + 1.66666666666661684e-1
    p = p * r + 5.0000000000000177e-1
    p = p * r + 1.0
    p = p * r + 1.0
    return 0.0 if x < -708.0 else _times_power(p, shifted)


_real: Any = np.float32


@exact
def _exp_single(x: Any) -> Any:
    """The same in single precision, with degree 6."""
    y = _real(-87.0) if x < _real(-87.0) else x
    shifted = y * _real(1.4426950408889634) + _real(12582912.0)  # 1.5 · 2^23
    m = shifted - _real(12582912.0)
    r = y - m * _real(0.693359375)
    r = r - m * _real(-2.12194440e-4)
    p = _real(1.38368143580511684e-3) * r + _real(8.37482461031759929e-3)
    p = p * r + _real(4.166822667452668e-2)
    p = p * r + _real(1.66664200623985949e-1)
    p = p * r + _real(4.99999920718253243e-1)
    p = p * r + _real(1.0)
    p = p * r + _real(1.0)
    return _real(0.0) if x < _real(-87.0) else _times_power(p, shifted)


def exp(x: float) -> float:
    """e^x for x ≤ 0, in a loop that vectorizes, unlike `math.exp`."""
    return math.exp(x)


@overload(exp, strict=False)
def _exp_of(x: Any) -> Any:
    return (lambda x: _exp_double(x)) if x == types.float64 else (lambda x: _exp_single(x))


@exact
def _gaussian(beta: float, column: float, row: float, _number: float, zero: float, _half: float) -> tuple[float, float]:
    factor = row * column
    exponent = beta * factor
    f = exp(zero if exponent > zero else exponent)
    return f, f * factor


@exact
def _multiquadratic(
    beta: float, _column: float, _row: float, square: float, zero: float, half: float
) -> tuple[float, float]:
    f = -math.sqrt((zero if beta < zero else beta) + square)
    return f, half / f


@exact
def _known(
    value: float, derivative: float, _row: float, _number: float, _zero: float, _half: float
) -> tuple[float, float]:
    return value, derivative


@exact
def _polynomial(terms: Terms, term: int, beta: Array, f: Array, derivative: Array) -> None:
    """Write f and f′ of one row of β."""
    gamma, offset, low = terms.numbers[term, 0], terms.numbers[term, 1], terms.numbers[term, 2]
    outer = gamma * beta.dtype.type(terms.codes[term, 1])
    inverse = beta.dtype.type(1) / outer
    for j in range(len(beta)):
        f[j] = gamma * (low if beta[j] < low else beta[j]) + offset
        derivative[j] = outer
    for _ in range(terms.codes[term, 1] - 1):
        for j in range(len(beta)):
            derivative[j] *= f[j]
    for j in range(len(beta)):
        f[j] *= derivative[j] * inverse


def _over_row(evaluate: Any) -> Any:
    """Return a function that adds one term to a row of M and to its column sums, and returns Σ Γf and the sum of M.

    The function corrects Σ Γf by the rounding error of Γ. If there are no column sums, it adds weight · f instead.
    """

    def run(
        terms: Terms,
        term: int,
        row: int,
        beta: Array,
        scales: Array,
        gamma: Array,
        excess: Array,
        M: Array,
        sums: Array,
    ) -> tuple[float, float]:
        zero, half = M.dtype.type(0), M.dtype.type(0.5)
        scale, number, weight = terms.row_scales[term, row], terms.numbers[term, 0], terms.numbers[term, 3]
        factor = -weight - weight if terms.codes[term, 2] else weight
        objective, wrong, total = zero, zero, zero
        if len(sums) == 0:
            for j in range(len(M)):
                M[j] += weight * evaluate(beta[j], scales[j], scale, number, zero, half)[0]
            return 0.0, 0.0
        for j in range(len(M)):
            f, derivative = evaluate(beta[j], scales[j], scale, number, zero, half)
            objective += gamma[j] * f
            wrong += excess[j] * f
            m = factor * gamma[j] * derivative
            total += m
            sums[j] += m
            M[j] += m
        return np.float64(weight) * (np.float64(objective) - np.float64(wrong)), np.float64(total)

    return fast(run)


_over_gaussian, _over_multiquadratic, _over_known = _over_row(_gaussian), _over_row(_multiquadratic), _over_row(_known)


@cached
def over_tile(
    terms: Terms,
    products: Tile,
    distances: Tile,
    labels: Labels,
    gamma: Tile,
    first: int,
    column: int,
    M: Tile,
    degrees: Array,
) -> float:
    """Write M = Ψp − 2Ψd of a tile, add the sums of Ψd to the degrees, and return Σ Γ ⊙ f.

    Parameters
    ----------
    products, distances
        β of the tile in product and in difference form; empty if no term needs them.
    gamma
        Γ of the tile, if it is not that of labels.
    first, column
        The first row and the first column of the tile.
    degrees
        The degrees of all rows; if there are none, M = f(β).
    M
        The result, which may be the memory of `products` or `distances`: a tile then takes half of the cache.
    """
    height, width = M.shape
    f, derivative, own = np.empty(width, M.dtype), np.empty(width, M.dtype), np.empty(width, M.dtype)
    betas = np.empty((2, width), M.dtype)  # of one row, since M may overwrite the tiles of β
    sums, excess = np.zeros((2, width if len(degrees) else 0), M.dtype), np.zeros(width, M.dtype)
    zero, one, objective = M.dtype.type(0), M.dtype.type(1), 0.0
    for i in range(height):
        row, out = first + i, M[i]
        gammas = own
        if len(labels.codes):
            code, offset, wrong = labels.codes[row], labels.offsets[row], labels.excess[row]
            codes, offsets = labels.codes[column : column + width], labels.offsets[column : column + width]
            others = labels.excess[column : column + width]
            for j in range(width):
                own[j] = (one if codes[j] == code else zero) + offset + offsets[j]
                excess[j] = wrong + others[j]
        elif len(degrees):
            gammas = gamma[i]
        if len(products):
            betas[0] = products[i]
        if len(distances):
            betas[1] = distances[i]
        out[:] = 0
        for term in range(len(terms.codes)):
            kind, form = terms.codes[term, 0], terms.codes[term, 2]
            beta, scales = betas[form], terms.column_scales[term, column : column + width]
            if kind == GAUSSIAN:
                value, total = _over_gaussian(terms, term, row, beta, scales, gammas, excess, out, sums[form])
            elif kind == MULTIQUADRATIC:
                value, total = _over_multiquadratic(terms, term, row, beta, scales, gammas, excess, out, sums[form])
            else:
                _polynomial(terms, term, beta, f, derivative)
                value, total = _over_known(terms, term, row, f, derivative, gammas, excess, out, sums[form])
            objective += value
            if form and len(degrees):
                degrees[row] -= 0.5 * total
    if first != column and len(degrees):
        for j in range(width):
            degrees[column + j] -= 0.5 * sums[1, j]
    return objective
