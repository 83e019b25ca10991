"""f and f′ of a row of pairs, compiled, in code that runs in vectors.

Importing this module imports numba; only `ism_core.objective.compiled.tiles` does.
"""

import math
from typing import Any, NamedTuple

import numpy as np
from llvmlite import ir  # type: ignore[import-untyped]
from numba import types
from numba.extending import intrinsic, overload

from ism_core.arrays import Array, Ints
from ism_core.objective.compiled.products import exact, summed

GAUSSIAN, MULTIQUADRATIC, POLYNOMIAL = range(3)


class Terms(NamedTuple):
    """The terms of a kernel, one after the other."""

    codes: Ints  # the kind, the degree, and the form of β: 0 for products, 1 for differences
    numbers: Array  # γ or c², c, the lowest β, then what f′ is multiplied by in M, and the weight
    row_scales: Array  # what β is multiplied by in each row, a row a term
    column_scales: Array  # and in each column, one term's after the other's


class Room(NamedTuple):
    """Where a thread makes a block of M, a few rows at a time."""

    M: Array
    beta: Array  # of a few rows
    gamma: Array
    slope: Array  # one row's after the other's
    degrees: Array  # of all rows
    column_sums: Array  # of M, by form


def _power(_typing: Any, value: Any, shifted: Any) -> Any:
    """value · 2^m, where m was added to a number so large that it stands in its lowest bits."""
    width, mantissa = (64, 52) if value == types.float64 else (32, 23)

    def write(_context: Any, builder: Any, _signature: Any, args: Any) -> Any:
        whole = ir.IntType(width)
        power = builder.shl(builder.bitcast(args[1], whole), ir.Constant(whole, mantissa))
        return builder.bitcast(builder.add(builder.bitcast(args[0], whole), power), args[0].type)

    return value(value, shifted), write


_times_power: Any = intrinsic(_power)


@exact
def _exp_double(x: Any) -> Any:
    """To 1 unit in the last place: 2^m times a minimax polynomial of degree 11 on ±½ log 2."""
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
    """The same with degree 6."""
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
    """e^x for x ≤ 0, in code that runs in vectors."""
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
def _as_it_is(
    value: float, slope: float, _row: float, _number: float, _zero: float, _half: float
) -> tuple[float, float]:
    return value, slope


@exact
def polynomial(terms: Terms, term: int, count: int, width: int, room: Room) -> None:
    """f(β), in the place of β, and f′(β) of a few rows."""
    gamma, offset, low = terms.numbers[term, 0], terms.numbers[term, 1], terms.numbers[term, 2]
    outer = gamma * room.beta.dtype.type(terms.codes[term, 1])
    inverse = room.beta.dtype.type(1) / outer
    for i in range(count):
        values, slopes = room.beta[i, :width], room.slope[i * room.beta.shape[1] :][:width]
        for j in range(width):
            values[j] = gamma * (low if values[j] < low else values[j]) + offset
            slopes[j] = outer
        for _ in range(terms.codes[term, 1] - 1):
            for j in range(width):
                slopes[j] *= values[j]
        for j in range(width):
            values[j] *= slopes[j] * inverse


def _all_lanes_of(_typing: Any) -> Any:
    """Let this function use the widest vectors there are, and be one of its own.

    LLVM would use half of an AVX-512 register, for fear of lower clocks. That is right for square roots, which take as
    long a number in wide vectors, but not for exp. llvmlite knows no such attribute, but writes down any that is there.
    """

    def write(context: Any, builder: Any, _signature: Any, _args: Any) -> Any:
        builder.function.attributes.add("noinline")
        set.add(builder.function.attributes, '"prefer-vector-width"="512"')
        return context.get_dummy_value()

    return types.void(), write


_all_lanes: Any = intrinsic(_all_lanes_of)


def _weighing(evaluate: Any, wide: bool = False) -> Any:
    """factor · Γ ⊙ f′ of a few rows, added to M from M[h, at] on and to its sums; their Σ Γf is returned.

    β is scaled by the numbers from a first one on; those of the next row are so many further.
    """

    def weigh(
        terms: Terms,
        term: int,
        scales: Array,
        first: int,
        further: int,
        excess: Array,
        row: int,
        column: int,
        h: int,
        at: int,
        count: int,
        width: int,
        room: Room,
    ) -> float:
        if wide:
            _all_lanes()
        M, form = room.M, terms.codes[term, 2]
        zero, half = M.dtype.type(0), M.dtype.type(0.5)
        number, factor = terms.numbers[term, 0], terms.numbers[term, 3]
        others, sums = excess[column : column + width], room.column_sums[form, :width]
        exact_sum = 0.0
        for i in range(count):
            scale, own = terms.row_scales[term, row + i], excess[row + i]
            betas, gammas, out = room.beta[i, :width], room.gamma[i, :width], M[h + i, at : at + width]
            scaled = scales[first + i * further :][:width]
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
                room.degrees[row + i] -= 0.5 * total
            exact_sum += np.float64(objective) - np.float64(wrong)
        return exact_sum * np.float64(terms.numbers[term, 4])

    return summed(weigh)


def _filling(evaluate: Any) -> Any:
    """weight · f of a few rows, added to what takes the place of M, from M[h, at] on."""

    def fill(
        terms: Terms,
        term: int,
        scales: Array,
        first: int,
        further: int,
        row: int,
        h: int,
        at: int,
        count: int,
        width: int,
        room: Room,
    ) -> None:
        K = room.M
        zero, half = K.dtype.type(0), K.dtype.type(0.5)
        number, weight = terms.numbers[term, 0], terms.numbers[term, 4]
        for i in range(count):
            scale, scaled = terms.row_scales[term, row + i], scales[first + i * further :][:width]
            betas, out = room.beta[i, :width], K[h + i, at : at + width]
            for j in range(width):
                out[j] += weight * evaluate(betas[j], scaled[j], scale, number, zero, half)[0]

    return summed(fill)


weigh_gaussian, fill_gaussian = _weighing(_gaussian, wide=True), _filling(_gaussian)
weigh_multiquadratic, fill_multiquadratic = _weighing(_multiquadratic), _filling(_multiquadratic)
weigh_known, fill_known = _weighing(_as_it_is), _filling(_as_it_is)
