"""The ISM iteration: W becomes the dominant eigenvectors of Φ(W), with a level shift that keeps J from falling.

All of Φ(W) costs far more than Φ(W)W, half the gradient. So most steps take the Φ of an earlier W, or of a sample of
the rows, with the smallest symmetric change that makes it give the true Φ(W)W: such a Φ has the same fixed points. Φ is
computed anew once these steps have cost as much as a new one, or if its error may hide a better direction.
"""

import numpy as np

from ism_core.arrays import Array
from ism_core.linalg import dominant, largest_angle
from ism_core.solver.ascent.evaluated_point import EvaluatedPoint, Objective
from ism_core.solver.ascent.loop import LevelShiftedAscent, Move, Trial, stop_at_rest
from ism_core.solver.result import Stop

SMALLEST_ANGLE = 1e-9  # radians; a smaller step moves W by rounding only
GAP_SHARE = 0.8  # share of the eigengap that a negative shift may close
CERTAIN_GAP = 2.0  # times the estimated error of Φ: a larger eigengap is real


class SpectralAscent(LevelShiftedAscent[EvaluatedPoint]):
    """Steps by the dominant eigenvectors of Φ.

    Parameters
    ----------
    problem
        What is maximized.
    delta
        Convergence tolerance.
    known
        The Φ of a similar problem near the first W, of any scale.
    """

    def __init__(self, problem: Objective, delta: float, known: Array | None = None) -> None:
        self.problem = problem
        self.delta = delta
        self._known = known
        self._spent = 0.0  # flops since Φ was computed
        self._decomposed: tuple[EvaluatedPoint, tuple[Array, float]] | None = None  # the last `dominant`

    @property
    def resolution(self) -> float:
        return self.problem.resolution

    def init(self, W: Array) -> EvaluatedPoint:
        problem, known, self._known = self.problem, self._known, None
        if known is None or problem.is_small:
            return EvaluatedPoint.at(problem, W)
        half_gradient = problem.half_gradient(W)
        return EvaluatedPoint.like(W, known, *half_gradient) or EvaluatedPoint.at(problem, W, half_gradient)

    def step(self, here: EvaluatedPoint) -> tuple[EvaluatedPoint, Stop | None]:
        there = self.uphill(here)
        if there is None and here.surrogate_error:
            here, self._shift = self._certain(here), 0.0
            there = self.uphill(here)
        if there is None:
            return here, stop_at_rest(here, self.delta)
        if here.surrogate_error and not there.surrogate_error:
            self._shift = 0.0  # the curvature compares two different Φs
        return there, None

    def done(self, move: Move[EvaluatedPoint]) -> tuple[EvaluatedPoint, Stop | None]:
        here = move.point
        if not move.is_within(self.delta):
            return here, None
        certain = self._certain(here)
        has_settled = certain is here and self.remaining_angle(move) < self.delta / 10
        return certain, Stop.CONVERGED if has_settled else None

    def remaining_angle(self, move: Move[EvaluatedPoint]) -> float:
        """An estimate of the angle that W still turns, in radians: that of the last step."""
        assert move.angle is not None
        return move.angle

    def propose(self, here: EvaluatedPoint, shift: float) -> Trial | None:
        if shift:
            V, gap = dominant(here.phi + shift * (here.W @ here.W.T), self.problem.q, self.problem)
        else:
            V, gap = self.dominant(here)
        angle = largest_angle(here.W, V)
        if angle < SMALLEST_ANGLE:
            return None
        predicted = float(np.vdot(V, here.phi @ V)) - float(here.eigenvalues.sum())
        squared_sines = max(self.problem.q - float(np.linalg.norm(here.W.T @ V)) ** 2, angle**2 / 4)
        return Trial(V, squared_sines, predicted, -GAP_SHARE * max(gap - shift, 0.0))

    def evaluate(self, here: EvaluatedPoint, W: Array) -> EvaluatedPoint:
        """The point at W, at the price of Φ(W)W unless those have cost as much as Φ."""
        self._spent += self.problem.half_gradient_flops
        if self.problem.is_small or self._spent > self.problem.flops:
            return self._exact(W)
        return here.moved(self.problem, W)

    def dominant(self, point: EvaluatedPoint) -> tuple[Array, float]:
        """The dominant eigenvectors of Φ at a point, and the gap to the next eigenvalue."""
        if self._decomposed is None or self._decomposed[0] is not point:
            self._decomposed = point, dominant(point.phi, self.problem.q, self.problem)
        return self._decomposed[1]

    def _exact(self, W: Array) -> EvaluatedPoint:
        self._spent = 0.0
        return EvaluatedPoint.at(self.problem, W)

    def _certain(self, point: EvaluatedPoint) -> EvaluatedPoint:
        """The same point, with Φ computed anew if its error may hide a better direction."""
        if point.surrogate_error <= self.delta / 10 * point.size:
            return point
        if self.dominant(point)[1] > CERTAIN_GAP * point.surrogate_error:
            return point
        self._shift = 0.0
        return self._exact(point.W)
