"""Checks on a W that do not depend on how it was found, and the way on from a saddle point."""

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from ism_core.arrays import Array
from ism_core.linalg import eigenpairs, project_out, spectral_norm
from ism_core.objective import Problem
from ism_core.solver.ascent import (
    EvaluatedPoint,
    Objective,
    PolynomialMoments,
    can_leap,
    moments_around,
    moments_in_all_directions,
)
from ism_core.solver.result import Certificate, Error

LANCZOS_STEPS = 10  # of the certificate; each costs one Φ(W)W
SADDLE_LANCZOS_STEPS = 6  # of the check for a saddle point
SADDLE_ANGLE = 0.1  # radians: far enough from a saddle point for J to be higher there
DIFFERENCE_STEP = 1e-6  # length of the step of the finite differences of gradients
CURVATURE_ROUNDING = 1e-6  # rounding error of the finite differences, relative to ‖Φ‖
RANDOM_SHARE = 0.1  # share of the first direction that is random
SAMPLE_FLOPS = 5e8  # flops of Φ beyond which second derivatives are those of a sample of the rows
SAMPLE_ROWS = 300  # rows that the sample has at least
ESTIMATE_ROWS = 4_000  # rows of the sample that shows the error of random features
SINGLE_ROUNDING = 1e-6  # relative rounding of Φ(W)W in single precision, as measured


def certify(
    problem: Problem | PolynomialMoments,
    point: EvaluatedPoint,
    rng: np.random.Generator,
    known_gap: float | None = None,
) -> Certificate:
    """Check gradient, eigengap, orthonormality and the second-order condition at a point.

    With many rows, the second-order condition is checked on a sample of the rows, or within a few directions. If Φ does
    not depend on W, `known_gap` is its eigengap, and the condition follows from that.
    """
    W, q = point.W, problem.q
    gap, curvature = known_gap, None
    slack = CURVATURE_ROUNDING
    if known_gap is not None:
        curvature = -known_gap / point.size if point.size > 0 else 0.0
    elif q < problem.dimensions:
        first, gap = _test_direction(problem, point, rng)
        few, there, first = _reduced(problem, point, first, rng)
        slack = there.gradient + CURVATURE_ROUNDING
        curvature = _largest_curvature(few, there, first)[0]
    return Certificate(
        gradient=point.gradient,
        eigengap=gap,
        orthonormality=float(np.abs(W.T @ W - np.eye(q)).max()),
        curvature=curvature,
        second_order=curvature is None or curvature <= slack,
    )


def beyond_saddle(problem: Problem, point: EvaluatedPoint, rng: np.random.Generator) -> Array | None:
    """Return a W further along the direction of largest curvature if J is higher there; None at a maximum.

    Steps near a saddle point are as small as near a maximum, so that an ascent would take many of them.
    """
    curvature, direction = _largest_curvature(
        problem, point, _test_direction(problem, point, rng).direction, SADDLE_LANCZOS_STEPS
    )
    if curvature <= 0:
        return None
    W: Array = np.linalg.qr(point.W + np.tan(SADDLE_ANGLE) / spectral_norm(direction) * direction)[0]
    gained = problem.objective(W) - point.objective
    return W if gained > problem.resolution * abs(point.objective) else None


def _reduced(
    problem: Problem | PolynomialMoments, point: EvaluatedPoint, first: Array, rng: np.random.Generator
) -> tuple[Problem | PolynomialMoments, EvaluatedPoint, Array]:
    """Return a problem with cheap gradients, and the point and the direction in its coordinates."""
    if isinstance(problem, PolynomialMoments):
        return problem, point, first
    moments = point.moments
    if moments is None and problem.kernel.has_product_form:
        moments = moments_in_all_directions(problem) or (moments_around(problem, point) if can_leap(problem) else None)
    if moments is not None:
        inside = np.linalg.qr(moments.basis.T @ point.W)[0]  # a step may have led slightly out of the space
        return moments, EvaluatedPoint.at(moments, inside), moments.basis.T @ first
    sample = problem.sampled(max(problem.rows_within(SAMPLE_FLOPS), SAMPLE_ROWS), rng)
    if sample is not problem:
        sample = sample.within([problem.tolerance], point.W)
    sample = sample.in_precision("double")  # finite differences over so short a step need it
    return sample, point if sample is problem else _on(sample, point), first


def _on(few: Problem, point: EvaluatedPoint) -> EvaluatedPoint:
    """Return the point on a sample of the rows: with the Φ(W)W of the sample, and the scaled Φ of all rows."""
    half_gradient, objective = few.half_gradient(point.W)
    scale = float(np.linalg.norm(half_gradient)) / (float(np.linalg.norm(point.half_gradient)) or 1.0)
    return replace(point, phi=scale * point.phi, half_gradient=half_gradient, objective=objective)


def error(problem: Problem, point: EvaluatedPoint) -> Error:
    """Return the relative error of J and Φ(W)W compared with the exact kernel."""
    if problem.method == "random features":
        return _estimated(problem, point)
    bound = problem.error_bound(point.W)
    if bound.objective == bound.gradient == 0:
        single = problem.options.precision == "single" and problem.method == "tiles"
        rounding = SINGLE_ROUNDING if single else float(np.finfo(np.float64).eps)
        return Error("rounding", rounding, rounding)
    half_gradient = float(np.linalg.norm(point.half_gradient))
    return Error("bound", float(bound.objective / abs(point.objective)), float(bound.gradient / half_gradient))


def is_exact_enough(found: Error, tolerance: float) -> bool:
    """Whether features that were truncated for another W are exact enough at this one."""
    return found.kind != "bound" or max(found.objective, found.gradient) <= tolerance


def _estimated(problem: Problem, point: EvaluatedPoint) -> Error:
    """Return the error of random features on a sample of the rows."""
    few = problem.sampled(ESTIMATE_ROWS, np.random.default_rng(problem.options.seed))
    there, exact = few.by_all_pairs().half_gradient(point.W)
    random, value = few.with_strategy_of(problem).half_gradient(point.W)
    return Error("estimate", abs(value / exact - 1), float(np.linalg.norm(random - there) / np.linalg.norm(there)))


class _TestDirection(NamedTuple):
    """The tangent that turns the last column of W towards the leading eigenvector of Φ outside span(W).

    A small random part is added.
    """

    direction: Array
    gap: float  # eigenvalue of the last column minus that of this eigenvector


def _test_direction(problem: Objective, point: EvaluatedPoint, rng: np.random.Generator) -> _TestDirection:
    """Return the direction, from Φ restricted to the complement of span(W)."""
    W, half_gradient = point.W, point.half_gradient
    outside = point.phi - half_gradient @ W.T - W @ half_gradient.T + W @ (W.T @ half_gradient) @ W.T
    (largest,), best = eigenpairs(problem.with_null_directions_last(outside - 2 * point.size * (W @ W.T)), 1)
    random = rng.standard_normal(W.shape)
    direction = best @ np.eye(W.shape[1])[-1:] + RANDOM_SHARE * random / np.linalg.norm(random)
    return _TestDirection(direction, float(point.eigenvalues[-1] - largest))


def _largest_curvature(
    problem: Objective, point: EvaluatedPoint, first: Array, steps: int = LANCZOS_STEPS
) -> tuple[float, Array]:
    """Return a lower bound on the largest eigenvalue of the Hessian of J, divided by 2‖Φ‖, and its direction.

    They are computed by Lanczos iterations on the manifold that start with the direction `first`. In a direction Z ⊥ W
    the Hessian is 2(tr ZᵀΦZ − tr ZᵀZΛ) plus a term from the derivative of Φ along Z. The eigengap bounds the first two
    terms. The last term is the constant 𝒞 of Theorem 1 in the paper. A finite difference of gradients gives all three
    together.
    """
    W = point.W
    size = 2 * point.size
    if size == 0:
        return 0.0, first
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
    for _ in range(min(steps, W.shape[1] * (len(W) - W.shape[1]))):
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
    values, vectors = np.linalg.eigh(tridiagonal)
    return float(values[-1]) / size, np.tensordot(vectors[:, -1], basis, axes=1)
