"""J and its gradient as optimizers that know nothing of Φ see them: one evaluation for both, within a time limit."""

import time

import numpy as np

from ism_core.arrays import Array
from ism_core.engines.threads import own_threads
from ism_core.gamma import Gamma
from ism_core.kernels import Kernel
from ism_core.objective import Problem

SMALL = 300  # rows up to which n×n arrays are as fast as tiles, or faster
STEP = 1e-6  # of the difference of two gradients


class OutOfTime(Exception):
    """The run has had its time."""


class Objective:
    """J(W) = Σij Γij f(βij) and its gradient 2Φ(W)W for a W of any number of columns, orthonormal or not.

    On n×n arrays where n is small (on one thread: the BLAS's take 50 times as long on a busy machine), else as `solve`
    computes them, by exact features or tiles on all cores. So a peer pays for an evaluation what ISM pays, and differs
    from it by how many it needs.
    """

    def __init__(self, X: Array, gamma: Gamma, kernel: Kernel) -> None:
        self.X, self.gamma, self.kernel = X, gamma, kernel
        self._square = (gamma.U * gamma.s) @ gamma.U.T if len(X) <= SMALL else None
        self._problems: dict[int, Problem] = {}

    def value_and_gradient(self, W: Array) -> tuple[float, Array]:
        """J and dJ/dW = 2Φ(W)W."""
        if self._square is not None:
            with own_threads():
                return self._dense(W, self._square)
        q = W.shape[1]
        if q not in self._problems:
            self._problems[q] = Problem.of(self.X, self.gamma, self.kernel, q)
        half_gradient, objective = self._problems[q].half_gradient(W)
        return objective, 2 * half_gradient

    def _dense(self, W: Array, square: Array) -> tuple[float, Array]:
        P = self.X @ W
        product = P @ P.T
        norms = product.diagonal()
        half_gradient, objective = np.zeros_like(P), 0.0
        for weight, term in self.kernel.terms:
            apart = term.form == "difference"
            beta = np.maximum(norms[:, None] + norms - 2 * product, 0) if apart else product
            value = term.value(beta)
            psi = square * term.slope(beta, value)
            psi_P = psi @ P
            half_gradient += weight * (2 * (psi.sum(axis=1)[:, None] * P - psi_P) if apart else psi_P)
            objective += weight * float(np.vdot(square, value))
        return objective, 2 * self.X.T @ half_gradient


class Evaluation:
    """An objective with a deadline, which raises OutOfTime, and with the best W among those it was called with.

    The answer for the last W is kept for the second of two questions about it. The first evaluation has no deadline, so
    that there always is a best W.
    """

    def __init__(self, objective: Objective, seconds: float = np.inf) -> None:
        self._objective = objective
        self._deadline = time.perf_counter() + seconds
        self._at: tuple[tuple[int, ...], bytes] | None = None
        self.evaluations = 0
        self.best = -np.inf
        self.W = np.empty((objective.X.shape[1], 0))

    def __call__(self, W: Array) -> tuple[float, Array]:
        """J and its gradient."""
        at = W.shape, W.tobytes()
        if at != self._at:
            self._value = self._within_time(W)
            self._at = at
            if self._value[0] > self.best or not self.W.shape[1]:
                self.best, self.W = self._value[0], W.copy()
        return self._value

    def hessian(self, W: Array, direction: Array) -> Array:
        """Of J, along a direction, from the difference of two gradients at a step that rounding does not swallow."""
        size = float(np.linalg.norm(direction)) or 1.0
        ahead = self._within_time(W + STEP / size * direction)[1]
        change: Array = (ahead - self(W)[1]) * size / STEP
        return change

    def _within_time(self, W: Array) -> tuple[float, Array]:
        if self._at is not None and time.perf_counter() > self._deadline:
            raise OutOfTime
        self.evaluations += 1
        return self._objective.value_and_gradient(W)
