"""What a kernel makes of pairs of projected rows, a tile at a time, by what is compiled.

Importing this module imports numba, so that only `ism_core.objective.pairs` does, and only where it pays.
"""

from typing import Any

import numpy as np

from ism_core.arrays import Array, Ints
from ism_core.gamma import Gamma, LabelGamma
from ism_core.kernels import Form, Gaussian, Kernel, Linear, Multiquadratic, Polynomial, RelativeGaussian, Squared, Term
from ism_core.linalg import Dtype, Tile, buffers
from ism_core.objective.compiled.products import PIECE_ROWS, PIECE_VECTORS, VECTOR_BYTES, Strips
from ism_core.objective.compiled.terms import GAUSSIAN, MULTIQUADRATIC, POLYNOMIAL, Terms
from ism_core.objective.compiled.tiles import BLOCK_ROWS, ROW_BYTES, Factors, Weights, over_tile
from ism_core.objective.pairs import beta_factors, multiply
from ism_core.objective.tiling import PACKED_COLUMNS

FORMS: tuple[Form, Form] = ("product", "difference")
TILE_BYTES = 32  # times the height, of a row of a tile: the wider, the fewer products are added up
NOTHING = np.empty((1, 0))


class CompiledPairs:
    """As `ism_core.objective.pairs.Pairs` says."""

    def __init__(self, P: Array, kernel: Kernel, gamma: Gamma | None = None, dtype: Dtype = np.float64) -> None:
        self.dtype = dtype
        self.width = TILE_BYTES / np.dtype(dtype).itemsize
        self._factors = _beta(P, kernel, FORMS[0], dtype), _beta(P, kernel, FORMS[1], dtype)
        self._terms = _terms(kernel, len(P), dtype)
        self._weights = _weights(gamma, len(P), dtype)
        self._none = Strips(np.empty(0, dtype), 0, 0)

    def factor(self, X: Tile) -> Tile | Strips:
        """Few columns are packed; with many the BLAS is faster than what is compiled."""
        return X.astype(self.dtype, copy=False) if X.shape[1] > PACKED_COLUMNS else _strips(X, self.dtype)

    def slopes_times(
        self,
        rows: slice,
        columns: slice,
        factor: Tile | Strips,
        degrees: Array,
        out: Array,
        mirrored: Array | None = None,
        share: float = 1,
    ) -> float:
        return self._over_tile(True, rows, columns, degrees, factor, out, mirrored, share)

    def values_times(
        self, rows: slice, columns: slice, factor: Tile | Strips, out: Array, mirrored: Array | None = None
    ) -> None:
        self._over_tile(False, rows, columns, NOTHING[0], factor, out, mirrored, 1)

    def values(self, rows: slice, columns: slice) -> Tile:
        return self._tile(False, rows, columns, NOTHING[0])[0]

    def _over_tile(
        self,
        weighs: bool,
        rows: slice,
        columns: slice,
        degrees: Array,
        factor: Tile | Strips,
        out: Array,
        mirrored: Array | None,
        share: float,
    ) -> float:
        if isinstance(factor, np.ndarray):
            tile, objective = self._tile(weighs, rows, columns, degrees)
            if share != 1:
                tile *= share
            multiply(tile, rows, columns, factor, out, mirrored)
            return objective
        block = buffers("block", self.dtype, BLOCK_ROWS, ROW_BYTES // np.dtype(self.dtype).itemsize)
        sums = buffers("sums", np.float64, 2, BLOCK_ROWS * _padded(factor.columns, self.dtype))
        return self._run(
            weighs, rows, columns, block, degrees, share, factor, sums, out, out[:0] if mirrored is None else mirrored
        )

    def _tile(self, weighs: bool, rows: slice, columns: slice, degrees: Array) -> tuple[Tile, float]:
        tile = buffers("total", self.dtype, rows.stop - rows.start, columns.stop - columns.start)
        return tile, self._run(weighs, rows, columns, tile, degrees, 1, self._none, NOTHING, NOTHING, NOTHING)

    def _run(
        self, weighs: bool, rows: slice, columns: slice, M: Tile, degrees: Array, share: float, *rest: Any
    ) -> float:
        between = (rows.start, rows.stop), (columns.start, columns.stop)
        return over_tile(weighs, self._terms, self._factors, self._weights, *between, M, degrees, float(share), *rest)


def _strips(X: Tile, dtype: Dtype) -> Strips:
    """With zeros behind the last column."""
    (n, columns), padded, wide = (
        X.shape,
        _padded(X.shape[1], dtype),
        PIECE_VECTORS * VECTOR_BYTES // np.dtype(dtype).itemsize,
    )
    strips = Strips(np.empty(n * padded, dtype), n, columns)
    for start in range(0, padded, wide):
        stop = min(start + wide, padded)
        strip = strips.numbers[start * n : stop * n].reshape(n, stop - start)
        strip[:, : columns - start] = X[:, start:stop]
        strip[:, columns - start :] = 0
    return strips


def _padded(columns: int, dtype: Dtype) -> int:
    """As many columns as whole vectors have."""
    lanes = VECTOR_BYTES // np.dtype(dtype).itemsize
    return -(-columns // lanes) * lanes


def _beta(P: Array, kernel: Kernel, form: Form, dtype: Dtype) -> Factors:
    """The factors of β in one form, or none where no term has it."""
    if all(term.form != form for _, term in kernel.terms):
        return _factors(np.empty((0, 0)), np.empty((0, 0)), dtype)
    return _factors(*beta_factors(P, form), dtype)


def _factors(left: Array, right: Array, dtype: Dtype) -> Factors:
    """With rows of zeros behind the last, for pieces that reach beyond it."""
    padded = np.zeros((len(left) + PIECE_ROWS, left.shape[1]), dtype)
    padded[: len(left)] = left
    return Factors(padded, right.astype(dtype, order="C"))


def _weights(gamma: Gamma | None, n: int, dtype: Dtype) -> Weights:
    excess = np.zeros(n, dtype)
    if gamma is None:
        return Weights(True, _factors(np.zeros((n, 0)), np.zeros((0, n)), dtype), excess)
    if isinstance(gamma, LabelGamma):
        classes, excess = _classes(gamma.codes, dtype)
        return Weights(True, _factors(classes, classes.T, dtype), excess)
    U = gamma.U if gamma.U.shape[1] else np.zeros((n, 1))
    return Weights(False, _factors(U * gamma.s if len(gamma.s) else U, U.T, dtype), excess)


def _classes(codes: Ints, dtype: Dtype) -> tuple[Array, Tile]:
    """Class ci and offset ai of every row, where Γij of the labels is [ci = cj] + ai + aj; and the ai's rounding.

    In single precision the rounding of Γ, the same for all pairs of two classes, would not average out in J. So the
    offsets are made such that Γ is exact for them, and J takes off what they are too large by.
    """
    shares = np.bincount(codes) / len(codes)
    offsets = (shares @ shares / 2 - shares)[codes]
    rounded = offsets if dtype is np.float64 else np.round(offsets * 2**23) / 2**23
    return np.column_stack([codes, rounded]), (rounded - offsets).astype(dtype)


def _terms(kernel: Kernel, n: int, dtype: Dtype) -> Terms:
    """The terms of a kernel as what is compiled takes them."""
    codes, numbers, scales = [], [], np.ones((2, len(kernel.terms), n))
    for index, (weight, term) in enumerate(kernel.terms):
        term.restricted(slice(0, 0), slice(0, 0)).value(np.empty((0, 0)))  # says so if the term is not bound
        kind, degree, own = _encoded(term)
        match term:
            case Gaussian(sigma):
                scales[0, index] = -0.5 / float(sigma) ** 2
            case RelativeGaussian(scales=(left, right)):
                scales[0, index], scales[1, index] = -0.5 / left, 1 / right
        codes.append([kind, degree, FORMS.index(term.form)])
        numbers.append([*own, weight * (-2 if term.form == "difference" else 1), weight])
    return Terms(np.array(codes), np.array(numbers, dtype), scales[0].astype(dtype), scales[1].ravel().astype(dtype))


def _encoded(term: Term) -> tuple[int, int, tuple[float, float, float]]:
    """The kind of a term, its degree, and its own numbers."""
    match term:
        case Gaussian() | RelativeGaussian():
            return GAUSSIAN, 1, (0.0, 0.0, 0.0)
        case Multiquadratic(c):
            return MULTIQUADRATIC, 1, (float(c) ** 2, 0.0, 0.0)
        case Squared():
            return POLYNOMIAL, 1, (-1.0, 0.0, 0.0)
        case Linear():
            return POLYNOMIAL, 1, (1.0, 0.0, -np.inf)
        case Polynomial(degree, c, gamma):
            return POLYNOMIAL, int(degree), (float(gamma), float(c), -np.inf)
    raise TypeError(f"{type(term).__name__} has no compiled code; its pairs must be computed by numpy.")
