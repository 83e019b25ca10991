"""The loop that every ascent shares: step, accept, report, stop.

An ascent method is a class with `init`, `step` and `after_step`; `iter_moves` drives it. The methods are

    spectral.SpectralAscent       dominant eigenvectors of Φ(W), the ISM iteration
    leaps.LeapAscent              the maximum within a few directions, for polynomial kernels
    lbfgs.LbfgsAscent             gradients only, for a Γ that depends on W
    support_ascent.SupportAscent  columns with few features (in `solver.sparse`)
    alternation.ClusteringAscent  one step of W for each clustering (in `solver`)
"""

from abc import ABC, abstractmethod
from collections.abc import Generator
from dataclasses import dataclass
from functools import cached_property
from typing import Generic, NamedTuple, Protocol, TypeVar

import numpy as np

from ism_core.arrays import Array
from ism_core.engines import own_threads
from ism_core.linalg import largest_angle
from ism_core.solver.result import Step, Stop

GRADIENT_PER_DELTA = 0.1  # bound on the relative gradient, and on the angle of a step in radians, relative to delta
OBJECTIVE_ROUNDING = 1e-13  # share of J, or of ‖Φ‖, below which two values of J are equal
MOST_REJECTIONS = 100  # rejected trials of one step; each at least doubles the shift


class Point(Protocol):
    """A W with J, the eigenvalues and the gradient there."""

    @property
    def W(self) -> Array:  # noqa: N802
        """d×q, orthonormal columns."""

    @property
    def objective(self) -> float:
        """J(W)"""

    @property
    def eigenvalues(self) -> Array:
        """The eigenvalues of WᵀΦW, largest first."""

    @property
    def size(self) -> float:
        """‖Φ‖, or ‖Φ(W)W‖ if Φ is not known."""

    @property
    def gradient(self) -> float:
        """The norm of half the gradient on the manifold, relative to the size."""


P = TypeVar("P", bound=Point)


@dataclass(frozen=True)
class Move(Generic[P]):
    """A point that an ascent reached, and the one before it."""

    iteration: int
    point: P
    before: P | None = None

    @cached_property
    def change(self) -> float | None:
        """The relative change of the eigenvalues; None at the first point."""
        if self.before is None:
            return None
        now = self.point.eigenvalues
        return float(np.linalg.norm(now - self.before.eigenvalues) / (np.linalg.norm(now) or 1.0))

    @cached_property
    def angle(self) -> float | None:
        """The largest principal angle between the two subspaces, in radians; None at the first point."""
        return None if self.before is None else largest_angle(self.before.W, self.point.W)

    def is_within(self, delta: float) -> bool:
        """Whether the change of the eigenvalues is below delta and the gradient below a tenth of it."""
        return self.change is not None and self.change < delta and is_stationary(self.point, delta)

    def has_converged(self, delta: float, remaining_angle: float | None = None) -> bool:
        """Return whether the stopping test holds: `is_within`, and the remaining angle is below a tenth of delta.

        `remaining_angle` is an estimate of the angle to the limit, in radians; by default that of the last step.
        """
        angle = self.angle if remaining_angle is None else remaining_angle
        return self.is_within(delta) and angle is not None and angle < GRADIENT_PER_DELTA * delta

    def as_step(self, round: int = 0) -> Step:
        """Return the move as a Step, which `iter_solve` yields."""
        here = self.point
        return Step(
            "ascent",
            round,
            self.iteration,
            here.objective,
            here.eigenvalues,
            self.change,
            self.angle,
            here.gradient,
            here.W,
        )


class Ascent(NamedTuple, Generic[P]):
    """Where an ascent ended, why, and the number of its last iteration."""

    point: P
    stop: Stop
    iteration: int


class AscentMethod(Protocol[P]):
    """One method of ascent. It may keep state from step to step."""

    def init(self, W: Array, /) -> P:
        """Evaluate the first point."""

    def step(self, here: P, /) -> tuple[P, Stop | None]:
        """Return the next point; or, with a reason to stop, the last one."""

    def after_step(self, move: Move[P], /) -> tuple[P, Stop | None]:
        """Return the point to continue from: the one reached, or the same W with Φ recomputed.

        Return a reason to stop too, or None.
        """


def iter_moves(method: AscentMethod[P], W: Array, max_iter: int, first: int = 0) -> Generator[Move[P], None, Ascent[P]]:
    """Run an ascent from W for at most `max_iter` steps; yield the points, numbered from `first`."""
    with own_threads():  # the threads of the BLAS would compete with ours
        here = method.init(W)
    yield Move(first, here)
    for iteration in range(first + 1, first + max_iter + 1):
        with own_threads():
            there, stop = method.step(here)
        if stop is not None:
            return Ascent(there, stop, iteration - 1)
        move = Move(iteration, there, here)
        yield move
        with own_threads():
            here, stop = method.after_step(move)
        if stop is not None:
            return Ascent(here, stop, iteration)
    return Ascent(here, Stop.MAX_ITER, first + max_iter)


def stop_without_step(point: Point, delta: float) -> Stop:
    """Return the reason to stop if no step increases J."""
    return Stop.FIXED_POINT if is_stationary(point, delta) else Stop.STALLED


def is_stationary(point: Point, delta: float) -> bool:
    """Return whether the relative gradient is below a tenth of delta."""
    return point.gradient < GRADIENT_PER_DELTA * delta


class TrialStep(NamedTuple):
    """The dominant eigenvectors of Φ + ρ WWᵀ at a point, as a W to try."""

    W: Array
    squared_sines: float  # sum over the principal angles to the point
    predicted_gain: float  # gain of tr VᵀΦV, which is that of J to first order
    lowest_shift: float  # lowest shift that the next step may have


class LevelShiftedAscent(ABC, Generic[P]):
    """An eigenvector iteration with a level shift, which never decreases J.

    A plain step replaces W by the dominant eigenvectors of Φ(W). This maximizes tr VᵀΦ(W)V, which approximates J to
    first order only, up to a constant: if Φ changes quickly with W, the iteration overshoots. Here W becomes the
    dominant eigenvectors of

        Φ(W) + ρ WWᵀ

    The shift ρ estimates the curvature from the last step: the predicted minus the actual gain, per squared sine.
    ρ = 0 is the plain step. ρ > 0 shortens the step, ρ < 0 lengthens it. A step that would lower J is rejected and
    repeated with a larger ρ. (In quantum chemistry this is called level shifting.)
    """

    _shift = 0.0

    @property
    @abstractmethod
    def resolution(self) -> float:
        """Relative error of J: smaller changes of J are not significant."""

    @abstractmethod
    def propose(self, here: P, shift: float) -> TrialStep | None:
        """Return the dominant eigenvectors of the shifted Φ; None if they are this W up to rounding."""

    @abstractmethod
    def evaluate(self, here: P, W: Array) -> P:
        """Evaluate another W."""

    def uphill(self, here: P) -> P | None:
        """Return the next point, whose J is not smaller; None if no step increases J beyond rounding."""
        size = abs(here.objective)
        noise = max(OBJECTIVE_ROUNDING * max(size, here.size), self.resolution * size)
        shift = self._shift
        for _ in range(MOST_REJECTIONS):
            trial = self.propose(here, shift)
            if trial is None:
                return None
            there = self.evaluate(here, trial.W)
            gained = there.objective - here.objective
            curvature = (trial.predicted_gain - gained) / trial.squared_sines
            if gained >= -noise:
                self._shift = max(curvature, trial.lowest_shift)
                return there
            shift = max(2 * shift, curvature, OBJECTIVE_ROUNDING * here.size)
        return None
