"""A W on its way up, with what is known there."""

from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np

from ism_core.arrays import Array
from ism_core.errors import InvalidInput
from ism_core.linalg.subspaces import Rows, spectral_norm
from ism_core.solver.ascent.polynomial_moments import PolynomialMoments
from ism_core.solver.ascent.surrogate_model import SurrogateModel

LARGEST = 1e140  # of which many squares still add up to a number
UNLIKE = 0.05  # a Φ from elsewhere is not used where it misses more than this share of Φ(W)W


class Objective(Rows, Protocol):
    """What an ascent asks of a problem: `Problem` and `Moments` have it."""

    @property
    def q(self) -> int:
        """How many columns W has."""

    @property
    def null_directions(self) -> Array:
        """d×e: directions that no row has anything of."""

    @property
    def is_small(self) -> bool:
        """Whether all of Φ costs so little that there is no point in saving."""

    @property
    def flops(self) -> float:
        """What all of Φ costs."""

    @property
    def half_gradient_flops(self) -> float:
        """What Φ(W)W costs."""

    @property
    def resolution(self) -> float:
        """The share of J below which it says nothing about whether a step was good."""

    @property
    def is_corrected(self) -> bool:
        """Whether all of Φ takes Φ(W)W beside."""

    def evaluate(self, W: Array, /, half_gradient: tuple[Array, float] | None = None) -> tuple[Array, float]:
        """Φ(W) and J(W); Φ(W)W and J(W) may have been pulled."""

    def half_gradient(self, W: Array, /) -> tuple[Array, float]:
        """Φ(W)W and J(W)"""


@dataclass(frozen=True)
class EvaluatedPoint:
    """A W with J(W) and a Φ that gives Φ(W)W; its columns are turned to be eigenvectors of WᵀΦW, in falling order."""

    W: Array
    model: SurrogateModel
    half_gradient: Array  # Φ(W)W
    objective: float
    eigenvalues: Array
    space: PolynomialMoments | None = None  # of the leap that led here
    surrogate_error: float = (
        0.0  # how far Φ may be from Φ(W) away from W, by what it was off along W; 0 where it is Φ(W)
    )

    @staticmethod
    def at(
        problem: Objective,
        W: Array,
        near: SurrogateModel | None = None,
        half_gradient: tuple[Array, float] | None = None,
    ) -> "EvaluatedPoint":
        """With all of Φ(W); `near` is one like it."""
        phi, objective = problem.evaluate(W, half_gradient)
        _refuse_overflow(phi, objective)
        return EvaluatedPoint._of(W, SurrogateModel.of(phi, problem, problem.q, near), phi @ W, objective)

    def moved(self, problem: Objective, W: Array) -> "EvaluatedPoint":
        """Another W, with this Φ set right along it."""
        return EvaluatedPoint._near(W, self.model, *problem.half_gradient(W), self.surrogate_error)

    @staticmethod
    def like(
        problem: Objective, W: Array, model: SurrogateModel, half_gradient: Array, objective: float
    ) -> "EvaluatedPoint | None":
        """With the Φ of a similar problem, scaled to fit and set right along W; None where it does not fit."""
        guess = model.times(W)
        scale = float(np.vdot(guess, half_gradient)) / (float(np.vdot(guess, guess)) or 1.0)
        if scale <= 0 or np.linalg.norm(half_gradient - scale * guess) > UNLIKE * np.linalg.norm(half_gradient):
            return None
        return EvaluatedPoint._near(W, replace(model.scaled(scale), rows=problem), half_gradient, objective, 0.0)

    @staticmethod
    def _near(
        W: Array, model: SurrogateModel, half_gradient: Array, objective: float, surrogate_error: float
    ) -> "EvaluatedPoint":
        _refuse_overflow(half_gradient, objective)
        missing = half_gradient - model.times(W)
        return EvaluatedPoint._of(
            W, model.corrected(W, missing), half_gradient, objective, surrogate_error + spectral_norm(missing)
        )

    @staticmethod
    def _of(
        W: Array, model: SurrogateModel, half_gradient: Array, objective: float, surrogate_error: float = 0.0
    ) -> "EvaluatedPoint":
        values, turn = np.linalg.eigh(W.T @ half_gradient)
        turn = turn[:, ::-1]
        return EvaluatedPoint(
            W @ turn, model, half_gradient @ turn, objective, values[::-1], surrogate_error=surrogate_error
        )

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
        along = self.half_gradient - self.W @ (self.W.T @ self.half_gradient)
        return float(np.linalg.norm(along)) / self.size if self.size > 0 else 0.0


def _refuse_overflow(values: Array, objective: float) -> None:
    if not (np.abs(values).max() < LARGEST and abs(objective) < LARGEST):  # as where one of them is NaN
        raise InvalidInput("X", "The kernel overflows: the values of X are too large. Standardize X or scale it down.")
