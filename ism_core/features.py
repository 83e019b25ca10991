"""The same sums through feature maps, linear in n, for kernels whose f and f′ are finite sums over features."""

from collections.abc import Iterable

import numpy as np

from ism_core.arrays import Array
from ism_core.feature_maps import FeatureMap, constant_feature
from ism_core.gamma import Gamma
from ism_core.kernel import Form, Kernel

Maps = list[tuple[Form, FeatureMap]]  # a feature map for each term of a kernel


def slope_maps(kernel: Kernel, q: int) -> Maps | None:
    """The feature maps of the terms' f′, or None where one has none."""
    return _all((weight, term.form, term.slope_features(q)) for weight, term in kernel.terms)


def value_maps(kernel: Kernel, q: int) -> Maps | None:
    """The feature maps of the terms' f, or None where one has none."""
    return _all((weight, term.form, term.value_features(q)) for weight, term in kernel.terms)


def _all(parts: Iterable[tuple[float, Form, FeatureMap | None]]) -> Maps | None:
    maps = []
    for weight, form, features in parts:
        if features is None:
            return None
        maps.append((form, FeatureMap(features.count, features.map, weight * features.weights)))
    return maps


def surrogate(X: Array, P: Array, gamma: Gamma, maps: Maps) -> Array:
    """Φ: with Ba = XᵀDiag(ua)F, XᵀΨX = Σa sa Ba Diag(w) Baᵀ."""
    d = X.shape[1]
    phi = np.zeros((d, d))
    for form, features in maps:
        F = features.map(P)
        B = gamma.moments(X, F)
        scale = np.multiply.outer(gamma.s, features.weights)
        B_flat = B.transpose(1, 0, 2).reshape(d, -1)
        pairs = (B_flat * scale.ravel()) @ B_flat.T
        if form == "product":
            phi += pairs
        else:
            totals = (gamma.U.T @ F) * scale  # Ψ1 = Σa sa ua ⊙ F Diag(w) Fᵀua
            degrees = np.einsum("ir,ir->i", gamma.U, F @ totals.T)
            phi += 2 * (X.T @ (degrees[:, None] * X) - pairs)
    return phi


def objective(P: Array, gamma: Gamma, maps: Maps) -> float:
    """J = Σa sa Σm wm (uaᵀFm)²"""
    return float(sum(gamma.s @ (gamma.U.T @ features.map(P)) ** 2 @ features.weights for _, features in maps))


def first_surrogate(X: Array, gamma: Gamma, kernel: Kernel) -> Array:
    """Φ0: Φ with every f′(β) replaced by f′(0), so that no W is needed."""
    slopes = [(term.form, weight * term.slope_at_zero) for weight, term in kernel.terms]
    if not any(slope for _, slope in slopes):  # such as (γβ)^p: only the sign of f′ is left
        slopes = [(form, 1.0 if form == "product" else -1.0) for form, _ in slopes]
    return surrogate(X, X[:, :0], gamma, [(form, constant_feature(slope)) for form, slope in slopes])
