"""The curvature of J at a stationary point: whether it is a maximum."""

from typing import NamedTuple

import numpy as np

from ism_core.arrays import Array
from ism_core.linalg import eigenpairs, project_out
from ism_core.solver.ascent.evaluated_point import EvaluatedPoint, Objective

LANCZOS_STEPS = 10  # each costs one Φ(W)W
DIFFERENCE_STEP = 1e-6  # length of the step of the finite differences of gradients
CURVATURE_ROUNDING = 1e-6  # share of ‖Φ‖ that finite differences leave as rounding
RANDOM_SHARE = 0.1  # share of the first direction that is random


class Exchange(NamedTuple):
    """The direction that most likely leads up: the last column of W gives way to the best direction outside."""

    direction: Array
    gap: float  # between their eigenvalues


def exchange(problem: Objective, point: EvaluatedPoint, rng: np.random.Generator) -> Exchange:
    """The exchange that costs least, with a small random direction added."""
    W, half_gradient = point.W, point.half_gradient
    outside = point.phi - half_gradient @ W.T - W @ half_gradient.T + W @ (W.T @ half_gradient) @ W.T
    (largest,), best = eigenpairs(problem.without_null_directions(outside - 2 * point.size * (W @ W.T)), 1)
    random = rng.standard_normal(W.shape)
    direction = best @ np.eye(W.shape[1])[-1:] + RANDOM_SHARE * random / np.linalg.norm(random)
    return Exchange(direction, float(point.eigenvalues[-1] - largest))


def largest_curvature(problem: Objective, point: EvaluatedPoint, first: Array) -> float:
    """A lower bound on the largest eigenvalue of the Hessian of J on the manifold, over 2‖Φ‖.

    It comes from Lanczos steps that begin with the first direction. In a direction Z ⊥ W the Hessian is
    2(tr ZᵀΦZ − tr ZᵀZΛ) plus the change of Φ along Z: the first two make the eigengap, the last is the constant 𝒞 that
    Theorem 1 compares it with. A finite difference of gradients gives all three together.
    """
    W = point.W
    size = 2 * point.size
    if size == 0:
        return 0.0
    gradient = 2 * point.half_gradient
    multipliers = W.T @ gradient

    def tangent(Z: Array) -> Array:
        return project_out(W, project_out(problem.null_directions, Z))

    def hessian(Z: Array) -> Array:
        difference = 2 * problem.half_gradient(W + DIFFERENCE_STEP * Z)[0] - gradient
        return tangent(difference / DIFFERENCE_STEP - Z @ multipliers)

    Z = tangent(first)
    basis: list[Array] = []
    tridiagonal = np.zeros((0, 0))
    for _ in range(min(LANCZOS_STEPS, W.shape[1] * (len(W) - W.shape[1]))):
        length = float(np.linalg.norm(Z))
        if length < CURVATURE_ROUNDING * size and basis:
            break
        basis.append(Z / length)
        Z = hessian(basis[-1])
        tridiagonal = np.pad(tridiagonal, (0, 1))
        tridiagonal[-1, -1] = np.vdot(basis[-1], Z)
        if len(basis) > 1:
            tridiagonal[-1, -2] = tridiagonal[-2, -1] = length
        for direction in basis:
            Z = Z - float(np.vdot(direction, Z)) * direction
    return float(np.linalg.eigvalsh(tridiagonal)[-1]) / size
