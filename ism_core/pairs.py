"""What a kernel makes of pairs of projected rows, a tile at a time: in numpy, or compiled where that pays."""

import threading
from collections.abc import Callable
from functools import cache
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ism_core.arrays import Array, Ints
from ism_core.gamma import Gamma, LabelGamma
from ism_core.kernel import Form, Kernel, Term
from ism_core.kernels import Gaussian, Linear, Multiquadratic, Polynomial, RelativeGaussian, Squared

Tile = NDArray[Any]  # of either precision
Dtype = type[np.float64] | type[np.float32]

COMPILED_ROWS = 1_000  # from here on some dozen evaluations save more than importing numba costs
OFTEN = 2  # times as few in single precision, which is for those who evaluate often
DEEP = 48  # columns from which the product of two factors is left to the BLAS


class Buffers(threading.local):
    """The arrays that a thread uses again for every tile: fresh ones would cost more than the sums."""

    def __init__(self) -> None:
        self._memory: dict[tuple[str, Dtype], Tile] = {}

    def __call__(self, name: str, dtype: Dtype, rows: int, columns: int) -> Tile:
        memory = self._memory.get((name, dtype))
        if memory is None or len(memory) < rows * columns:
            memory = self._memory[name, dtype] = np.empty(rows * columns, dtype)
        return memory[: rows * columns].reshape(rows, columns)


buffers = Buffers()


class Pairs:
    """f(β) and Γ ⊙ f′(β) of any kernel, by numpy. Tiles are buffers: good until the next tile."""

    width: float = 0.5  # of a tile, in heights: numpy's passes should find it in the core's own cache

    def __init__(self, P: Array, kernel: Kernel, gamma: Gamma | None = None, dtype: Dtype = np.float64) -> None:
        centred = P - P.mean(axis=0)  # distances do not see an offset, but rounding does
        norms = np.einsum("iq,iq->i", centred, centred)[:, None]
        ones = np.ones_like(norms)
        self.dtype = dtype
        self.kernel = kernel
        self.factors: dict[Form, tuple[Tile, Tile]] = {
            "product": (P.astype(dtype), P.T.astype(dtype, order="C")),
            "difference": (
                np.hstack([-2 * centred, norms, ones]).astype(dtype),
                np.hstack([centred, ones, norms]).T.astype(dtype, order="C"),
            ),
        }
        if gamma is not None:
            # in double always: rounding that is the same for all pairs of two classes would not average out in J
            self.gamma: tuple[Tile, Tile] = gamma.U * gamma.s, np.ascontiguousarray(gamma.U.T)

    def values(self, rows: slice, columns: slice) -> Tile:
        """f(β)"""
        total = self.buffer("total", rows, columns)
        total.fill(0)
        for weight, term in self.kernel.restricted(rows, columns).terms:
            beta = self.beta(term.form, rows, columns)
            total += weight * term.value(beta, out=self.buffer("value", rows, columns))
        return total

    def slopes(self, rows: slice, columns: slice, degrees: Array) -> tuple[Tile, float]:
        """M = Ψp − 2Ψd, and Σ Γ ⊙ f; Ψd 1 and 1ᵀΨd are added to the degrees, once for a tile on the diagonal."""
        gamma = self.product("gamma", self.gamma, rows, columns, np.float64)
        psi: dict[Form, Tile] = {}
        objective = 0.0
        for weight, term in self.kernel.restricted(rows, columns).terms:
            beta = self.beta(term.form, rows, columns)
            value = term.value(beta, out=self.buffer("value", rows, columns))
            slope = term.slope(beta, value, out=self.buffer("slope" if term.form in psi else term.form, rows, columns))
            objective += weight * float(np.vdot(gamma, value))
            if weight != 1:
                slope *= weight
            if term.form in psi:
                psi[term.form] += slope
            else:
                psi[term.form] = slope
        for slopes in psi.values():
            slopes *= gamma
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
        """xiᵀWWᵀxj or ‖Wᵀ(xi − xj)‖²"""
        beta = self.product("beta", self.factors[form], rows, columns)
        return np.maximum(beta, 0, out=beta) if form == "difference" else beta

    def product(
        self, name: str, factors: tuple[Tile, Tile], rows: slice, columns: slice, dtype: Dtype | None = None
    ) -> Tile:
        return np.matmul(factors[0][rows], factors[1][:, columns], out=self.buffer(name, rows, columns, dtype))

    def buffer(self, name: str, rows: slice, columns: slice, dtype: Dtype | None = None) -> Tile:
        return buffers(name, dtype or self.dtype, rows.stop - rows.start, columns.stop - columns.start)


class CompiledPairs(Pairs):
    """The same in one compiled pass a term: everything summed over pairs is linear in the kernel."""

    width = 4  # what is compiled works on pieces of a row: it may be as wide as products with X like it

    def __init__(self, passes: ModuleType, P: Array, kernel: Kernel, gamma: Gamma | None, dtype: Dtype) -> None:
        super().__init__(P, kernel, gamma, dtype)
        self._passes = passes
        self.factors = {form: _padded(factors, passes.STEPS) for form, factors in self.factors.items()}
        self._by_label = isinstance(gamma, LabelGamma)
        self._excess = np.zeros(len(P), dtype)
        if isinstance(gamma, LabelGamma):
            classes, self._excess = _classes(gamma.codes, dtype)
            self.gamma = classes, np.ascontiguousarray(classes.T)
        elif gamma is not None:
            self.gamma = _padded((self.gamma[0].astype(dtype), self.gamma[1].astype(dtype)), passes.STEPS)
        self._terms = [_Encoded(passes, weight, term, len(P), dtype) for weight, term in kernel.terms]

    def values(self, rows: slice, columns: slice) -> Tile:
        def fill(term: _Encoded, K: Tile) -> None:
            left, right = self._factors(self.factors[term.form], K, rows, columns)
            self._passes.values(*term.between(rows, columns), left, right, K)
            if term.weight != 1:
                K *= term.weight

        return self._sum(fill, rows, columns)

    def slopes(self, rows: slice, columns: slice, degrees: Array) -> tuple[Tile, float]:
        objective = 0.0
        column_sums = np.empty(columns.stop - columns.start, self.dtype)
        G = self.buffer("gamma", rows, columns)
        U_left, U_right = self._factors(self.gamma, None if self._by_label else G, rows, columns)
        excess = self._excess[rows], self._excess[columns]

        def fill(term: _Encoded, M: Tile) -> None:
            nonlocal objective
            left, right = self._factors(self.factors[term.form], M, rows, columns)
            row_sums = np.zeros(len(M))
            column_sums.fill(0)
            objective += term.weight * self._passes.slopes(
                *term.between(rows, columns),
                left,
                right,
                self._by_label,
                U_left,
                U_right,
                excess,
                M,
                G,
                row_sums,
                column_sums,
            )
            if term.form == "difference":
                degrees[rows] -= row_sums / 2
                if rows != columns:
                    degrees[columns] -= column_sums / 2

        return self._sum(fill, rows, columns), objective

    def _sum(self, fill: Callable[["_Encoded", Tile], None], rows: slice, columns: slice) -> Tile:
        """What the terms fill a tile with, added up."""
        total = self.buffer("total", rows, columns)
        fill(self._terms[0], total)
        for term in self._terms[1:]:
            part = self.buffer("value", rows, columns)
            fill(term, part)
            total += part
        return total

    def _factors(self, factors: tuple[Tile, Tile], out: Tile | None, rows: slice, columns: slice) -> tuple[Tile, Tile]:
        """The factors of a tile, side by side in memory; or none, where their product has been left to the BLAS."""
        left, right = factors[0][rows], factors[1][:, columns]
        if out is None or len(right) < DEEP:
            return left, np.ascontiguousarray(right)
        np.matmul(left, right, out=out)
        return left[:, :0], right[:0]


def _padded(factors: tuple[Tile, Tile], steps: int) -> tuple[Tile, Tile]:
    """With zeros, so that the steps of their product are a multiple of so many."""
    left, right = factors
    more = -len(right) % steps
    return (
        np.hstack([left, np.zeros((len(left), more), left.dtype)]),
        np.vstack([right, np.zeros((more, right.shape[1]), right.dtype)]),
    )


def _classes(codes: Ints, dtype: Dtype) -> tuple[Tile, Tile]:
    """Class ci and offset ai of every row, where Γij of the labels is [ci = cj] + ai + aj; and the ai's rounding.

    In single precision the rounding of Γ, the same for all pairs of two classes, would not average out in J. So the
    offsets are made such that Γ is exact for them, and J takes off what they are too large by.
    """
    shares = np.bincount(codes) / len(codes)
    offsets = (shares @ shares / 2 - shares)[codes]
    rounded = offsets if dtype is np.float64 else np.round(offsets * 2**23) / 2**23
    return np.column_stack([codes, rounded]).astype(dtype), (rounded - offsets).astype(dtype)


class _Encoded:
    """A term as the compiled pass takes it."""

    def __init__(self, passes: ModuleType, weight: float, term: Term, n: int, dtype: Dtype) -> None:
        term.restricted(slice(0, 0), slice(0, 0)).value(np.empty((0, 0)))  # says so if the term is not bound
        self.form, self.weight = term.form, weight
        self._kind, self._degree = passes.POLYNOMIAL, 1
        numbers = [0.0, 0.0, 0.0]
        scales = np.ones(n), np.ones(n)
        match term:
            case Gaussian(sigma):
                self._kind = passes.GAUSSIAN
                scales = np.full(n, -0.5 / float(sigma) ** 2), scales[1]
            case RelativeGaussian(scales=(left, right)):
                self._kind = passes.GAUSSIAN
                scales = -0.5 / left, 1 / right
            case Multiquadratic(c):
                self._kind = passes.MULTIQUADRATIC
                numbers[0] = float(c) ** 2
            case Squared():
                numbers = [-1.0, 0.0, 0.0]
            case Linear():
                numbers = [1.0, 0.0, -np.inf]
            case Polynomial(degree, c, gamma):
                self._degree = int(degree)
                numbers = [float(gamma), float(c), -np.inf]
        self._numbers = np.array([*numbers, weight * (-2 if term.form == "difference" else 1)], dtype)
        self._scales = scales[0].astype(dtype), scales[1].astype(dtype)

    def between(self, rows: slice, columns: slice) -> tuple[int, int, Tile, tuple[Tile, Tile]]:
        return self._kind, self._degree, self._numbers, (self._scales[0][rows], self._scales[1][columns])


KNOWN = {Gaussian, RelativeGaussian, Multiquadratic, Squared, Linear, Polynomial}  # to the compiled pass


def pairs_of(P: Array, kernel: Kernel, gamma: Gamma | None = None, dtype: Dtype = np.float64) -> Pairs:
    """The pairs of projected rows P, in whichever way is faster for so many."""
    fewest = COMPILED_ROWS if dtype is np.float64 else COMPILED_ROWS // OFTEN
    if len(P) >= fewest and kernel.terms and all(type(term) in KNOWN for _, term in kernel.terms):
        passes = _compiled()
        if passes is not None:
            return CompiledPairs(passes, P, kernel, gamma, dtype)
    return Pairs(P, kernel, gamma, dtype)


@cache
def _compiled() -> ModuleType | None:
    """The compiled passes, where numba is there and works."""
    try:
        from ism_core import compiled
    except Exception:  # missing, or at odds with the numpy it finds: numpy alone does the same more slowly
        return None
    return compiled
