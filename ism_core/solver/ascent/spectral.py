"""The ISM iteration: W becomes the dominant eigenvectors of Φ(W), with a level shift that keeps J from falling.

Φ(W) costs far more than Φ(W)W, which is half the gradient. Most steps therefore correct the Φ of an earlier W, or of a
sample of the rows. The correction is the smallest symmetric update after which the product with W is the true Φ(W)W, as
in Powell's symmetric Broyden update. This keeps the fixed points. Φ is recomputed when the corrections have cost as
much as a new Φ, or if the error of Φ may hide a better direction.
"""

import numpy as np

from ism_core.arrays import Array
from ism_core.linalg import dominant, largest_angle
from ism_core.solver.ascent.evaluated_point import EvaluatedPoint, Objective
from ism_core.solver.ascent.loop import GRADIENT_PER_DELTA, LevelShiftedAscent, Move, TrialStep, stop_without_step
from ism_core.solver.result import Stop

SMALLEST_ANGLE = 1e-9  # radians; a smaller step moves W by rounding only
GAP_SHARE = 0.8  # share of the eigengap that a negative shift may close
CERTAIN_GAP = 2.0  # an eigengap above this multiple of the estimated error of Φ is certain


class SpectralAscent(LevelShiftedAscent[EvaluatedPoint]):
    """Steps by the dominant eigenvectors of Φ.

    Parameters
    ----------
    problem
        What is maximized.
    delta
        Convergence tolerance.
    similar_phi
        The Φ of a similar problem near the first W, of any scale.
    """

    def __init__(self, problem: Objective, delta: float, similar_phi: Array | None = None) -> None:
        self.problem = problem
        self.delta = delta
        self._similar_phi = similar_phi
        self._spent = 0.0  # flops since Φ was computed
        self._decomposed: tuple[EvaluatedPoint, tuple[Array, float]] | None = None  # the last result of `dominant_at`

    @property
    def resolution(self) -> float:
        return self.problem.resolution

    def init(self, W: Array) -> EvaluatedPoint:
        problem, similar_phi = self.problem, self._similar_phi
        self._similar_phi = None  # it is used once
        if similar_phi is None or problem.is_small:
            return EvaluatedPoint.at(problem, W)
        known = problem.half_gradient(W)
        return EvaluatedPoint.from_similar(W, similar_phi, *known) or EvaluatedPoint.at(problem, W, known)

    def step(self, here: EvaluatedPoint) -> tuple[EvaluatedPoint, Stop | None]:
        there = self.uphill(here)
        if there is None and here.surrogate_error:
            here, self._shift = self._with_certain_gap(here), 0.0
            there = self.uphill(here)
        if there is None:
            return here, stop_without_step(here, self.delta)
        if here.surrogate_error and not there.surrogate_error:
            self._shift = 0.0  # predicted and actual gain come from two different Φs
        return there, None

    def after_step(self, move: Move[EvaluatedPoint]) -> tuple[EvaluatedPoint, Stop | None]:
        here = move.point
        if not move.is_within(self.delta):
            return here, None
        certain = self._with_certain_gap(here)
        has_converged = certain is here and move.has_converged(self.delta, self.remaining_angle(move))
        return certain, Stop.CONVERGED if has_converged else None

    def remaining_angle(self, move: Move[EvaluatedPoint]) -> float:
        """Estimate the remaining angle to the limit, in radians, by that of the last step."""
        assert move.angle is not None
        return move.angle

    def propose(self, here: EvaluatedPoint, shift: float) -> TrialStep | None:
        if shift:
            V, gap = dominant(here.phi + shift * (here.W @ here.W.T), self.problem.q, self.problem)
        else:
            V, gap = self.dominant_at(here)
        angle = largest_angle(here.W, V)
        if angle < SMALLEST_ANGLE:
            return None
        predicted = float(np.vdot(V, here.phi @ V)) - float(here.eigenvalues.sum())
        # Rounding makes the first term 0 for small angles. The sum is at least the square of the largest sine.
        squared_sines = max(self.problem.q - float(np.linalg.norm(here.W.T @ V)) ** 2, angle**2 / 4)
        return TrialStep(V, squared_sines, predicted, -GAP_SHARE * max(gap - shift, 0.0))

    def evaluate(self, here: EvaluatedPoint, W: Array) -> EvaluatedPoint:
        """Evaluate W: correct the last Φ, or recompute Φ if the corrections since then have cost as much."""
        self._spent += self.problem.half_gradient_flops
        if self.problem.is_small or self._spent > self.problem.flops:
            return self._exact(W)
        return here.moved(self.problem, W)

    def dominant_at(self, point: EvaluatedPoint) -> tuple[Array, float]:
        """Return the dominant eigenvectors of Φ at a point, and the eigengap."""
        if self._decomposed is None or self._decomposed[0] is not point:
            self._decomposed = point, dominant(point.phi, self.problem.q, self.problem)
        return self._decomposed[1]

    def _exact(self, W: Array) -> EvaluatedPoint:
        self._spent = 0.0
        return EvaluatedPoint.at(self.problem, W)

    def _with_certain_gap(self, point: EvaluatedPoint) -> EvaluatedPoint:
        """Return the point; recompute Φ there if its error is large and may have swapped two eigenvectors."""
        if point.surrogate_error <= GRADIENT_PER_DELTA * self.delta * point.size:
            return point
        if self.dominant_at(point)[1] > CERTAIN_GAP * point.surrogate_error:
            return point
        self._shift = 0.0
        return self._exact(point.W)
