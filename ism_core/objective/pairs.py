"""f(β) and f′(β) of pairs of projected rows, a tile at a time: compiled for many rows, by numpy for few.

Tiles of the upper triangle of all pairs of rows.

A panel is a row of tiles. An engine runs shares of the panels, always a long one with a short one, so that all shares
are equal.
"""

import logging
from collections.abc import Iterator
from importlib import import_module
from itertools import pairwise
from types import ModuleType
from typing import Any, Protocol

import numpy as np

from ism_core.arrays import Array, Dtype, Tile, buffers
from ism_core.engines import Engine, Threads
from ism_core.gamma import Gamma
from ism_core.kernels import (
    Form,
    Gaussian,
    Kernel,
    Linear,
    Multiquadratic,
    Polynomial,
    RelativeGaussian,
    Squared,
)
from ism_core.objective.compilation import is_ready
from ism_core.objective.neighbors import NeighborGamma

logger = logging.getLogger(__name__)

_modules: dict[str, ModuleType | None] = {}  # that this process has imported
_failures: list[str] = []  # of these imports

COMPILED_ROWS = 1_000  # rows from which a dozen evaluations save more time than importing numba takes
COMPILED_TERMS = {Gaussian, RelativeGaussian, Multiquadratic, Squared, Linear, Polynomial}
TILE = 512  # fewest rows of a panel; products with X reach full speed with twice as many
MIN_PANELS = 10  # number of panels below which panels keep their fewest rows, so that threads have enough of them

Cell = tuple[slice, slice]  # the rows and columns of a tile


class Pairs(Protocol):
    """Tiles of f(β) and of M = Ψp − 2Ψd, where Ψ = Γ ⊙ f′(β) is summed by form. Threads use buffers of their own."""

    dtype: Dtype
    width: float  # of a tile, relative to its height

    def factor(self, X: Tile) -> Any:
        """Return X in the layout that tiles can be multiplied by."""

    def derivatives_times(
        self,
        rows: slice,
        columns: slice,
        factor: Any,
        degrees: Array,
        out: Array,
        mirrored: Array | None = None,
        share: float = 1,
    ) -> float:
        """Add a share of M X[columns] to `out` and of Mᵀ X[rows] to `mirrored`; return Σ Γ ⊙ f of the tile.

        Ψd 1 and 1ᵀΨd are added to the degrees, once for a tile on the diagonal.
        """

    def values_times(self, rows: slice, columns: slice, factor: Any, out: Array, mirrored: Array | None = None) -> None:
        """Do the same with f(β) in place of M."""

    def values(self, rows: slice, columns: slice) -> Tile:
        """Return f(β), in a buffer that the next tile overwrites."""


def pairs_of(P: Array, kernel: Kernel, gamma: Gamma | None = None, dtype: Dtype = np.float64) -> Pairs:
    """Return the pairs of projected rows P, compiled if they are many and the kernel's terms have compiled code."""
    are_many = len(P) >= _fewest_compiled(dtype)
    if are_many and kernel.terms and all(type(term) in COMPILED_TERMS for _, term in kernel.terms):
        module = load_compiled("pairs")
        if module is not None:
            pairs: Pairs = module.CompiledPairs(P, kernel, gamma, dtype)
            return pairs
    return NumpyPairs(P, kernel, gamma, dtype)


class NeighborPairs(Protocol):
    """Sums over the pairs for a Γ that counts neighbors, with both of its passes over the pairs."""

    def sums(self) -> tuple[Array, Array]:
        """Return the sums over the other rows that `NeighborGamma.weights` takes: `own` and `degrees`."""

    def row_coefficients(self) -> tuple[Array, float]:
        """Return the n×q matrix C with Φ(W)W = XᵀC, and J(W)."""


def neighbor_pairs_of(
    P: Array, kernel: Kernel, gamma: NeighborGamma, dtype: Dtype, engine: Engine
) -> NeighborPairs | None:
    """Return the pairs of projected rows P if the kernel is one Gaussian and compiled code is ready, else None."""
    if len(P) < _fewest_compiled(dtype) or len(kernel.terms) != 1 or not isinstance(engine, Threads):
        return None
    weight, term = kernel.terms[0]
    module = load_compiled("neighbors") if isinstance(term, Gaussian) else None
    if module is None:
        return None
    found: NeighborPairs = module.CompiledNeighborPairs(P, gamma, weight, term, dtype, engine)
    return found


def _fewest_compiled(dtype: Dtype) -> int:
    """Return the number of rows from which compiled code pays."""
    # callers who choose single precision evaluate often
    return COMPILED_ROWS if dtype is np.float64 else COMPILED_ROWS // 2


class NumpyPairs:
    """Pairs of any kernel, by numpy."""

    width: float = 0.5  # so that a tile stays in the second-level cache between numpy's passes over it

    def __init__(self, P: Array, kernel: Kernel, gamma: Gamma | None = None, dtype: Dtype = np.float64) -> None:
        self.dtype = dtype
        self._kernel = kernel
        self._factors: dict[Form, tuple[Tile, Tile]] = {}
        for form in {term.form for _, term in kernel.terms}:
            left, right = beta_factors(P, form)
            self._factors[form] = left.astype(dtype), right.astype(dtype, order="C")
        if gamma is not None:
            # always double: the rounding error is the same for all pairs of two classes and would not average out in J
            self._gamma: tuple[Tile, Tile] = gamma.U * gamma.s, np.ascontiguousarray(gamma.U.T)

    def factor(self, X: Tile) -> Tile:
        return X.astype(self.dtype, copy=False)

    def derivatives_times(
        self,
        rows: slice,
        columns: slice,
        factor: Tile,
        degrees: Array,
        out: Array,
        mirrored: Array | None = None,
        share: float = 1,
    ) -> float:
        M, objective = self._derivatives(rows, columns, degrees)
        if share != 1:
            M *= share
        multiply(M, rows, columns, factor, out, mirrored)
        return objective

    def values_times(
        self, rows: slice, columns: slice, factor: Tile, out: Array, mirrored: Array | None = None
    ) -> None:
        multiply(self.values(rows, columns), rows, columns, factor, out, mirrored)

    def values(self, rows: slice, columns: slice) -> Tile:
        total = self._buffer("total", rows, columns)
        total.fill(0)
        for weight, term in self._kernel.restricted(rows, columns).terms:
            beta = self.beta(term.form, rows, columns)
            total += weight * term.value(beta, out=self._buffer("value", rows, columns))
        return total

    def _derivatives(self, rows: slice, columns: slice, degrees: Array) -> tuple[Tile, float]:
        """Return M = Ψp − 2Ψd and Σ Γ ⊙ f; add Ψd 1 and 1ᵀΨd to the degrees, once for a tile on the diagonal."""
        gamma = self._product("gamma", self._gamma, rows, columns, np.float64)
        psi: dict[Form, Tile] = {}
        objective = 0.0
        for weight, term in self._kernel.restricted(rows, columns).terms:
            beta = self.beta(term.form, rows, columns)
            value = term.value(beta, out=self._buffer("value", rows, columns))
            out = self._buffer("derivative" if term.form in psi else term.form, rows, columns)
            derivative = term.derivative(beta, value, out=out)
            objective += weight * float(np.vdot(gamma, value))
            if weight != 1:
                derivative *= weight
            if term.form in psi:
                psi[term.form] += derivative
            else:
                psi[term.form] = derivative
        for derivatives in psi.values():
            derivatives *= gamma
        if not psi:
            return np.multiply(gamma, 0, dtype=self.dtype), objective
        if "difference" not in psi:
            return psi["product"], objective
        difference = psi["difference"]
        degrees[rows] += difference.sum(axis=1)
        if rows != columns:
            degrees[columns] += difference.sum(axis=0)
        difference *= -2
        if "product" in psi:
            difference += psi["product"]
        return difference, objective

    def beta(self, form: Form, rows: slice, columns: slice) -> Tile:
        """Return β, which is xiᵀWWᵀxj or ‖Wᵀ(xi − xj)‖²."""
        beta = self._product("beta", self._factors[form], rows, columns)
        return np.maximum(beta, 0, out=beta) if form == "difference" else beta

    def _product(
        self, name: str, factors: tuple[Tile, Tile], rows: slice, columns: slice, dtype: Dtype | None = None
    ) -> Tile:
        return np.matmul(factors[0][rows], factors[1][:, columns], out=self._buffer(name, rows, columns, dtype))

    def _buffer(self, name: str, rows: slice, columns: slice, dtype: Dtype | None = None) -> Tile:
        return buffers(name, dtype or self.dtype, rows.stop - rows.start, columns.stop - columns.start)


def beta_factors(P: Array, form: Form) -> tuple[Array, Array]:
    """Return the left and the right factor of β. For distances the rows are centered, which reduces rounding errors."""
    if form == "product":
        return P, P.T
    centered = P - P.mean(axis=0)
    norms = np.einsum("iq,iq->i", centered, centered)[:, None]
    ones = np.ones_like(norms)
    return np.hstack([-2 * centered, norms, ones]), np.hstack([centered, ones, norms]).T


def multiply(tile: Tile, rows: slice, columns: slice, factor: Tile, out: Array, mirrored: Array | None) -> None:
    """Add the product of a tile with factor[columns] to `out`, and of its transpose with factor[rows] to `mirrored`."""
    out += np.matmul(tile, factor[columns], out=buffers("part", tile.dtype.type, len(tile), out.shape[1]))
    if mirrored is not None:
        mirrored += tile.T @ factor[rows]


def load_compiled(name: str) -> ModuleType | None:
    """Import a module of `objective.compiled`; return None while it is being compiled in the background."""
    if name not in _modules and is_ready():
        _modules[name] = _import_compiled(name)
    return _modules.get(name)


def _import_compiled(name: str) -> ModuleType | None:
    """Import the module; if that fails, log the first failure and return None."""
    try:
        return import_module(f"ism_core.objective.compiled.{name}")
    except Exception as error:  # numba is missing, or does not work with the numpy that it finds
        if not _failures:
            logger.warning("Compiled code cannot be loaded; numpy takes its place, more slowly.", exc_info=True)
        _failures.append(f"{type(error).__name__}: {error}")
        return None


def compiled_load_failure() -> str | None:
    """Return why compiled code could not be loaded in this process; None if it was not needed, or was loaded."""
    return _failures[0] if _failures else None


def items(n: int) -> int:
    """Return the number of pairs of panels."""
    return -(-len(blocks(n)) // 2)


def panels_of(share: list[int], n: int, width: float, fine: int = 1) -> Iterator[tuple[slice, list[Cell]]]:
    """Yield the rows and the tiles of each panel of a share.

    Tiles are `width` times TILE wide, and those on the diagonal at most TILE / `fine` high.
    """
    everything = blocks(n)
    step = max(1, int(TILE * width))
    for item in share:
        for index in sorted({item, len(everything) - 1 - item}):
            rows = everything[index]
            right = [slice(start, min(start + step, n)) for start in range(rows.stop, n, step)]
            yield rows, [*_triangle(rows, max(1, TILE // fine)), *((rows, columns) for columns in right)]


def blocks(n: int) -> list[slice]:
    """Return the rows of each panel; heights differ by 1 at most, and the number of panels is a multiple of 4."""
    height = min(max(TILE, n // MIN_PANELS), 2 * TILE)
    count = 1 if n <= 5 * TILE // 4 else min(n, 4 * -(-n // (4 * height)))
    return [slice(start, stop) for start, stop in pairwise(n * i // count for i in range(count + 1))]


def _triangle(rows: slice, smallest: int) -> list[Cell]:
    """Return the tiles of a panel at the diagonal, by bisection; only the smallest reach below the diagonal."""
    if rows.stop - rows.start <= smallest:
        return [(rows, rows)]
    middle = (rows.start + rows.stop) // 2
    upper, lower = slice(rows.start, middle), slice(middle, rows.stop)
    return [*_triangle(upper, smallest), (upper, lower), *_triangle(lower, smallest)]
