"""How J curves around a point of rest: whether it is a maximum, and where it leads up if it is not."""

from typing import NamedTuple

import numpy as np

from ism_core.arrays import Array
from ism_core.linalg.subspaces import eigenpairs
from ism_core.solver.ascent.evaluated_point import EvaluatedPoint, Objective

LANCZOS_STEPS = 10
DIFFERENCE = 1e-6  # length of the step that second derivatives are taken with
ROUNDING = 1e-6
ELSEWHERE = 0.1  # how much of the first direction points anywhere


class Exchange(NamedTuple):
    """The direction that is likely to lead up: the last column of W for the best direction outside."""

    direction: Array
    gap: float  # between their eigenvalues


class Curvature(NamedTuple):
    """The largest eigenvalue of the Hessian of J on the manifold over 2‖Φ‖, from below, and its eigenvector."""

    largest: float
    direction: Array


def exchange(problem: Objective, point: EvaluatedPoint, rng: np.random.Generator) -> Exchange:
    """The exchange that costs least, and a little of everything else."""
    W, half_gradient = point.W, point.half_gradient
    aside = point.phi - half_gradient @ W.T - W @ half_gradient.T + W @ (W.T @ half_gradient) @ W.T
    (largest,), best = eigenpairs(problem.without_null_directions(aside - 2 * point.size * (W @ W.T)), 1)
    anywhere = rng.standard_normal(W.shape)
    direction = best @ np.eye(W.shape[1])[-1:] + ELSEWHERE * anywhere / np.linalg.norm(anywhere)
    return Exchange(direction, float(point.eigenvalues[-1] - largest))


def curvature(problem: Objective, point: EvaluatedPoint, first: Array, steps: int = LANCZOS_STEPS) -> Curvature:
    """By so many Lanczos steps from the first direction.

    In a direction Z ⊥ W the Hessian is 2(tr ZᵀΦZ − tr ZᵀZΛ) + the change of Φ along Z: the first two make the
    eigengap, the last is the constant 𝒞 that Theorem 1 compares it with. Here all three are taken together, as a
    difference of gradients.
    """
    W = point.W
    size = 2 * point.size
    if size == 0:
        return Curvature(0.0, first)
    gradient = 2 * point.half_gradient
    multipliers = W.T @ gradient

    def tangent(Z: Array) -> Array:
        Z = Z - problem.null_directions @ (problem.null_directions.T @ Z)
        return Z - W @ (W.T @ Z)

    def hessian(Z: Array) -> Array:
        return tangent((2 * problem.half_gradient(W + DIFFERENCE * Z)[0] - gradient) / DIFFERENCE - Z @ multipliers)

    Z = tangent(first)
    basis: list[Array] = []
    tridiagonal = np.zeros((0, 0))
    for _ in range(min(steps, W.shape[1] * (len(W) - W.shape[1]))):
        length = float(np.linalg.norm(Z))
        if length < ROUNDING * size and basis:
            break
        basis.append(Z / length)
        Z = hessian(basis[-1])
        tridiagonal = np.pad(tridiagonal, (0, 1))
        tridiagonal[-1, -1] = np.vdot(basis[-1], Z)
        if len(basis) > 1:
            tridiagonal[-1, -2] = tridiagonal[-2, -1] = length
        for direction in basis:
            Z = Z - float(np.vdot(direction, Z)) * direction
    values, vectors = np.linalg.eigh(tridiagonal)
    return Curvature(float(values[-1]) / size, np.tensordot(vectors[:, -1], basis, axes=1))
