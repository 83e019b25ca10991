"""Checks on a finished W that do not depend on how it was found."""

from dataclasses import replace

import numpy as np

from ism_core.arrays import Array
from ism_core.ascent import around, can_leap
from ism_core.grassmann import eigenpairs
from ism_core.moments import Moments, everywhere
from ism_core.point import Point
from ism_core.result import Certificate, Error
from ism_core.surrogate import Problem

LANCZOS_STEPS = 10
SAMPLE_FLOPS = 5e8  # a problem whose Φ costs more has its second derivatives taken on a sample of its rows
SAMPLE_ROWS = 300  # at least
ESTIMATE_ROWS = 4_000
DIFFERENCE = 1e-6  # length of the step that second derivatives are taken with
ROUNDING = 1e-6
ELSEWHERE = 0.1  # how much of the first direction points anywhere


def certify(problem: Problem, point: Point, rng: np.random.Generator, known_gap: float | None = None) -> Certificate:
    """Gradient, eigengap, orthonormality and the second-order condition at a point.

    Where there are many rows, the last is that of a sample of them, or within a few directions. Where Φ is the same
    for every W and its eigengap is known, that tells both.
    """
    W, q = point.W, problem.q
    gap, curvature = known_gap, None
    slack = ROUNDING
    if known_gap is not None:
        curvature = -known_gap / point.size if point.size > 0 else 0.0
    elif q < problem.dimensions:
        phi = point.phi
        pulled = point.pulled
        aside = phi - pulled @ W.T - W @ pulled.T + W @ (W.T @ pulled) @ W.T
        (largest,), next_best = eigenpairs(problem.without_empty(aside - 2 * point.size * (W @ W.T)), 1)
        gap = float(point.eigenvalues[-1] - largest)
        # Beginning at the exchange that costs least: the last column of W for the best direction outside.
        first = next_best @ np.eye(q)[-1:] + ELSEWHERE * _unit(rng.standard_normal(W.shape))
        few: Problem | Moments
        moments = point.space or everywhere(problem) or (around(problem, point) if can_leap(problem) else None)
        if moments is not None:
            few = moments
            there, first = Point.at(moments, moments.basis.T @ W), moments.basis.T @ first
        else:
            some = problem.sampled(max(problem.rows_within(SAMPLE_FLOPS), SAMPLE_ROWS), rng)
            few = _in_double(some if some is problem else some.within([problem.tolerance], W))
            there = point if few is problem else Point.at(few, W)
        slack = there.gradient + ROUNDING
        curvature = _largest_curvature(few, there, first)
    return Certificate(
        gradient=point.gradient,
        eigengap=gap,
        orthonormality=float(np.abs(W.T @ W - np.eye(q)).max()),
        curvature=curvature,
        second_order=curvature is None or curvature <= slack,
    )


def error(problem: Problem, point: Point) -> Error:
    """How far J and Φ(W)W may be from those of the kernel itself."""
    if problem.way == "random features":
        return _estimated(problem, point)
    bound = problem.bound(point.W)
    if bound.objective == bound.gradient == 0:
        single = problem.means.precision == "single" and problem.maps is None
        rounding = 1e-6 if single else float(np.finfo(np.float64).eps)  # the first as measured, for Φ(W)W
        return Error("rounding", rounding, rounding)
    pulled = float(np.linalg.norm(point.pulled))
    return Error("bound", float(bound.objective / abs(point.objective)), float(bound.gradient / pulled))


def is_within(found: Error, tolerance: float) -> bool:
    """Whether features that were cut for another W are near enough at this one too."""
    return found.kind != "bound" or max(found.objective, found.gradient) <= tolerance


def _estimated(problem: Problem, point: Point) -> Error:
    """By what they differ on a sample of the rows."""
    few = problem.sampled(ESTIMATE_ROWS, np.random.default_rng(0))
    there, exact = replace(few, maps=None, frame=None).pull(point.W)
    random, value = replace(few, maps=problem.maps, frame=problem.frame).pull(point.W)
    return Error("estimate", abs(value / exact - 1), float(np.linalg.norm(random - there) / np.linalg.norm(there)))


def _largest_curvature(problem: Problem | Moments, point: Point, first: Array) -> float:
    """The largest eigenvalue of the Hessian of J on the manifold over 2‖Φ‖, from below, by Lanczos steps.

    In a direction Z ⊥ W the Hessian is 2(tr ZᵀΦZ − tr ZᵀZΛ) + the change of Φ along Z: the first two make the
    eigengap, the last is the constant 𝒞 that Theorem 1 compares it with. Here all three are taken together, as a
    difference of gradients.
    """
    W = point.W
    size = 2 * point.size
    if size == 0:
        return 0.0
    gradient = 2 * point.pulled
    multipliers = W.T @ gradient

    def tangent(Z: Array) -> Array:
        Z = Z - problem.empty @ (problem.empty.T @ Z)
        return Z - W @ (W.T @ Z)

    def hessian(Z: Array) -> Array:
        return tangent((2 * problem.pull(W + DIFFERENCE * Z)[0] - gradient) / DIFFERENCE - Z @ multipliers)

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


def _in_double(problem: Problem) -> Problem:
    """The same in double precision: differences over so short a step are lost in single."""
    if problem.means.precision == "double":
        return problem
    return replace(problem, means=replace(problem.means, precision="double"))


def _unit(Z: Array) -> Array:
    unit: Array = Z / np.linalg.norm(Z)
    return unit
