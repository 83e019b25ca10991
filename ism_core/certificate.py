"""Checks on a finished W that do not depend on how it was found."""

import numpy as np

from ism_core.arrays import Array
from ism_core.ascent import Point
from ism_core.grassmann import eigenpairs
from ism_core.result import Certificate
from ism_core.surrogate import Problem

LANCZOS_STEPS = 10
DIFFERENCE = 1e-6  # length of the step that second derivatives are taken with
ROUNDING = 1e-6
ELSEWHERE = 0.1  # how much of the first direction points anywhere


def certify(problem: Problem, point: Point, rng: np.random.Generator) -> Certificate:
    """Gradient, eigengap, orthonormality and the second-order condition at a point."""
    W, phi = point.W, point.phi
    d, q = W.shape
    gap = curvature = None
    if q < d:
        outside = np.eye(d) - W @ W.T
        (largest,), next_best = eigenpairs(outside @ phi @ outside - np.linalg.norm(phi) * (W @ W.T), 1)
        gap = float(point.eigenvalues[-1] - largest)
        # Beginning at the exchange that costs least: the last column of W for the best direction outside.
        exchange = next_best @ np.eye(q)[-1:]
        curvature = _largest_curvature(problem, point, exchange + ELSEWHERE * _unit(rng.standard_normal(W.shape)))
    return Certificate(
        gradient=point.gradient,
        eigengap=gap,
        orthonormality=float(np.abs(W.T @ W - np.eye(q)).max()),
        curvature=curvature,
        second_order=curvature is None or curvature <= point.gradient + ROUNDING,
    )


def _largest_curvature(problem: Problem, point: Point, first: Array) -> float:
    """The largest eigenvalue of the Hessian of J on the manifold over 2‖Φ‖, from below, by Lanczos steps.

    In a direction Z ⊥ W the Hessian is 2(tr ZᵀΦZ − tr ZᵀZΛ) + the change of Φ along Z: the first two make the
    eigengap, the last is the constant 𝒞 that Theorem 1 compares it with. Here all three are taken together, as a
    difference of gradients.
    """
    W = point.W
    size = 2 * float(np.linalg.norm(point.phi))
    if size == 0:
        return 0.0
    gradient = 2 * point.phi @ W
    multipliers = W.T @ gradient

    def tangent(Z: Array) -> Array:
        return Z - W @ (W.T @ Z)

    def hessian(Z: Array) -> Array:
        return tangent((problem.gradient(W + DIFFERENCE * Z) - gradient) / DIFFERENCE - Z @ multipliers)

    Z = tangent(first)
    basis: list[Array] = []
    tridiagonal = np.zeros((0, 0))
    for _ in range(min(LANCZOS_STEPS, W.shape[1] * (len(W) - W.shape[1]))):
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
    return float(np.linalg.eigvalsh(tridiagonal)[-1]) / size


def _unit(Z: Array) -> Array:
    unit: Array = Z / np.linalg.norm(Z)
    return unit
