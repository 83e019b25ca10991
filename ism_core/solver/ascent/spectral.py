"""From one W to the local maximum that it belongs to: the ISM iteration, made safe and made cheap.

Plain ISM replaces W by the q dominant eigenvectors of Φ(W). This maximizes tr(VᵀΦ(W)V), which is J to first order
only: where Φ turns quickly with W the iteration overshoots, and may flip between two subspaces for ever. Here W
becomes the dominant eigenvectors of

    Φ(W) + ρ WWᵀ

where the shift ρ is the curvature that the last step has shown: what J fell short of that prediction, per squared
sine of the angles moved. ρ = 0 is plain ISM. ρ > 0 shortens the step, most where the eigengap is small; ρ < 0, where
J did better than predicted, lengthens it. A step that would lower J is refused and taken again with a larger ρ, so
that for a fixed Γ J never goes down. (Self-consistent field computations of quantum chemistry have the same
iteration, the same trouble and, as level shifting, the same remedy.)

All of Φ(W) costs far more than Φ(W)W, the gradient. A Φ of some other W, or of a sample of the rows, with the smallest
symmetric change that makes it give the true Φ(W)W will mostly do: then W stands still just where the true Φ would
leave it. Φ is computed anew when such changes have cost as much as a new one.

For a polynomial kernel, many steps can be had for one pass over the rows: a leap goes up to the maximum among all W in
a space of some dozen directions (`polynomial_moments`), which holds W, the gradient and the dominant eigenvectors of Φ.
What is left of the gradient shrinks some fifty times from leap to leap. A step shrinks it some ten times, for a third
of the price: if that is enough, it is a step that follows a leap.

Where Γ follows W, all of this is of little use, and gradients lead the way (`ism_core.solver.ascent.lbfgs`).

Beside a saddle the steps are as small as beside a maximum, and grow only by a factor from one to the next. So an ascent
that looks out asks, before it stops, in which direction J curves most, and goes on from further along it if that is
higher.
"""

from collections.abc import Generator
from dataclasses import replace
from typing import NamedTuple, TypeGuard

import numpy as np

from ism_core.arrays import Array
from ism_core.engines.threads import own_threads
from ism_core.linalg.subspaces import largest_angle, orthonormal, spectral_norm
from ism_core.objective import NeighborProblem, Problem
from ism_core.solver.ascent.curvature import curvature, exchange
from ism_core.solver.ascent.evaluated_point import EvaluatedPoint, Objective
from ism_core.solver.ascent.lbfgs import climb
from ism_core.solver.ascent.polynomial_moments import PolynomialMoments, flops, is_possible
from ism_core.solver.ascent.surrogate_model import SurrogateModel
from ism_core.solver.progress import drain
from ism_core.solver.result import Step, Stop

ROUNDING = 1e-13  # the share of J, or of ‖Φ‖, below which two values of J are the same
SMALLEST_ANGLE = 1e-9  # radians; below it a step moves W by rounding only
GAP_SHARE = 0.8  # ρ < 0 may close this much of the eigengap
DEAR = 4  # of Φ(W)W for one Φ: it is worth a try to do with a Φ from elsewhere
SURELY = 2.0  # an eigengap of so many times the doubt about Φ is one
USELESS = 0.3  # nor one that misses so much of it after a step
LEAP = 6  # of Φ(W)W: what a leap may cost
ASIDE = 10  # directions of a leap beside W and the gradient
LEAP_EVALUATIONS = 20  # of Φ within its space that one takes, about
LEAP_ITERATIONS = 100
IN_REACH = 5  # times the gradient that is small enough: it is for a step
OUTLOOK = 0.1  # radians: far enough for J to tell a saddle from a maximum
OUTLOOK_STEPS = 6  # of Φ(W)W, to find the direction


class _Points:
    """The points of one ascent, each at the price of Φ(W)W unless those have cost as much as all of Φ."""

    def __init__(self, problem: Objective) -> None:
        self.problem = problem
        self._paid = 0.0

    def first(self, W: Array, known: SurrogateModel | None) -> EvaluatedPoint:
        problem = self.problem
        is_dear = not problem.is_small and (problem.is_corrected or DEAR * problem.half_gradient_flops < problem.flops)
        if known is None or not is_dear:
            return EvaluatedPoint.at(problem, W, known)
        half_gradient = problem.half_gradient(W)
        return EvaluatedPoint.like(problem, W, known, *half_gradient) or EvaluatedPoint.at(
            problem, W, known, half_gradient
        )

    def next(self, here: EvaluatedPoint, W: Array) -> EvaluatedPoint:
        self._paid += self.problem.half_gradient_flops
        if self.problem.is_small or self._paid > self.problem.flops:
            return self.whole(W, here.model)
        there = here.moved(self.problem, W)
        if there.surrogate_error - here.surrogate_error > USELESS * np.linalg.norm(there.half_gradient):
            return self.whole(W, there.model)
        return there

    def whole(self, W: Array, near: SurrogateModel) -> EvaluatedPoint:
        self._paid = 0.0
        return EvaluatedPoint.at(self.problem, W, near)

    def sure(self, point: EvaluatedPoint, delta: float, at_last: bool = True) -> EvaluatedPoint:
        """The same point, with all of Φ where what is uncertain in its Φ might hide a better direction.

        At last, that is told from all eigenvalues; on the way, from those that are at hand.
        """
        if point.surrogate_error <= delta / 10 * point.size:
            return point
        V, gap, model = point.model.dominant(point.W)
        is_sure = gap > SURELY * point.surrogate_error and (
            not at_last or model.is_beside(V, SURELY * point.surrogate_error)
        )
        return point if is_sure else self.whole(point.W, point.model)


class Ascent(NamedTuple):
    """Where an ascent ended, why, and the number of its last step."""

    point: EvaluatedPoint
    stop: Stop
    iteration: int


def ascend(
    problem: Objective,
    W: Array,
    delta: float,
    max_iter: int,
    round: int = 0,
    first: int = 0,
    known: SurrogateModel | None = None,
    leaping: bool = True,
    looking_out: bool = False,
) -> Generator[Step, None, Ascent]:
    """Steps from W upwards, or leaps where these are allowed, numbered from `first`; `known` is what is known of the Φ
    of a problem like this, of any scale. Looking out for saddles costs seven Φ(W)W more."""
    if isinstance(problem, NeighborProblem):
        W, stop, iteration = yield from climb(problem, W, delta, max_iter, round, first)
        with own_threads():
            return Ascent(EvaluatedPoint.at(problem, W), stop, iteration)
    points = _Points(problem)
    with own_threads():  # one thread for small products, since several would stay in the way of those that follow
        here = points.first(W, known)
    shift = 0.0
    leaps, leapt = leaping and can_leap(problem), False
    yield Step("ascent", round, first, here.objective, here.eigenvalues, None, None, here.gradient, here.W)
    for iteration in range(first + 1, first + max_iter + 1):
        with own_threads():
            leapt = leaps and not (leapt and here.gradient < IN_REACH * delta / 10)
            moved = _leap(points, here, delta) if leapt else _step(points, here, shift)
            if moved is None and here.surrogate_error:
                here = points.sure(here, delta)
                moved = _step(points, here, 0.0)
        if moved is None:
            return Ascent(here, Stop.FIXED_POINT if here.gradient < delta / 10 else Stop.STALLED, iteration - 1)
        there, angle, shift = moved
        change = float(
            np.linalg.norm(there.eigenvalues - here.eigenvalues) / (np.linalg.norm(there.eigenvalues) or 1.0)
        )
        here = there if leapt else replace(there, space=here.space)
        gradient = here.gradient
        yield Step("ascent", round, iteration, here.objective, here.eigenvalues, change, angle, gradient, here.W)
        if change < delta and gradient < delta / 10:
            with own_threads():
                at_last = (_ahead(here) if leaps else angle) < delta / 10
                better = points.sure(here, delta, at_last)
                if better is here and at_last:
                    higher = _further(points, here) if looking_out else None
                    if higher is None:
                        return Ascent(here, Stop.CONVERGED, iteration)
                    better = higher
            if better is not here:
                here, shift = better, 0.0
    return Ascent(here, Stop.MAX_ITER, first + max_iter)


def can_leap(problem: Objective) -> TypeGuard[Problem]:
    """Whether the moments that it takes are there, and cost little beside the steps that it saves."""
    if not isinstance(problem, Problem) or problem.is_small:
        return False
    s = min(2 * problem.q + ASIDE, problem.dimensions)
    return is_possible(problem, s) and flops(problem, s, LEAP_EVALUATIONS) < LEAP * problem.half_gradient_flops


def around(problem: Problem, point: EvaluatedPoint) -> PolynomialMoments:
    """All rows in a space that holds W, the gradient and the dominant eigenvectors of Φ."""
    aside = point.model.directions(problem.q + ASIDE)
    basis = orthonormal(np.hstack([point.W, point.half_gradient, aside]), 2 * problem.q + ASIDE)
    moments = PolynomialMoments.of(problem, basis)
    assert moments is not None
    return moments


def _leap(points: _Points, here: EvaluatedPoint, delta: float) -> tuple[EvaluatedPoint, float, float] | None:
    """The maximum in the space around W, the angle to it and no shift; None where it is W itself."""
    assert isinstance(points.problem, Problem)
    moments = around(points.problem, here)
    reached = drain(ascend(moments, moments.basis.T @ here.W, delta / 10, LEAP_ITERATIONS))
    W = np.linalg.qr(moments.basis @ reached.point.W)[0]
    angle = largest_angle(here.W, W)
    return None if angle < SMALLEST_ANGLE else (replace(points.next(here, W), space=moments), angle, 0.0)


def _ahead(here: EvaluatedPoint) -> float:
    """The angle that a step would go from here."""
    return largest_angle(here.W, here.model.dominant(here.W).vectors)


def _further(points: _Points, here: EvaluatedPoint) -> EvaluatedPoint | None:
    """A point further along the direction in which J curves most, if it is higher."""
    problem = points.problem
    first = exchange(problem, here, np.random.default_rng(0)).direction
    largest, direction = curvature(problem, here, first, OUTLOOK_STEPS)
    if largest <= 0:
        return None
    there = points.next(here, np.linalg.qr(here.W + np.tan(OUTLOOK) / spectral_norm(direction) * direction)[0])
    return there if there.objective - here.objective > _noise(problem, here) else None


def _noise(problem: Objective, here: EvaluatedPoint) -> float:
    """What J may change by and say nothing."""
    return max(ROUNDING * max(abs(here.objective), here.size), problem.resolution * abs(here.objective))


def _step(points: _Points, here: EvaluatedPoint, shift: float) -> tuple[EvaluatedPoint, float, float] | None:
    """The next point, the angle to it and the shift to go on with; None where every step is down to rounding."""
    problem = points.problem
    before = float(here.eigenvalues.sum())
    model = here.model
    while True:
        V, gap, model = model.dominant(here.W, shift)
        angle = largest_angle(here.W, V)
        if angle < SMALLEST_ANGLE:
            return None
        there = points.next(replace(here, model=model), V)
        gained = there.objective - here.objective
        predicted = float(np.vdot(V, model.times(V))) - before
        moved = max(problem.q - float(np.linalg.norm(here.W.T @ V)) ** 2, angle**2 / 4)  # the sum of squared sines
        curvature = (predicted - gained) / moved
        if gained >= -_noise(problem, here):
            if (
                here.surrogate_error and not there.surrogate_error
            ):  # what a makeshift Φ promised says nothing about the true one
                return there, angle, 0.0
            return there, angle, max(curvature, -GAP_SHARE * max(gap - shift, 0.0))
        shift = max(2 * shift, curvature, ROUNDING * here.size)
