"""Leaps for polynomial kernels: many iterations for one pass over the rows.

A leap goes to the maximum of J in the span of W, the gradient and the dominant eigenvectors of Φ. J and Φ of any W in
that span follow from the moments of the rows (`polynomial_moments`). Each leap reduces the gradient by a factor of 20
to 50.
"""

from dataclasses import replace

import numpy as np

from ism_core.arrays import Array
from ism_core.linalg import eigenpairs, largest_angle, orthonormal
from ism_core.objective import Problem
from ism_core.solver.ascent.evaluated_point import EvaluatedPoint
from ism_core.solver.ascent.loop import Move, iter_moves
from ism_core.solver.ascent.polynomial_moments import FURTHER_DIRECTIONS, PolynomialMoments
from ism_core.solver.ascent.spectral import SMALLEST_ANGLE, SpectralAscent
from ism_core.solver.result import Stop, drain

MAX_STEPS = 100  # iterations of one leap
DELTA_SHARE = 0.1  # convergence tolerance of a leap, relative to that of the ascent


class LeapAscent(SpectralAscent):
    """Ascend by leaps; take a spectral step if a leap does not move W."""

    problem: Problem

    def step(self, here: EvaluatedPoint) -> tuple[EvaluatedPoint, Stop | None]:
        moments = moments_around(self.problem, here)
        steps = iter_moves(SpectralAscent(moments, DELTA_SHARE * self.delta), moments.basis.T @ here.W, MAX_STEPS)
        W = np.linalg.qr(moments.basis @ drain(steps).point.W)[0]
        if largest_angle(here.W, W) >= SMALLEST_ANGLE:
            return replace(self.evaluate(here, W), moments=moments), None
        return super().step(self._with_certain_gap(here))

    def remaining_angle(self, move: Move[EvaluatedPoint]) -> float:
        """Return the angle of the spectral step from here, because the last leap may have been long."""
        here = move.point
        return largest_angle(here.W, self.dominant_at(here)[0])


def moments_around(problem: Problem, point: EvaluatedPoint) -> PolynomialMoments:
    """Return the moments in the span of W, the gradient and the dominant eigenvectors of Φ."""
    count = min(problem.q + FURTHER_DIRECTIONS, problem.dimensions)
    eigenvectors = eigenpairs(problem.with_null_directions_last(point.phi), count)[1]
    columns: Array = np.hstack([point.W, point.half_gradient, eigenvectors])
    moments = PolynomialMoments.of(problem, orthonormal(columns, 2 * problem.q + FURTHER_DIRECTIONS))
    assert moments is not None
    return moments
