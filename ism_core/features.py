"""The same sums through feature maps, linear in n, for kernels whose f and f′ are finite sums over features."""

from collections.abc import Iterable

import numpy as np

from ism_core.arrays import Array
from ism_core.feature_maps import Constant, FeatureMap
from ism_core.gamma import Gamma
from ism_core.kernel import Form, Kernel
from ism_core.threads import in_threads, own_threads

BLOCK = 1_024  # rows that a thread takes at a time

Maps = list[tuple[float, Form, FeatureMap]]  # for each term of a kernel its weight, form and feature map


def slope_maps(kernel: Kernel, q: int) -> Maps | None:
    """The feature maps of the terms' f′, or None where one has none."""
    return _all((weight, term.form, term.slope_features(q)) for weight, term in kernel.terms)


def value_maps(kernel: Kernel, q: int) -> Maps | None:
    """The feature maps of the terms' f, or None where one has none."""
    return _all((weight, term.form, term.value_features(q)) for weight, term in kernel.terms)


def _all(parts: Iterable[tuple[float, Form, FeatureMap | None]]) -> Maps | None:
    maps: Maps = []
    for weight, form, features in parts:
        if features is None:
            return None
        maps.append((weight, form, features))
    return maps


def surrogate(X: Array, W: Array, gamma: Gamma, maps: Maps) -> Array:
    """Φ(W): with Ba = XᵀDiag(ua)F, XᵀΨX = Σa sa Ba Diag(w) Baᵀ."""
    d = X.shape[1]
    phi = np.zeros((d, d))
    with own_threads() as threads:
        for weight, form, features in maps:
            scale = np.multiply.outer(gamma.s, weight * features.weights)
            B, totals = _moments(X, W, gamma, features, threads)
            flat = B.transpose(1, 0, 2).reshape(d, -1)
            pairs = (flat * scale.ravel()) @ flat.T
            if form == "product":
                phi += pairs
            else:
                phi += 2 * (_weighted_square(X, W, gamma, features, totals * scale, threads) - pairs)
    return phi


def objective(X: Array, W: Array, gamma: Gamma, maps: Maps) -> float:
    """J(W) = Σa sa Σm wm (uaᵀFm)²"""
    with own_threads() as threads:
        return float(
            sum(
                weight
                * (gamma.s @ _moments(X, W, gamma, features, threads, with_rows=False)[1] ** 2 @ features.weights)
                for weight, _, features in maps
            )
        )


def first_surrogate(X: Array, gamma: Gamma, kernel: Kernel) -> Array:
    """Φ0: Φ with every f′(β) replaced by f′(0), so that no W is needed."""
    slopes = [(term.form, weight * term.slope_at_zero) for weight, term in kernel.terms]
    if not any(slope for _, slope in slopes):  # such as (γβ)^p: only the sign of f′ is left
        slopes = [(form, 1.0 if form == "product" else -1.0) for form, _ in slopes]
    nothing = np.empty((X.shape[1], 0))
    return surrogate(X, nothing, gamma, [(slope, form, Constant(1.0)) for form, slope in slopes])


def _moments(
    X: Array, W: Array, gamma: Gamma, features: FeatureMap, threads: int, with_rows: bool = True
) -> tuple[Array, Array]:
    """XᵀDiag(ua)F as an r×d×m array (r×0×m without the rows of X), and Uᵀ F as r×m."""
    n, d = len(X), X.shape[1] if with_rows else 0

    def work(share: list[int]) -> Array:
        total = np.zeros((len(gamma.s), d + 1, features.count))
        for rows in _blocks(n, share):
            block = X[rows]
            gamma.add_moments(total, rows, np.hstack([block[:, :d], np.ones((len(block), 1))]), features.of(block @ W))
        return total

    parts = in_threads(work, -(-n // BLOCK), threads)
    total = gamma.finished(sum(parts[1:], start=parts[0]))
    return total[:, :d], total[:, d]


def _weighted_square(X: Array, W: Array, gamma: Gamma, features: FeatureMap, totals: Array, threads: int) -> Array:
    """XᵀDX with D = Diag(Ψ1), Ψ1 = Σa sa ua ⊙ F Diag(w) Fᵀua."""
    d = X.shape[1]

    def work(share: list[int]) -> Array:
        square = np.zeros((d, d))
        for rows in _blocks(len(X), share):
            degrees = np.einsum("ir,ir->i", gamma.U[rows], features.of(X[rows] @ W) @ totals.T)
            square += X[rows].T @ (degrees[:, None] * X[rows])
        return square

    parts = in_threads(work, -(-len(X) // BLOCK), threads)
    return sum(parts[1:], start=parts[0])


def _blocks(n: int, share: list[int]) -> Iterable[slice]:
    return (slice(index * BLOCK, min((index + 1) * BLOCK, n)) for index in share)
