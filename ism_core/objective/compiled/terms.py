"""f and f′ of a row of pairs, compiled, in loops that vectorize. Importing this module imports numba."""

import math
from typing import Any, NamedTuple

import numpy as np
from llvmlite import ir  # type: ignore[import-untyped]
from numba import types
from numba.extending import intrinsic, overload

from ism_core.arrays import Array, Ints
from ism_core.objective.compiled.products import exact, fast

GAUSSIAN, MULTIQUADRATIC, POLYNOMIAL = range(3)


class Terms(NamedTuple):
    """The terms of a kernel, as arrays."""

    codes: Ints  # for each term its kind, its degree, and the form of β: 0 for products, 1 for differences
    numbers: Array  # for each term γ or c², c, the smallest β, the factor of f′ in M, and the weight
    row_scales: Array  # terms×n: factor of β in each row
    column_scales: Array  # factor of β in each column, flattened


class Scratch(NamedTuple):
    """The memory in which a thread computes a block of M, a few rows at a time."""

    M: Array
    beta: Array  # of a few rows
    gamma: Array  # of a few rows
    slope: Array  # of a few rows, flattened
    degrees: Array  # of all rows
    column_sums: Array  # of M, for each form


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
def _known(value: float, slope: float, _row: float, _number: float, _zero: float, _half: float) -> tuple[float, float]:
    return value, slope


@exact
def polynomial(terms: Terms, term: int, count: int, width: int, scratch: Scratch) -> None:
    """Overwrite β of a few rows by f(β), and write f′(β) beside it."""
    gamma, offset, low = terms.numbers[term, 0], terms.numbers[term, 1], terms.numbers[term, 2]
    outer = gamma * scratch.beta.dtype.type(terms.codes[term, 1])
    inverse = scratch.beta.dtype.type(1) / outer
    for i in range(count):
        values, slopes = scratch.beta[i, :width], scratch.slope[i * scratch.beta.shape[1] :][:width]
        for j in range(width):
            values[j] = gamma * (low if values[j] < low else values[j]) + offset
            slopes[j] = outer
        for _ in range(terms.codes[term, 1] - 1):
            for j in range(width):
                slopes[j] *= values[j]
        for j in range(width):
            values[j] *= slopes[j] * inverse


def _over_rows(evaluate: Any) -> Any:
    """Return a function that adds factor · Γ ⊙ f′ of a few rows to M[h:, at:] and to its sums, and returns Σ Γf.

    If the function does not weigh, it adds weight · f instead. `scales[first + i · stride :]` are the factors of β in
    row i.
    """

    def run(
        weighs: bool,
        terms: Terms,
        term: int,
        scales: Array,
        first: int,
        stride: int,
        excess: Array,
        row: int,
        column: int,
        h: int,
        at: int,
        count: int,
        width: int,
        scratch: Scratch,
    ) -> float:
        M, form = scratch.M, terms.codes[term, 2]
        zero, half = M.dtype.type(0), M.dtype.type(0.5)
        number, factor, weight = terms.numbers[term, 0], terms.numbers[term, 3], terms.numbers[term, 4]
        others, sums = excess[column : column + width], scratch.column_sums[form, :width]
        exact_sum = 0.0
        for i in range(count):
            scale, scaled = terms.row_scales[term, row + i], scales[first + i * stride :][:width]
            betas, out = scratch.beta[i, :width], M[h + i, at : at + width]
            if weighs:
                own, gammas = excess[row + i], scratch.gamma[i, :width]
                objective, wrong, total = zero, zero, zero
                for j in range(width):
                    f, slope = evaluate(betas[j], scaled[j], scale, number, zero, half)
                    objective += gammas[j] * f
                    wrong += (own + others[j]) * f
                    m = factor * gammas[j] * slope
                    total += m
                    sums[j] += m
                    out[j] += m
                if form:
                    scratch.degrees[row + i] -= 0.5 * total
                exact_sum += np.float64(objective) - np.float64(wrong)
            else:
                for j in range(width):
                    out[j] += weight * evaluate(betas[j], scaled[j], scale, number, zero, half)[0]
        return exact_sum * np.float64(weight)

    return fast(run)


over_gaussian, over_multiquadratic, over_known = _over_rows(_gaussian), _over_rows(_multiquadratic), _over_rows(_known)
