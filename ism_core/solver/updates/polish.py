"""The last digits of a maximum: steps that are judged by the gradient, because J is the same up to rounding."""

import numpy as np

from ism_core.arrays import Array
from ism_core.linalg import dominant
from ism_core.solver.ascent import EvaluatedPoint, PolynomialMoments

SMALLEST_GRADIENT = 1e-14  # relative gradient that is rounding
MAX_STEPS = 500  # each takes milliseconds
MAX_REJECTIONS = 8  # in a row; each doubles the shift
FIRST_SHIFT = 0.01  # of ‖Φ‖


def polished(problem: PolynomialMoments, point: EvaluatedPoint) -> EvaluatedPoint:
    """Return the stationary point near a point, by level-shifted eigenvector steps that reduce the gradient."""
    shift, rejections = 0.0, 0
    for _ in range(MAX_STEPS):
        if point.gradient < SMALLEST_GRADIENT or rejections > MAX_REJECTIONS:
            break
        there = EvaluatedPoint.at(problem, _step(problem, point, shift))
        if there.gradient < point.gradient:
            point, rejections = there, 0
        else:
            shift, rejections = max(2 * shift, FIRST_SHIFT * point.size), rejections + 1
    return point


def _step(problem: PolynomialMoments, point: EvaluatedPoint, shift: float) -> Array:
    W, _ = dominant(point.phi + shift * (point.W @ point.W.T), problem.q, problem)
    return np.asarray(W)
