"""One pass over a tile of pairs, compiled: f, f′, ⊙ Γ and all sums, while a piece of a row is in the first cache.

Importing this module imports numba, so that only `ism_core.pairs` does, and only for problems it pays for. What is
compiled is kept on disk, and all of it is in this file, since numba looks at no other to see whether that is still
true. There is one version a precision, for all kernels. What is called for a row takes whole arrays and cuts its piece
out of them itself: the caller would count references to every cut, which takes longer than the row.
"""

import math
from collections.abc import Callable
from typing import Any, TypeVar, cast

import numpy as np
from llvmlite import ir  # type: ignore[import-untyped]
from numba import njit, types
from numba.extending import intrinsic, overload

from ism_core.arrays import Array

F = TypeVar("F", bound=Callable[..., Any])

GAUSSIAN, MULTIQUADRATIC, POLYNOMIAL = range(3)
STEPS = 4  # of a product that are taken at once: factors have a multiple of these
PIECE = 4096  # bytes of a row: enough for the loops to run free, few enough for the first caches

# Sums may be reordered, which is what lets them run in vectors; but not inside exp, which lives by its order.
REORDERED = {"contract", "reassoc", "nsz"}


def exact(function: F) -> F:
    """Compiled as it is written."""
    return cast(F, njit(fastmath={"contract"}, error_model="numpy")(function))


def summed(function: F) -> F:
    """Compiled with its sums reordered."""
    return cast(F, njit(fastmath=REORDERED, error_model="numpy")(function))


def kept(function: F) -> F:
    """The same, free of the GIL, and kept on disk where anything there can be written."""
    try:
        return cast(F, njit(nogil=True, cache=True, fastmath=REORDERED, error_model="numpy")(function))
    except RuntimeError:  # numba found no place to write to
        return cast(F, njit(nogil=True, fastmath=REORDERED, error_model="numpy")(function))


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


@summed
def _products(left: Array, i: int, other: int, right: Array, start: int, stop: int, out: Array) -> None:
    """Rows i and other of left · right[:, start:stop]: two rows and four steps at a time, to load little a sum."""
    a, b = out[0, : stop - start], out[1, : stop - start]
    for k in range(0, len(right), STEPS):
        r0, r1 = right[k, start:stop], right[k + 1, start:stop]
        r2, r3 = right[k + 2, start:stop], right[k + 3, start:stop]
        a0, a1, a2, a3 = left[i, k], left[i, k + 1], left[i, k + 2], left[i, k + 3]
        b0, b1, b2, b3 = left[other, k], left[other, k + 1], left[other, k + 2], left[other, k + 3]
        if k == 0:
            for j in range(len(a)):
                a[j] = a0 * r0[j] + a1 * r1[j] + a2 * r2[j] + a3 * r3[j]
                b[j] = b0 * r0[j] + b1 * r1[j] + b2 * r2[j] + b3 * r3[j]
        else:
            for j in range(len(a)):
                a[j] += a0 * r0[j] + a1 * r1[j] + a2 * r2[j] + a3 * r3[j]
                b[j] += b0 * r0[j] + b1 * r1[j] + b2 * r2[j] + b3 * r3[j]


@summed
def _copied(whole: Array, i: int, other: int, start: int, stop: int, out: Array) -> None:
    """Rows i and other of a tile that the BLAS has filled."""
    a, b = out[0, : stop - start], out[1, : stop - start]
    u, v = whole[i, start:stop], whole[other, start:stop]
    for j in range(len(a)):
        a[j], b[j] = u[j], v[j]


@summed
def _alike(left: Array, i: int, other: int, right: Array, start: int, stop: int, out: Array) -> None:
    """Γ of class labels: whether the class is the same, plus an offset of the row and one of the column."""
    zero, one = out.dtype.type(0), out.dtype.type(1)
    a, b = out[0, : stop - start], out[1, : stop - start]
    codes, offsets = right[0, start:stop], right[1, start:stop]
    code_a, offset_a, code_b, offset_b = left[i, 0], left[i, 1], left[other, 0], left[other, 1]
    for j in range(len(a)):
        a[j] = (one if codes[j] == code_a else zero) + offset_a + offsets[j]
        b[j] = (one if codes[j] == code_b else zero) + offset_b + offsets[j]


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
def _polynomial(degree: int, numbers: Array, beta: Array, side: int, start: int, stop: int, slope: Array) -> None:
    """f(β), in the place of β, and f′(β)."""
    value, slopes = beta[side, : stop - start], slope[start:stop]
    gamma, offset, low = numbers[0], numbers[1], numbers[2]
    outer = beta.dtype.type(degree) * gamma
    for j in range(len(value)):
        value[j] = gamma * (low if value[j] < low else value[j]) + offset
        slopes[j] = outer
    for _ in range(degree - 1):
        for j in range(len(value)):
            slopes[j] *= value[j]
    inverse = beta.dtype.type(1) / outer
    for j in range(len(value)):
        value[j] *= slopes[j] * inverse


def _weighing(evaluate: Any) -> Any:
    """M = factor · Γ ⊙ f′ along a piece of row h, added to the sums of the columns.

    Returned are Σ Γf, what of it the excess of Γ gave, and the sum of M.
    """

    def weigh(
        h: int,
        start: int,
        stop: int,
        numbers: Array,
        row: float,
        columns: Array,
        beta: Array,
        gamma: Array,
        side: int,
        excess: tuple[Array, Array],
        M: Array,
        sums: Array,
    ) -> tuple[float, float, float]:
        zero, half = M.dtype.type(0), M.dtype.type(0.5)
        number, factor, own = numbers[0], numbers[-1], excess[0][h]
        betas, gammas = beta[side, : stop - start], gamma[side, : stop - start]
        column, others = columns[start:stop], excess[1][start:stop]
        out, total_of = M[h, start:stop], sums[start:stop]
        objective, wrong, total = zero, zero, zero
        for j in range(len(out)):
            f, slope = evaluate(betas[j], column[j], row, number, zero, half)
            objective += gammas[j] * f
            wrong += (own + others[j]) * f
            m = factor * gammas[j] * slope
            total += m
            total_of[j] += m
            out[j] = m
        return objective, wrong, total

    return summed(weigh)


def _filling(evaluate: Any) -> Any:
    """f along a piece of row h."""

    def fill(
        h: int, start: int, stop: int, numbers: Array, row: float, columns: Array, beta: Array, side: int, K: Array
    ) -> None:
        zero, half, number = K.dtype.type(0), K.dtype.type(0.5), numbers[0]
        betas, column, out = beta[side, : stop - start], columns[start:stop], K[h, start:stop]
        for j in range(len(out)):
            out[j] = evaluate(betas[j], column[j], row, number, zero, half)[0]

    return summed(fill)


_weigh_gaussian, _fill_gaussian = _weighing(_gaussian), _filling(_gaussian)
_weigh_multiquadratic, _fill_multiquadratic = _weighing(_multiquadratic), _filling(_multiquadratic)
_weigh_known, _fill_known = _weighing(_as_it_is), _filling(_as_it_is)


@kept
def slopes(
    kind: int,
    degree: int,
    numbers: Array,
    scales: tuple[Array, Array],
    left: Array,
    right: Array,
    by_label: bool,
    U_left: Array,
    U_right: Array,
    excess: tuple[Array, Array],
    M: Array,
    G: Array,
    row_sums: Array,
    column_sums: Array,
) -> float:
    """M = factor · Γ ⊙ f′(β) over a tile, its sums, and Σ Γf.

    β is left · right, or what M holds where these have no steps. Γ is likewise of U and G; or by label, when U holds
    classes and offsets. The excess is what Γ is known to be too large by in each row and column. The factor is the
    last of the numbers.
    """
    rows, columns = M.shape
    size = min(PIECE // M.itemsize, columns)
    beta, gamma, slope = np.empty((2, size), M.dtype), np.empty((2, size), M.dtype), np.empty(columns, M.dtype)
    objective = 0.0
    for start in range(0, columns, size):
        stop = min(start + size, columns)
        for i in range(0, rows, 2):
            other = min(i + 1, rows - 1)
            if len(right):
                _products(left, i, other, right, start, stop, beta)
            else:
                _copied(M, i, other, start, stop, beta)
            if by_label:
                _alike(U_left, i, other, U_right, start, stop, gamma)
            elif len(U_right):
                _products(U_left, i, other, U_right, start, stop, gamma)
            else:
                _copied(G, i, other, start, stop, gamma)
            for h in range(i, other + 1):
                row, side = scales[0][h], h - i
                if kind == GAUSSIAN:
                    part, wrong, total = _weigh_gaussian(
                        h, start, stop, numbers, row, scales[1], beta, gamma, side, excess, M, column_sums
                    )
                elif kind == MULTIQUADRATIC:
                    part, wrong, total = _weigh_multiquadratic(
                        h, start, stop, numbers, row, scales[1], beta, gamma, side, excess, M, column_sums
                    )
                else:
                    _polynomial(degree, numbers, beta, side, start, stop, slope)
                    part, wrong, total = _weigh_known(
                        h, start, stop, numbers, row, slope, beta, gamma, side, excess, M, column_sums
                    )
                objective += part
                objective -= wrong
                row_sums[h] += total
    return objective


@kept
def values(
    kind: int, degree: int, numbers: Array, scales: tuple[Array, Array], left: Array, right: Array, K: Array
) -> None:
    """f(β) over a tile; β is left · right, or what K holds where these have no steps."""
    rows, columns = K.shape
    size = min(PIECE // K.itemsize, columns)
    beta, slope = np.empty((2, size), K.dtype), np.empty(columns, K.dtype)
    for start in range(0, columns, size):
        stop = min(start + size, columns)
        for i in range(0, rows, 2):
            other = min(i + 1, rows - 1)
            if len(right):
                _products(left, i, other, right, start, stop, beta)
            else:
                _copied(K, i, other, start, stop, beta)
            for h in range(i, other + 1):
                row, side = scales[0][h], h - i
                if kind == GAUSSIAN:
                    _fill_gaussian(h, start, stop, numbers, row, scales[1], beta, side, K)
                elif kind == MULTIQUADRATIC:
                    _fill_multiquadratic(h, start, stop, numbers, row, scales[1], beta, side, K)
                else:
                    _polynomial(degree, numbers, beta, side, start, stop, slope)
                    _fill_known(h, start, stop, numbers, row, slope, beta, side, K)
