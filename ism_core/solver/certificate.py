"""Checks on a finished W that do not depend on how it was found."""

from dataclasses import replace

import numpy as np

from ism_core.objective import Problem
from ism_core.solver.ascent.curvature import ROUNDING, curvature, exchange
from ism_core.solver.ascent.evaluated_point import EvaluatedPoint
from ism_core.solver.ascent.polynomial_moments import PolynomialMoments, everywhere
from ism_core.solver.ascent.spectral import around, can_leap
from ism_core.solver.result import Certificate, Error

SAMPLE_FLOPS = 5e8  # a problem whose Φ costs more has its second derivatives taken on a sample of its rows
SAMPLE_ROWS = 300  # at least
ESTIMATE_ROWS = 4_000


def certify(
    problem: Problem, point: EvaluatedPoint, rng: np.random.Generator, known_gap: float | None = None
) -> Certificate:
    """Gradient, eigengap, orthonormality and the second-order condition at a point.

    Where there are many rows, the last is that of a sample of them, or within a few directions. Where Φ is the same
    for every W and its eigengap is known, that tells both.
    """
    W, q = point.W, problem.q
    gap, curved = known_gap, None
    slack = ROUNDING
    if known_gap is not None:
        curved = -known_gap / point.size if point.size > 0 else 0.0
    elif q < problem.dimensions:
        first, gap = exchange(problem, point, rng)
        few: Problem | PolynomialMoments
        moments = point.space or everywhere(problem) or (around(problem, point) if can_leap(problem) else None)
        if moments is not None:
            few = moments
            inside = np.linalg.qr(moments.basis.T @ W)[0]  # a step may have led out of the space by a little
            there, first = EvaluatedPoint.at(moments, inside), moments.basis.T @ first
        else:
            some = problem.sampled(max(problem.rows_within(SAMPLE_FLOPS), SAMPLE_ROWS), rng)
            few = (some if some is problem else some.within([problem.tolerance], W)).in_precision("double")
            there = point if few is problem else _on(few, point)
        slack = there.gradient + ROUNDING
        curved = curvature(few, there, first).largest
    return Certificate(
        gradient=point.gradient,
        eigengap=gap,
        orthonormality=float(np.abs(W.T @ W - np.eye(q)).max()),
        curvature=curved,
        second_order=curved is None or curved <= slack,
    )


def _on(few: Problem, point: EvaluatedPoint) -> EvaluatedPoint:
    """The same point on a sample of the rows, with all of Φ but Φ(W)W scaled from that of all of them."""
    half_gradient, objective = few.half_gradient(point.W)
    scale = float(np.linalg.norm(half_gradient)) / (float(np.linalg.norm(point.half_gradient)) or 1.0)
    return replace(point, model=point.model.scaled(scale), half_gradient=half_gradient, objective=objective)


def error(problem: Problem, point: EvaluatedPoint) -> Error:
    """How far J and Φ(W)W may be from those of the kernel itself."""
    if problem.method == "random features":
        return _estimated(problem, point)
    bound = problem.error_bound(point.W)
    if bound.objective == bound.gradient == 0:
        single = problem.options.precision == "single" and problem.method == "tiles"
        rounding = 1e-6 if single else float(np.finfo(np.float64).eps)  # the first as measured, for Φ(W)W
        return Error("rounding", rounding, rounding)
    half_gradient = float(np.linalg.norm(point.half_gradient))
    return Error("bound", float(bound.objective / abs(point.objective)), float(bound.gradient / half_gradient))


def is_within(found: Error, tolerance: float) -> bool:
    """Whether features that were cut for another W are near enough at this one too."""
    return found.kind != "bound" or max(found.objective, found.gradient) <= tolerance


def _estimated(problem: Problem, point: EvaluatedPoint) -> Error:
    """By what they differ on a sample of the rows."""
    few = problem.sampled(ESTIMATE_ROWS, np.random.default_rng(0))
    there, exact = few.by_all_pairs().half_gradient(point.W)
    random, value = few.with_strategy_of(problem).half_gradient(point.W)
    return Error("estimate", abs(value / exact - 1), float(np.linalg.norm(random - there) / np.linalg.norm(there)))
