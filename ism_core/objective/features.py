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

from ism_core.arrays import Array, Ints
from ism_core.engines import LOCAL, Engine, Placed
from ism_core.gamma import Gamma
from ism_core.kernels import Constant, Differentiable, FeatureMap, Kernel, TermMap
from ism_core.linalg import row_passes
from ism_core.objective.feature_blocks import COMPILED_BLOCK, are_compiled, features_of

WIDE_BLOCK = 1_024  # rows of a block with X: its product takes longer than adding it to the sums
NARROW_BLOCKS = (240, 2_000)  # fewest and most rows of a block without X; powers of two slow the BLAS down
BLOCK_NUMBERS = 2**18  # features of a block without X: they stay in the cache

Maps = Sequence[TermMap]
Known = tuple[Array, Array]  # the projected rows P, and the point that features of difference form are centered at


def evaluate(
    X: Placed[Array],
    gamma: Placed[Gamma],
    maps: Maps,
    W: Array,
    *,
    known: Known | None = None,
    engine: Engine = LOCAL,
) -> tuple[Array, float]:
    """Return Φ(W) and J(W); XW may be known. Each share takes memory for a few r×m×d and d×d arrays."""
    P, offset = _projected(X, maps, W, known, engine)
    terms = _moments(X, P, offset, gamma, maps, engine, WIDE_BLOCK)
    d = X.here.shape[1]
    phi = np.zeros((d, d))
    with np.errstate(over="ignore", invalid="ignore"):
        for term in terms:
            phi += (1 if term.map.form == "product" else -2) * term.pairs
        apart = [(term.map.derivative, term.degrees) for term in terms if term.map.form == "difference"]
        if apart:
            blocks = -(-len(P.here) // WIDE_BLOCK)
            phi += 2 * engine.total(_weighted_squares, blocks, X, P, offset, gamma, _spread(gamma, apart))
        return phi, _objective(terms)


def half_gradient(
    X: Placed[Array],
    gamma: Placed[Gamma],
    maps: Maps,
    W: Array,
    *,
    known: Known | None = None,
    engine: Engine = LOCAL,
) -> tuple[Array, float]:
    """Return the n×q matrix C with Φ(W)W = XᵀC, and J(W); the only product with X is XW."""
    P, offset = _projected(X, maps, W, known, engine)
    size = narrow_block(maps, len(P.here))
    terms = _moments(None, P, offset, gamma, maps, engine, size)
    with np.errstate(over="ignore", invalid="ignore"):
        parts = [(term.map.derivative, term.gradients) for term in terms]
        forms = [term.map.form for term in terms]
        shares = engine.run(
            _row_coefficients, -(-len(P.here) // size), P, offset, gamma, _spread(gamma, parts), forms, size
        )
        C = np.empty_like(P.here)
        for rows, values in (block for share in shares for block in share):
            C[rows] = values
        return C, _objective(terms)


def objective(
    X: Placed[Array],
    gamma: Placed[Gamma],
    maps: Maps,
    W: Array,
    *,
    known: Known | None = None,
    engine: Engine = LOCAL,
) -> float:
    """Return J(W), by the first of the two passes."""
    P, offset = _projected(X, maps, W, known, engine)
    return _objective(_moments(None, P, offset, gamma, maps, engine, narrow_block(maps, len(P.here))))


def initial_surrogate(X: Placed[Array], gamma: Placed[Gamma], kernel: Kernel, *, engine: Engine = LOCAL) -> Array:
    """Return Φ0: Φ with every f′(β) replaced by f′(0), which needs no W."""
    derivatives = kernel.derivatives_at_zero
    maps = [TermMap(form, Constant(derivative), Constant(derivative), (0.0, 1.0)) for form, derivative in derivatives]
    return evaluate(X, gamma, maps, np.empty((X.here.shape[1], 0)), engine=engine)[0]


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


def _projected(
    X: Placed[Array], maps: Maps, W: Array, known: Known | None, engine: Engine
) -> tuple[Placed[Array], Array]:
    """Return P, computed in this process, which is faster than to fetch it; and its center if a term has distances."""
    if known is None:
        P = row_passes.projected(X.here, W)
        known = P, P.mean(axis=0)
    P, center = known
    return engine.place(P), center if any(each.form == "difference" for each in maps) else np.zeros(W.shape[1])


def _moments(
    X: Placed[Array] | None,
    P: Placed[Array],
    offset: Array,
    gamma: Placed[Gamma],
    maps: Maps,
    engine: Engine,
    size: int,
) -> list[_Term]:
    derivatives = [each.derivative for each in maps]
    forms = [each.form for each in maps]
    with np.errstate(over="ignore", invalid="ignore"):
        totals = engine.total(_add_moments, -(-len(P.here) // size), X, P, offset, gamma, derivatives, forms, size)
    s = gamma.here.s
    with np.errstate(over="ignore", invalid="ignore"):
        return [_Term(each, gamma.here.finished(total), s, offset) for each, total in zip(maps, totals, strict=True)]


def _add_moments(
    share: list[int],
    X: Array | None,
    P: Array,
    offset: Array,
    gamma: Gamma,
    derivatives: list[FeatureMap],
    forms: list[str],
    size: int,
) -> list[Array]:
    """Return the moments of each term over the blocks of a share."""
    n, q = P.shape
    d = 0 if X is None else X.shape[1]
    totals = [gamma.no_moments(each.count, d + q + 2) for each in derivatives]
    columns = np.ones((size, d + q + 2))
    for block in row_passes.blocks_of(share, n, size):
        rows = gamma.rows(block)
        centered = P[rows] - offset
        Z = columns[: len(centered)]
        if X is not None:
            Z[:, :d] = X[rows]
        Z[:, d : d + q] = centered
        np.einsum("iq,iq->i", centered, centered, out=Z[:, -2])
        for total, each, form in zip(totals, derivatives, forms, strict=True):
            F = features_of(each, centered if form == "difference" else P[rows], n)
            gamma.add_moments(total, block, F, Z)
    return totals


def _weighted_squares(
    share: list[int], X: Array, P: Array, offset: Array, gamma: Gamma, parts: list[tuple[FeatureMap, Array]]
) -> Array:
    """Return XᵀDX with D = Diag(Ψ1), over the blocks of a share."""
    d = X.shape[1]
    total = np.zeros((d, d))
    roots = np.empty((min(WIDE_BLOCK, len(X)), d))
    for block in row_passes.blocks_of(share, len(X), WIDE_BLOCK):
        rows = gamma.rows(block)
        centered = P[rows] - offset
        degrees = np.zeros(len(centered))
        for each, G in parts:
            degrees += gamma.mix(block, features_of(each, centered, len(X)), G)[:, 0]
        _add_weighted_square(total, X, np.arange(len(X))[rows], degrees, roots)
    return total


def _pairs_share(share: list[int], moments: Array, scale: Array) -> Array:
    """Return XᵀΨX over a share of the columns of U, several at once if there are few features."""
    _, m, d = moments.shape
    total = np.zeros((d, d))
    together = max(1, WIDE_BLOCK // m)
    for start in range(0, len(share), together):
        some = share[start : start + together]
        roots = np.empty((len(some) * m, d))
        _add_weighted_square(total, moments[some].reshape(-1, d), np.arange(len(roots)), scale[some].ravel(), roots)
    return total


def _row_coefficients(
    share: list[int],
    P: Array,
    offset: Array,
    gamma: Gamma,
    parts: list[tuple[FeatureMap, Array]],
    forms: list[str],
    size: int,
) -> list[tuple[slice | Ints, Array]]:
    """Return the rows of C in each block of a share."""
    n, q = P.shape
    found = []
    for block in row_passes.blocks_of(share, n, size):
        rows = gamma.rows(block)
        p, centered = P[rows], P[rows] - offset
        C = np.zeros_like(p)
        for (each, G), form in zip(parts, forms, strict=True):
            mixed = gamma.mix(block, features_of(each, centered if form == "difference" else p, n), G)
            C += mixed[:, :q]
            if mixed.shape[1] > q:
                C += centered * mixed[:, q:]
        found.append((rows, C))
    return found


def _add_weighted_square(total: Array, A: Array, rows: Ints, weights: Array, memory: Array) -> None:
    """Add Aᵀ Diag(weights) A of some rows as ±ZᵀZ, which the BLAS computes with half the flops of other products."""
    for add, chosen in ((np.add, weights > 0), (np.subtract, ~(weights > 0))):
        count = np.count_nonzero(chosen)
        if count:
            roots = np.take(A, rows[chosen], axis=0, out=memory[:count], mode="clip")  # other modes copy
            roots *= np.sqrt(np.abs(weights[chosen]))[:, None]
            add(total, roots.T @ roots, out=total)


def _spread(gamma: Placed[Gamma], parts: list[tuple[FeatureMap, Array]]) -> list[tuple[FeatureMap, Array]]:
    return [(each, gamma.here.spread(G)) for each, G in parts]


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
