"""Cosines and sines of many angles, compiled, in code that runs in vectors.

Importing this module imports numba; only `ism_core.objective.compiled.features` does.
"""

from typing import Any

from llvmlite import ir  # type: ignore[import-untyped]
from numba import types
from numba.extending import intrinsic

from ism_core.arrays import Array
from ism_core.objective.compiled.products import exact


def _flipped(_typing: Any, value: Any, shifted: Any) -> Any:
    """value · (−1)^m, where m was added to a number so large that it stands in its lowest bits."""

    def write(_context: Any, builder: Any, _signature: Any, args: Any) -> Any:
        whole = ir.IntType(64)
        sign = builder.shl(builder.bitcast(args[1], whole), ir.Constant(whole, 63))
        return builder.bitcast(builder.xor(builder.bitcast(args[0], whole), sign), args[0].type)

    return types.float64(types.float64, types.float64), write


_with_sign: Any = intrinsic(_flipped)


@exact
def cos_sin(angles: Array, cosines: Array, sines: Array) -> None:
    """To 1e-15, and to the rounding of the angle: (−1)^m times polynomials in r², for an angle mπ + r with |r| ≤ π/2.

    They meet cos r and (sin r)/r in the zeros of a Chebyshev polynomial: off by 4e-18 and 2e-19 at most.
    """
    for i in range(len(angles)):
        x = angles[i]
        shifted = x * 0.3183098861837907 + 6755399441055744.0  # 1.5 · 2^52
        m = shifted - 6755399441055744.0
        r = x - m * 3.141592653589793
        r = r - m * 1.2246467991473532e-16
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
        cosines[i] = _with_sign(c, shifted)
        sines[i] = _with_sign(s * r, shifted)
