"""From one W to the local maximum that it belongs to: the ISM iteration, made safe.

Plain ISM replaces W by the q dominant eigenvectors of Φ(W). This maximises tr(VᵀΦ(W)V), which is J to first order
only: where Φ turns quickly with W the iteration overshoots, and may flip between two subspaces for ever. Here W
becomes the dominant eigenvectors of

    Φ(W) + ρ WWᵀ

where the shift ρ is the curvature that the last step has shown: what J fell short of that prediction, per squared
sine of the angles moved. ρ = 0 is plain ISM. ρ > 0 shortens the step, most where the eigengap is small; ρ < 0, where
J did better than predicted, lengthens it. A step that would lower J is refused and taken again with a larger ρ, so
that for a fixed Γ J never goes down. (Self-consistent field computations of quantum chemistry have the same
iteration, the same trouble and, as level shifting, the same remedy.)
"""

from collections.abc import Generator
from dataclasses import dataclass
from typing import NamedTuple, TypeVar

import numpy as np

from ism_core.arrays import Array
from ism_core.errors import InvalidInput
from ism_core.grassmann import dominant, largest_angle
from ism_core.result import Step, Stop
from ism_core.surrogate import Problem

T = TypeVar("T")

ROUNDING = 1e-13  # the share of J, or of ‖Φ‖, below which two values of J are the same
SMALLEST_ANGLE = 1e-9  # radians; below it a step moves W by rounding only
LARGEST = 1e150  # whose square is still a number
GAP_SHARE = 0.8  # ρ < 0 may close this much of the eigengap


@dataclass(frozen=True)
class Point:
    """A W with Φ(W) and J(W); its columns are turned to be eigenvectors of WᵀΦW, in falling order."""

    W: Array
    phi: Array
    objective: float
    eigenvalues: Array

    @staticmethod
    def at(problem: Problem, W: Array) -> "Point":
        phi, objective = problem.surrogate(W)
        if not (np.abs(phi).max() < LARGEST and abs(objective) < LARGEST):  # as where one of them is NaN
            raise InvalidInput(
                "X", "The kernel overflows: the values of X are too large. Standardise X or scale it down."
            )
        values, turn = np.linalg.eigh(W.T @ phi @ W)
        return Point(W @ turn[:, ::-1], phi, objective, values[::-1])

    @property
    def gradient(self) -> float:
        """‖(I − WWᵀ)ΦW‖ / ‖Φ‖"""
        pulled = self.phi @ self.W
        size = np.linalg.norm(self.phi)
        return float(np.linalg.norm(pulled - self.W @ (self.W.T @ pulled)) / size) if size > 0 else 0.0


class Ascent(NamedTuple):
    """Where an ascent ended, why, and the number of its last step."""

    point: Point
    stop: Stop
    iteration: int


def ascend(
    problem: Problem, W: Array, delta: float, max_iter: int, round: int = 0, first: int = 0
) -> Generator[Step, None, Ascent]:
    """Steps from W upwards, numbered from `first`."""
    here = Point.at(problem, W)
    shift = 0.0
    yield Step("ascent", round, first, here.objective, here.eigenvalues, None, None, here.gradient, here.W)
    for iteration in range(first + 1, first + max_iter + 1):
        moved = _step(problem, here, shift)
        if moved is None:
            return Ascent(here, Stop.FIXED_POINT if here.gradient < delta / 10 else Stop.STALLED, iteration - 1)
        there, angle, shift = moved
        change = float(
            np.linalg.norm(there.eigenvalues - here.eigenvalues) / (np.linalg.norm(there.eigenvalues) or 1.0)
        )
        here = there
        gradient = here.gradient
        yield Step("ascent", round, iteration, here.objective, here.eigenvalues, change, angle, gradient, here.W)
        if change < delta and angle < delta / 10 and gradient < delta / 10:
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


def _step(problem: Problem, here: Point, shift: float) -> tuple[Point, float, float] | None:
    """The next point, the angle to it and the shift to go on with; None where every step is down to rounding."""
    before = float(here.eigenvalues.sum())
    size = float(np.linalg.norm(here.phi))
    while True:
        V, gap = dominant(here.phi + shift * (here.W @ here.W.T), problem.q, problem.X)
        angle = largest_angle(here.W, V)
        if angle < SMALLEST_ANGLE:
            return None
        there = Point.at(problem, V)
        gained = there.objective - here.objective
        predicted = float(np.vdot(V, here.phi @ V)) - before
        moved = max(problem.q - float(np.linalg.norm(here.W.T @ V)) ** 2, angle**2 / 4)  # the sum of squared sines
        curvature = (predicted - gained) / moved
        if gained >= -ROUNDING * max(abs(here.objective), size):
            return there, angle, max(curvature, -GAP_SHARE * max(gap - shift, 0.0))
        shift = max(2 * shift, curvature, ROUNDING * size)
