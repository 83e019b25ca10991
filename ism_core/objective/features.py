"""J, Φ(W)W and Φ through feature maps, in time linear in n, for kernels whose f and f′ are finite sums over features.

Ψ = Γ ⊙ f′(β) = Σa sa Diag(ua) F Diag(w) Fᵀ Diag(ua). A first pass over the rows computes the moments Fᵀ Diag(ua) Z. J
and C need the moments of Z = [p, ‖p‖², 1]; Φ also needs those of X. A second pass computes the part of each row: of C,
or of the row sums Ψ1. The kernel is given as one `TermMap` for each of its terms:

    product form       C = Ψ P           Φ = XᵀΨX
    difference form    C = 2(D − Ψ)P     Φ = 2Xᵀ(D − Ψ)X,     D = Diag(Ψ1)

Distances do not depend on an offset, so that features of difference form are those of P minus a center: the mean of P,
or a given one.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ism_core.arrays import Array
from ism_core.engines import LOCAL
from ism_core.gamma import Gamma
from ism_core.kernels import Constant, Differentiable, Form, Kernel, TermMap
from ism_core.objective.feature_blocks import COMPILED_BLOCK, are_compiled
from ism_core.objective.feature_sums import (
    Parts,
    PlacedRows,
    RowSums,
    add_moments,
    add_weighted_square,
    weighted_squares,
)

WIDE_BLOCK = 1_024  # rows of a block with X: its product takes longer than adding it to the sums
NARROW_BLOCKS = (240, 2_000)  # fewest and most rows of a block without X; powers of two slow the BLAS down
BLOCK_NUMBERS = 2**18  # features of a block without X: they stay in the cache

Maps = Sequence[TermMap]


def evaluate(rows: RowSums, maps: Maps) -> tuple[Array, float]:
    """Return Φ(W) and J(W). Each share takes memory for a few r×m×d and d×d arrays."""
    terms = _moments(rows, maps, WIDE_BLOCK, reads_X=True)
    d = rows.columns
    phi = np.zeros((d, d))
    with np.errstate(over="ignore", invalid="ignore"):
        for term in terms:
            phi += (1 if term.map.form == "product" else -2) * term.pairs
        apart = [(term.map.derivative, term.degrees) for term in terms if term.map.form == "difference"]
        if apart:
            phi += 2 * rows.total(weighted_squares, WIDE_BLOCK, _offset(rows, maps), _spread(rows.gamma, apart))
        return phi, _objective(terms)


def half_gradient(rows: RowSums, maps: Maps) -> tuple[Array, float]:
    """Return Φ(W)W and J(W)."""
    size, args, objective = _coefficients(rows, maps)
    with np.errstate(over="ignore", invalid="ignore"):
        return rows.column_sums(size, *args), objective


def row_coefficients(rows: PlacedRows, maps: Maps) -> tuple[Array, float]:
    """Return the n×q matrix C with Φ(W)W = XᵀC, and J(W)."""
    size, args, objective = _coefficients(rows, maps)
    with np.errstate(over="ignore", invalid="ignore"):
        return rows.coefficients(size, *args), objective


def objective(rows: RowSums, maps: Maps) -> float:
    """Return J(W), by the first of the two passes."""
    return _objective(_moments(rows, maps, narrow_block(maps, rows.rows)))


def initial_surrogate(rows: RowSums, kernel: Kernel) -> Array:
    """Return Φ0: Φ with every f′(β) replaced by f′(0), which needs no W: that of the rows has no columns."""
    derivatives = kernel.derivatives_at_zero
    maps = [TermMap(form, Constant(derivative), Constant(derivative), (0.0, 1.0)) for form, derivative in derivatives]
    return evaluate(rows, maps)[0]


@dataclass(frozen=True)
class _Term:
    """Sums that follow from the moments of one term: r×m×(d + q + 2) for Z = [X, p, ‖p‖², 1], or without X."""

    map: TermMap
    moments: Array
    s: Array
    offset: Array  # that was subtracted from p

    @cached_property
    def scale(self) -> Array:
        """r×m: sa times the weight of each feature in f′."""
        scale: Array = np.multiply.outer(self.s, self.map.weight * self.map.derivative.weights)
        return scale

    @property
    def ones(self) -> Array:
        return self.moments[..., -1]

    @property
    def projected(self) -> Array:
        """Moments of P, with its offset if the form is a product."""
        q = len(self.offset)
        centered = self.moments[..., -2 - q : -2]
        return centered + self.ones[..., None] * self.offset if self.map.form == "product" else centered

    @property
    def objective(self) -> float:
        ones = self.ones**2
        if self.map.ratio is None:
            return self.map.weight * float(self.s @ ones @ self.map.value.weights)
        along, constant = self.map.ratio
        products = np.einsum("amq,amq->am", self.projected, self.projected)
        beta = products if self.map.form == "product" else 2 * (self.moments[..., -2] * self.ones - products)
        return float(np.vdot(self.scale, along * beta + constant * ones))

    @property
    def pairs(self) -> Array:
        """XᵀΨX"""
        d = self.moments.shape[2] - len(self.offset) - 2
        return LOCAL.total(_pairs_share, len(self.s), self.moments[..., :d], self.scale)

    @property
    def degrees(self) -> Array:
        """The coefficients that `Gamma.mix` turns into Ψ1."""
        return (self.scale * self.ones)[..., None]

    @property
    def gradients(self) -> Array:
        """The coefficients that `Gamma.mix` turns into C, or into its parts −2ΨP and 2Ψ1."""
        if isinstance(self.map.value, Differentiable):
            weights = np.multiply.outer(self.s, self.map.weight * self.map.value.weights)
            return self.map.value.derivatives(weights * self.ones)
        pairs = self.scale[..., None] * self.projected
        return pairs if self.map.form == "product" else np.concatenate([-2 * pairs, 2 * self.degrees], axis=2)


def _offset(rows: RowSums, maps: Maps) -> Array:
    """Return the point that projected rows are taken from: their center if a term has distances, else 0."""
    return rows.center if any(each.form == "difference" for each in maps) else np.zeros_like(rows.center)


def _moments(rows: RowSums, maps: Maps, size: int, *, reads_X: bool = False) -> list[_Term]:
    offset, derivatives = _offset(rows, maps), [each.derivative for each in maps]
    forms = [each.form for each in maps]
    with np.errstate(over="ignore", invalid="ignore"):
        totals = rows.total(add_moments, size, offset, derivatives, forms, reads_X=reads_X)
        gamma = rows.gamma
        return [_Term(each, gamma.finished(total), gamma.s, offset) for each, total in zip(maps, totals, strict=True)]


def _coefficients(rows: RowSums, maps: Maps) -> tuple[int, tuple[Array, Parts, list[Form]], float]:
    """Return the rows of a block and the arguments with which the rows of C are computed, and J."""
    size = narrow_block(maps, rows.rows)
    terms = _moments(rows, maps, size)
    with np.errstate(over="ignore", invalid="ignore"):
        parts = [(term.map.derivative, term.gradients) for term in terms]
        forms = [term.map.form for term in terms]
        return size, (_offset(rows, maps), _spread(rows.gamma, parts), forms), _objective(terms)


def _pairs_share(share: list[int], moments: Array, scale: Array) -> Array:
    """Return XᵀΨX over a share of the columns of U, several at once if there are few features."""
    _, m, d = moments.shape
    total = np.zeros((d, d))
    together = max(1, WIDE_BLOCK // m)
    for start in range(0, len(share), together):
        some = share[start : start + together]
        roots = np.empty((len(some) * m, d))
        add_weighted_square(total, moments[some].reshape(-1, d), np.arange(len(roots)), scale[some].ravel(), roots)
    return total


def _spread(gamma: Gamma, parts: Parts) -> Parts:
    return [(each, gamma.spread(G)) for each, G in parts]


def _objective(terms: list[_Term]) -> float:
    with np.errstate(over="ignore", invalid="ignore"):
        return sum(term.objective for term in terms)


def narrow_block(maps: Maps, n: int) -> int:
    """Return how many of n rows make a block if there is no product with X."""
    derivatives = [each.derivative for each in maps]
    if are_compiled(derivatives, n):
        return COMPILED_BLOCK
    fewest, most = NARROW_BLOCKS
    return min(most, max(fewest, BLOCK_NUMBERS // max(each.numbers_per_row for each in derivatives)))
