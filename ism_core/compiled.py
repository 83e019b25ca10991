"""One pass over a tile of pairs, compiled: f, f′, ⊙ Γ and all sums, while a piece of a row is in the first cache.

Importing this module imports numba, so that only `ism_core.pairs` does, and only for problems it pays for. What is
compiled is kept on disk. There is one version a precision, for all kernels.
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
PIECE = 512  # columns: long enough for the loops to run free, short enough for the first cache

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
def _alike(row: Array, columns: Array, start: int, stop: int, out: Array) -> None:
    """Γ of class labels: whether the class is the same, plus an offset of the row and one of the column."""
    code, offset = row[0], row[1]
    zero, one = row.dtype.type(0), row.dtype.type(1)
    codes, offsets = columns[0, start:stop], columns[1, start:stop]
    for j in range(stop - start):
        same = one if codes[j] == code else zero
        out[j] = same + offset + offsets[j]


@exact
def _evaluate(
    kind: int, degree: int, numbers: Array, row: float, columns: Array, beta: Array, value: Array, slope: Array
) -> None:
    """f(β) and f′(β) along a piece of a row."""
    zero, half = beta.dtype.type(0), beta.dtype.type(0.5)
    if kind == GAUSSIAN:
        for j in range(len(beta)):
            factor = row * columns[j]
            f = exp((zero if beta[j] < zero else beta[j]) * factor)
            value[j] = f
            slope[j] = f * factor
    elif kind == MULTIQUADRATIC:
        square = numbers[0]
        for j in range(len(beta)):
            f = -math.sqrt((zero if beta[j] < zero else beta[j]) + square)
            value[j] = f
            slope[j] = half / f
    else:
        gamma, offset, low = numbers[0], numbers[1], numbers[2]
        outer = beta.dtype.type(degree) * gamma
        for j in range(len(beta)):
            value[j] = gamma * (low if beta[j] < low else beta[j]) + offset
            slope[j] = outer
        for _ in range(degree - 1):
            for j in range(len(beta)):
                slope[j] *= value[j]
        inverse = beta.dtype.type(1) / outer
        for j in range(len(beta)):
            value[j] *= slope[j] * inverse


@summed
def _weigh(
    factor: float, gamma: Array, excess: Array, value: Array, slope: Array, M: Array, sums: Array
) -> tuple[float, float, float]:
    """M = factor · Γ ⊙ f′ along a piece of a row, added to the sums of the columns.

    Returned are Σ Γf, less what an excess of Γ in a column gave it; Σ f; and the sum of M.
    """
    zero = gamma.dtype.type(0)
    objective, mass, total = zero, zero, zero
    for j in range(len(M)):
        objective += (gamma[j] - excess[j]) * value[j]
        mass += value[j]
        m = factor * gamma[j] * slope[j]
        total += m
        sums[j] += m
        M[j] = m
    return objective, mass, total


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
    size = min(PIECE, columns)
    beta, gamma = np.empty((2, size), M.dtype), np.empty((2, size), M.dtype)
    value, slope = np.empty(size, M.dtype), np.empty(size, M.dtype)
    objective = 0.0
    for start in range(0, columns, size):
        stop = min(start + size, columns)
        f, slope_f = value[: stop - start], slope[: stop - start]
        for i in range(0, rows, 2):
            other = min(i + 1, rows - 1)
            if len(right):
                _products(left, i, other, right, start, stop, beta)
            if by_label:
                _alike(U_left[i], U_right, start, stop, gamma[0])
                _alike(U_left[other], U_right, start, stop, gamma[1])
            elif len(U_right):
                _products(U_left, i, other, U_right, start, stop, gamma)
            for h in range(i, other + 1):
                b = beta[h - i, : stop - start] if len(right) else M[h, start:stop]
                g = gamma[h - i, : stop - start] if len(U_right) else G[h, start:stop]
                _evaluate(kind, degree, numbers, scales[0][h], scales[1][start:stop], b, f, slope_f)
                part, mass, total = _weigh(
                    numbers[-1], g, excess[1][start:stop], f, slope_f, M[h, start:stop], column_sums[start:stop]
                )
                objective += part - excess[0][h] * mass
                row_sums[h] += total
    return objective


@kept
def values(
    kind: int, degree: int, numbers: Array, scales: tuple[Array, Array], left: Array, right: Array, K: Array
) -> None:
    """f(β) over a tile; β is left · right, or what K holds where these have no steps."""
    rows, columns = K.shape
    size = min(PIECE, columns)
    beta, slope = np.empty((2, size), K.dtype), np.empty(size, K.dtype)
    for start in range(0, columns, size):
        stop = min(start + size, columns)
        long = stop - start
        for i in range(0, rows, 2):
            other = min(i + 1, rows - 1)
            if len(right):
                _products(left, i, other, right, start, stop, beta)
            for h in range(i, other + 1):
                b = beta[h - i, :long] if len(right) else K[h, start:stop]
                _evaluate(kind, degree, numbers, scales[0][h], scales[1][start:stop], b, K[h, start:stop], slope[:long])
