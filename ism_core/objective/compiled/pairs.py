"""Pairs of projected rows whose f, f′, ⊙ Γ and sums take one compiled pass over a tile.

Importing this module imports numba; only `ism_core.objective.pairs` does, for problems that are large enough.
"""

from typing import ClassVar

import numpy as np

from ism_core.arrays import Array, Dtype, Tile
from ism_core.gamma import Gamma, LabelGamma
from ism_core.kernels import (
    Form,
    Gaussian,
    Kernel,
    Linear,
    Multiquadratic,
    Polynomial,
    RelativeGaussian,
    Squared,
    Term,
)
from ism_core.objective.compiled.tiles import (
    GAUSSIAN,
    MULTIQUADRATIC,
    POLYNOMIAL,
    Labels,
    Terms,
    over_tile,
)
from ism_core.objective.pairs import NumpyPairs

FORMS: tuple[Form, Form] = ("product", "difference")  # in the order of their codes in `tiles.Terms`


class CompiledPairs(NumpyPairs):
    """The BLAS computes β, a Γ that is not of labels, and products with tiles."""

    # A tile stays in the second-level cache from its β to its products. In single precision, a tile takes so short a
    # time that the calls for narrow ones would show (measured on 10,000×54, two threads).
    WIDTHS: ClassVar[dict[Dtype, float]] = {np.float64: 0.25, np.float32: 1.0}

    def __init__(self, P: Array, kernel: Kernel, gamma: Gamma | None = None, dtype: Dtype = np.float64) -> None:
        super().__init__(P, kernel, None, dtype)
        self.width = self.WIDTHS[dtype]
        self._terms = _terms(kernel, len(P), dtype)
        self._labels = _labels(gamma if isinstance(gamma, LabelGamma) else None, dtype)
        self._no_labels = _labels(None, dtype)
        self._nothing = np.empty((0, 0), dtype)
        if gamma is not None:
            self._gamma = (gamma.U * gamma.s).astype(dtype), gamma.U.T.astype(dtype, order="C")

    def values(self, rows: slice, columns: slice) -> Tile:
        return self._tile(rows, columns, self._no_labels, self._nothing, np.empty(0))[0]

    def _derivatives(self, rows: slice, columns: slice, degrees: Array) -> tuple[Tile, float]:
        gamma = self._nothing
        if len(self._labels.codes) == 0:
            gamma = self._product("gamma", self._gamma, rows, columns)
        return self._tile(rows, columns, self._labels, gamma, degrees)

    def _tile(self, rows: slice, columns: slice, labels: Labels, gamma: Tile, degrees: Array) -> tuple[Tile, float]:
        products, distances = self._betas(rows, columns)
        M = distances if len(distances) else products
        place = rows.start, columns.start
        return M, over_tile(self._terms, products, distances, labels, gamma, *place, M, degrees)

    def _betas(self, rows: slice, columns: slice) -> list[Tile]:
        """β of the tile in both forms; empty for a form that no term has."""
        return [
            self._product(form, self._factors[form], rows, columns) if form in self._factors else self._nothing
            for form in FORMS
        ]


def _labels(gamma: LabelGamma | None, dtype: Dtype) -> Labels:
    """Γij of class labels is [ci = cj] + ai + aj, for the class ci and an offset ai of each row.

    In single precision, the rounding error of Γ is the same for all pairs of two classes and would not average out in
    J. So the offsets are rounded such that Γ is exact for them, and J is corrected by their rounding error.
    """
    if gamma is None:
        nothing = np.empty(0, dtype)
        return Labels(nothing, nothing, nothing)
    offsets = (gamma.shares @ gamma.shares / 2 - gamma.shares)[gamma.codes]
    rounded = offsets if dtype is np.float64 else np.round(offsets * 2**23) / 2**23
    return Labels(gamma.codes.astype(dtype), rounded.astype(dtype), (rounded - offsets).astype(dtype))


def _terms(kernel: Kernel, n: int, dtype: Dtype) -> Terms:
    """Return the terms of a kernel in the form that compiled code takes."""
    codes, numbers, scales = [], [], np.ones((2, len(kernel.terms), n))
    for index, (weight, term) in enumerate(kernel.terms):
        term.restricted(slice(0, 0), slice(0, 0)).value(np.empty((0, 0)))  # raises an error if the term is not fitted
        kind, degree, own = _encoded(term)
        match term:
            case Gaussian(sigma):
                scales[0, index] = -0.5 / float(sigma) ** 2
            case RelativeGaussian(scales=(left, right)):
                scales[0, index], scales[1, index] = -0.5 / left, 1 / right
        codes.append([kind, degree, FORMS.index(term.form)])
        numbers.append([*own, weight])
    return Terms(np.array(codes), np.array(numbers, dtype), scales[0].astype(dtype), scales[1].astype(dtype))


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
