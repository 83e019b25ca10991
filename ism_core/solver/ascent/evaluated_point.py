"""A W on its way up, with what is known there."""

from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np

from ism_core.arrays import Array
from ism_core.errors import InvalidInput
from ism_core.linalg.subspaces import Rows, largest_stretch
from ism_core.solver.ascent.polynomial_moments import Moments
from ism_core.solver.ascent.surrogate_model import Model

LARGEST = 1e140  # of which many squares still add up to a number
UNLIKE = 0.05  # a Φ from elsewhere is not used where it misses more than this share of Φ(W)W


class Climbable(Rows, Protocol):
    """What an ascent asks of a problem: `Problem` and `Moments` have it."""

    @property
    def q(self) -> int:
        """How many columns W has."""

    @property
    def empty(self) -> Array:
        """d×e: directions that no row has anything of."""

    @property
    def is_small(self) -> bool:
        """Whether all of Φ costs so little that there is no point in saving."""

    @property
    def flops(self) -> float:
        """What all of Φ costs."""

    @property
    def pull_flops(self) -> float:
        """What Φ(W)W costs."""

    @property
    def resolution(self) -> float:
        """The share of J below which it says nothing about whether a step was good."""

    @property
    def is_corrected(self) -> bool:
        """Whether all of Φ takes Φ(W)W beside."""

    def surrogate(self, W: Array, /, pulled: tuple[Array, float] | None = None) -> tuple[Array, float]:
        """Φ(W) and J(W); Φ(W)W and J(W) may have been pulled."""

    def pull(self, W: Array, /) -> tuple[Array, float]:
        """Φ(W)W and J(W)"""


@dataclass(frozen=True)
class Point:
    """A W with J(W) and a Φ that gives Φ(W)W; its columns are turned to be eigenvectors of WᵀΦW, in falling order."""

    W: Array
    model: Model
    pulled: Array  # Φ(W)W
    objective: float
    eigenvalues: Array
    space: Moments | None = None  # of the leap that led here
    doubt: float = 0.0  # how far Φ may be from Φ(W) away from W, by what it was off along W; 0 where it is Φ(W)

    @staticmethod
    def at(
        problem: Climbable, W: Array, near: Model | None = None, pulled: tuple[Array, float] | None = None
    ) -> "Point":
        """With all of Φ(W); `near` is one like it."""
        phi, objective = problem.surrogate(W, pulled)
        _refuse_overflow(phi, objective)
        return Point._of(W, Model.of(phi, problem, problem.q, near), phi @ W, objective)

    def moved(self, problem: Climbable, W: Array) -> "Point":
        """Another W, with this Φ set right along it."""
        return Point._near(W, self.model, *problem.pull(W), self.doubt)

    @staticmethod
    def like(problem: Climbable, W: Array, model: Model, pulled: Array, objective: float) -> "Point | None":
        """With the Φ of a similar problem, scaled to fit and set right along W; None where it does not fit."""
        guess = model.times(W)
        scale = float(np.vdot(guess, pulled)) / (float(np.vdot(guess, guess)) or 1.0)
        if scale <= 0 or np.linalg.norm(pulled - scale * guess) > UNLIKE * np.linalg.norm(pulled):
            return None
        return Point._near(W, replace(model.scaled(scale), rows=problem), pulled, objective, 0.0)

    @staticmethod
    def _near(W: Array, model: Model, pulled: Array, objective: float, doubt: float) -> "Point":
        _refuse_overflow(pulled, objective)
        missing = pulled - model.times(W)
        return Point._of(W, model.corrected(W, missing), pulled, objective, doubt + largest_stretch(missing))

    @staticmethod
    def _of(W: Array, model: Model, pulled: Array, objective: float, doubt: float = 0.0) -> "Point":
        values, turn = np.linalg.eigh(W.T @ pulled)
        turn = turn[:, ::-1]
        return Point(W @ turn, model, pulled @ turn, objective, values[::-1], doubt=doubt)

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
        raise InvalidInput("X", "The kernel overflows: the values of X are too large. Standardize X or scale it down.")
