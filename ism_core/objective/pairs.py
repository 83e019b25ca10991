"""What a kernel makes of pairs of projected rows, a tile at a time: by numpy, or compiled where that pays."""

from collections.abc import Callable
from functools import cache
from typing import Any, Protocol

import numpy as np

from ism_core.arrays import Array
from ism_core.gamma import Gamma
from ism_core.kernels import Gaussian, Kernel, Linear, Multiquadratic, Polynomial, RelativeGaussian, Squared
from ism_core.linalg.buffers import Dtype, Tile
from ism_core.objective.numpy_pairs import NumpyPairs

COMPILED_ROWS = 1_000  # from here on some dozen evaluations save more than importing numba costs
OFTEN = 2  # times as few in single precision, which is for those who evaluate often
KNOWN = {Gaussian, RelativeGaussian, Multiquadratic, Squared, Linear, Polynomial}  # to what is compiled


class Pairs(Protocol):
    """f(β) and M = Ψp − 2Ψd, for Ψ = Γ ⊙ f′(β) by form. What threads need of their own is in buffers."""

    dtype: Dtype
    width: float  # of a tile, in heights

    def factor(self, X: Tile) -> Any:
        """X, as tiles can be multiplied by it."""

    def slopes_times(
        self,
        rows: slice,
        columns: slice,
        factor: Any,
        degrees: Array,
        out: Array,
        mirrored: Array | None = None,
        share: float = 1,
    ) -> float:
        """Add a share of M X[columns] to out, and of Mᵀ X[rows] to what is mirrored; Σ Γ ⊙ f of the tile is returned.

        Ψd 1 and 1ᵀΨd are added to the degrees, once for a tile on the diagonal.
        """

    def values_times(self, rows: slice, columns: slice, factor: Any, out: Array, mirrored: Array | None = None) -> None:
        """The same with f(β) in the place of M."""

    def values(self, rows: slice, columns: slice) -> Tile:
        """f(β), in a buffer that is good until the next tile."""


def pairs_of(P: Array, kernel: Kernel, gamma: Gamma | None = None, dtype: Dtype = np.float64) -> Pairs:
    """The pairs of projected rows P, in whichever way is faster for so many."""
    fewest = COMPILED_ROWS if dtype is np.float64 else COMPILED_ROWS // OFTEN
    if len(P) >= fewest and kernel.terms and all(type(term) in KNOWN for _, term in kernel.terms):
        compiled = _compiled()
        if compiled is not None:
            return compiled(P, kernel, gamma, dtype)
    return NumpyPairs(P, kernel, gamma, dtype)


@cache
def _compiled() -> Callable[..., Pairs] | None:
    """The compiled way, where numba is there and works."""
    try:
        from ism_core.objective.compiled.pairs import CompiledPairs
    except Exception:  # missing, or at odds with the numpy it finds: numpy alone does the same more slowly
        return None
    return CompiledPairs
