"""From one W to the local maximum that it belongs to: the ISM iteration, made safe and made cheap.

Plain ISM replaces W by the q dominant eigenvectors of Φ(W). This maximises tr(VᵀΦ(W)V), which is J to first order
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
"""

from collections.abc import Callable, Generator
from dataclasses import dataclass, replace
from typing import NamedTuple, TypeVar

import numpy as np

from ism_core.arrays import Array
from ism_core.errors import InvalidInput
from ism_core.grassmann import dominant, largest_angle, largest_stretch
from ism_core.model import Model
from ism_core.result import Step, Stop
from ism_core.surrogate import Problem
from ism_core.threads import own_threads

T = TypeVar("T")

ROUNDING = 1e-13  # the share of J, or of ‖Φ‖, below which two values of J are the same
SMALLEST_ANGLE = 1e-9  # radians; below it a step moves W by rounding only
LARGEST = 1e140  # of which many squares still add up to a number
GAP_SHARE = 0.8  # ρ < 0 may close this much of the eigengap
DEAR = 4  # of Φ(W)W for one Φ: it is worth a try to do with a Φ from elsewhere
SURELY = 2.0  # an eigengap of so many times the doubt about Φ is one
USELESS = 0.3  # nor one that misses so much of it after a step
UNLIKE = 0.01  # a Φ from elsewhere is not used where it misses more than this share of Φ(W)W


@dataclass(frozen=True)
class Point:
    """A W with J(W) and a Φ that gives Φ(W)W; its columns are turned to be eigenvectors of WᵀΦW, in falling order."""

    W: Array
    model: Model
    pulled: Array  # Φ(W)W
    objective: float
    eigenvalues: Array
    doubt: float = 0.0  # how far Φ may be from Φ(W) away from W, by what it was off along W; 0 where it is Φ(W)

    @staticmethod
    def at(problem: Problem, W: Array, near: Model | None = None) -> "Point":
        """With all of Φ(W); `near` is one like it."""
        phi, objective = problem.surrogate(W)
        _refuse_overflow(phi, objective)
        return Point._of(W, Model.of(phi, problem, problem.q, near), phi @ W, objective)

    def moved(self, problem: Problem, W: Array) -> "Point":
        """Another W, with this Φ set right along it."""
        return Point._near(W, self.model, *problem.pull(W), self.doubt)

    @staticmethod
    def like(problem: Problem, W: Array, model: Model) -> "Point | None":
        """With the Φ of a similar problem, scaled to fit and set right along W; None where it does not fit."""
        pulled, objective = problem.pull(W)
        guess = model.times(W)
        scale = float(np.vdot(guess, pulled)) / (float(np.vdot(guess, guess)) or 1.0)
        if scale <= 0 or np.linalg.norm(pulled - scale * guess) > UNLIKE * np.linalg.norm(pulled):
            return None
        return Point._near(W, replace(model.scaled(scale), rows=problem), pulled, objective, 0.0)

    @staticmethod
    def _near(W: Array, model: Model, pulled: Array, objective: float, doubt: float) -> "Point":
        _refuse_overflow(pulled, objective)
        missed = largest_stretch(pulled - model.times(W))
        return Point._of(W, model.corrected(W, pulled), pulled, objective, doubt + missed)

    @staticmethod
    def _of(W: Array, model: Model, pulled: Array, objective: float, doubt: float = 0.0) -> "Point":
        values, turn = np.linalg.eigh(W.T @ pulled)
        turn = turn[:, ::-1]
        return Point(W @ turn, model, pulled @ turn, objective, values[::-1], doubt)

    @property
    def phi(self) -> Array:
        """Φ"""
        return self.model.matrix

    @property
    def size(self) -> float:
        """‖Φ‖"""
        return self.model.size

    @property
    def gradient(self) -> float:
        """‖(I − WWᵀ)ΦW‖ / ‖Φ‖"""
        along = self.pulled - self.W @ (self.W.T @ self.pulled)
        return float(np.linalg.norm(along)) / self.size if self.size > 0 else 0.0


def _refuse_overflow(values: Array, objective: float) -> None:
    if not (np.abs(values).max() < LARGEST and abs(objective) < LARGEST):  # as where one of them is NaN
        raise InvalidInput("X", "The kernel overflows: the values of X are too large. Standardise X or scale it down.")


class _Points:
    """The points of one ascent, each at the price of Φ(W)W unless those have cost as much as all of Φ."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self._paid = 0.0

    def first(self, W: Array, known: Model | None) -> Point:
        if known is not None and not self.problem.is_small and DEAR * self.problem.pull_flops < self.problem.flops:
            alike = Point.like(self.problem, W, known)
            if alike is not None:
                return alike
        return Point.at(self.problem, W, known)

    def next(self, here: Point, W: Array) -> Point:
        self._paid += self.problem.pull_flops
        if self.problem.is_small or self._paid > self.problem.flops:
            return self.whole(W, here.model)
        there = here.moved(self.problem, W)
        if there.doubt - here.doubt > USELESS * np.linalg.norm(there.pulled):
            return self.whole(W, there.model)
        return there

    def whole(self, W: Array, near: Model) -> Point:
        self._paid = 0.0
        return Point.at(self.problem, W, near)

    def sure(self, point: Point, delta: float, at_last: bool = True) -> Point:
        """The same point, with all of Φ where what is uncertain in its Φ might hide a better direction.

        At last, that is told from all eigenvalues; on the way, from those that are at hand.
        """
        if point.doubt <= delta / 10 * point.size:
            return point
        gap = point.model.dominant(point.W).gap
        if at_last and gap > SURELY * point.doubt:
            gap = dominant(point.phi, self.problem.q, self.problem)[1]
        return point if gap > SURELY * point.doubt else self.whole(point.W, point.model)


class Ascent(NamedTuple):
    """Where an ascent ended, why, and the number of its last step."""

    point: Point
    stop: Stop
    iteration: int


def ascend(
    problem: Problem,
    W: Array,
    delta: float,
    max_iter: int,
    round: int = 0,
    first: int = 0,
    known: Model | None = None,
) -> Generator[Step, None, Ascent]:
    """Steps from W upwards, numbered from `first`; `known` is what is known of the Φ of a problem like this, of any
    scale."""
    points = _Points(problem)
    with own_threads():  # one thread for small products, since several would stay in the way of those that follow
        here = points.first(W, known)
    shift = 0.0
    yield Step("ascent", round, first, here.objective, here.eigenvalues, None, None, here.gradient, here.W)
    for iteration in range(first + 1, first + max_iter + 1):
        with own_threads():
            moved = _step(points, here, shift)
            if moved is None and here.doubt:
                here = points.sure(here, delta)
                moved = _step(points, here, 0.0)
        if moved is None:
            return Ascent(here, Stop.FIXED_POINT if here.gradient < delta / 10 else Stop.STALLED, iteration - 1)
        there, angle, shift = moved
        change = float(
            np.linalg.norm(there.eigenvalues - here.eigenvalues) / (np.linalg.norm(there.eigenvalues) or 1.0)
        )
        here = there
        gradient = here.gradient
        yield Step("ascent", round, iteration, here.objective, here.eigenvalues, change, angle, gradient, here.W)
        if change < delta and gradient < delta / 10:
            at_last = angle < delta / 10
            sure = points.sure(here, delta, at_last)
            if sure is not here:
                here, shift = sure, 0.0
            elif at_last:
                return Ascent(here, Stop.CONVERGED, iteration)
    return Ascent(here, Stop.MAX_ITER, first + max_iter)


def drained(steps: Generator[Step, None, T]) -> T:
    """What the steps lead to, with nobody watching."""
    while True:
        try:
            next(steps)
        except StopIteration as end:
            value: T = end.value
            return value


def mapped(steps: Generator[Step, None, T], changed: Callable[[Step], Step]) -> Generator[Step, None, T]:
    """The same steps changed, leading to the same."""
    while True:
        try:
            step = next(steps)
        except StopIteration as end:
            value: T = end.value
            return value
        yield changed(step)


def _step(points: _Points, here: Point, shift: float) -> tuple[Point, float, float] | None:
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
        if gained >= -max(ROUNDING * max(abs(here.objective), here.size), problem.resolution * abs(here.objective)):
            if here.doubt and not there.doubt:  # what a makeshift Φ promised says nothing about the true one
                return there, angle, 0.0
            return there, angle, max(curvature, -GAP_SHARE * max(gap - shift, 0.0))
        shift = max(2 * shift, curvature, ROUNDING * here.size)
