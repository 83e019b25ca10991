"""A W with J(W), Φ(W)W and a Φ whose product with W is exact."""

from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np

from ism_core.arrays import Array
from ism_core.engines import own_threads
from ism_core.errors import InvalidInput
from ism_core.linalg import RowStatistics, correction, project_out, spectral_norm
from ism_core.solver.ascent.polynomial_moments import PolynomialMoments

LARGEST_NUMBER = 1e140  # sums of squares of larger numbers may overflow
LARGEST_MISFIT = 0.05  # largest relative error of the product of W with the scaled Φ of a similar problem


class Objective(RowStatistics, Protocol):
    """The interface of a problem for an ascent; `Problem` and `PolynomialMoments` provide it."""

    @property
    def q(self) -> int:
        """The number of columns of W."""

    @property
    def null_directions(self) -> Array:
        """d×e: directions in which no row has a component."""

    @property
    def is_small(self) -> bool:
        """Whether Φ costs so little that approximating it saves nothing."""

    @property
    def flops(self) -> float:
        """Flops of Φ(W)."""

    @property
    def half_gradient_flops(self) -> float:
        """Flops of Φ(W)W."""

    @property
    def resolution(self) -> float:
        """Relative error of J: smaller changes of J are not significant."""

    def evaluate(self, W: Array, /, half_gradient: tuple[Array, float] | None = None) -> tuple[Array, float]:
        """Return Φ(W) and J(W); Φ(W)W and J(W) may be known already."""

    def half_gradient(self, W: Array, /) -> tuple[Array, float]:
        """Return Φ(W)W and J(W)."""


@dataclass(frozen=True)
class EvaluatedPoint:
    """A W with J(W) and a Φ whose product with W is Φ(W)W. WᵀΦW is diagonal, with the largest eigenvalue first.

    Φ is Φ(W), or the Φ of another W after the smallest symmetric update that makes its product with W exact.
    """

    W: Array
    phi: Array
    half_gradient: Array  # Φ(W)W
    objective: float
    eigenvalues: Array
    surrogate_error: float = 0.0  # estimated error of Φ outside span(W), from its observed error inside; 0 for Φ(W)
    moments: PolynomialMoments | None = None  # moments of the leap that ended at this point

    @staticmethod
    def at(problem: Objective, W: Array, half_gradient: tuple[Array, float] | None = None) -> "EvaluatedPoint":
        """Evaluate Φ(W) and J(W); Φ(W)W and J(W) may be known already."""
        phi, objective = problem.evaluate(W, half_gradient)
        _refuse_overflow(phi, objective)
        return EvaluatedPoint._of(W, phi, phi @ W, objective, 0.0)

    def moved(self, problem: Objective, W: Array) -> "EvaluatedPoint":
        """Evaluate Φ(W)W and J(W) at another W, and correct this Φ so that its product with that W is exact."""
        return EvaluatedPoint._corrected(W, self.phi, *problem.half_gradient(W), self.surrogate_error)

    @staticmethod
    def from_similar(W: Array, phi: Array, half_gradient: Array, objective: float) -> "EvaluatedPoint | None":
        """Return the point with the Φ of a similar problem, scaled and corrected; None if that Φ fits badly."""
        guess = phi @ W
        scale = float(np.vdot(guess, half_gradient)) / (float(np.vdot(guess, guess)) or 1.0)
        misfit = np.linalg.norm(half_gradient - scale * guess)
        if scale <= 0 or misfit > LARGEST_MISFIT * np.linalg.norm(half_gradient):
            return None
        return EvaluatedPoint._corrected(W, scale * phi, half_gradient, objective, 0.0)

    @staticmethod
    def _corrected(
        W: Array, phi: Array, half_gradient: Array, objective: float, surrogate_error: float
    ) -> "EvaluatedPoint":
        _refuse_overflow(half_gradient, objective)
        missing = half_gradient - phi @ W
        error = surrogate_error + spectral_norm(missing)
        return EvaluatedPoint._of(W, phi + correction(W, missing), half_gradient, objective, error)

    @staticmethod
    def _of(W: Array, phi: Array, half_gradient: Array, objective: float, surrogate_error: float) -> "EvaluatedPoint":
        values, turn = np.linalg.eigh(W.T @ half_gradient)
        turn = turn[:, ::-1]
        return EvaluatedPoint(W @ turn, phi, half_gradient @ turn, objective, values[::-1], surrogate_error)

    @cached_property
    @own_threads()
    def size(self) -> float:
        """‖Φ‖"""
        return float(np.linalg.norm(self.phi))

    @cached_property
    def gradient(self) -> float:
        """‖(I − WWᵀ)ΦW‖ / ‖Φ‖"""
        tangent_gradient = project_out(self.W, self.half_gradient)
        return float(np.linalg.norm(tangent_gradient)) / self.size if self.size > 0 else 0.0


def _refuse_overflow(values: Array, objective: float) -> None:
    if not (np.abs(values).max() < LARGEST_NUMBER and abs(objective) < LARGEST_NUMBER):  # true for NaN as well
        raise InvalidInput("X", "The kernel overflows: the values of X are too large. Standardize X or scale it down.")
