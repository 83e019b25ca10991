"""J and its gradient for general optimizers: one evaluation gives both, within a time limit."""

import time

import numpy as np

from ism_core.arrays import Array
from ism_core.engines import own_threads
from ism_core.gamma import Gamma
from ism_core.kernels import Kernel
from ism_core.objective import Problem

DENSE_ROWS = 300  # up to so many rows, n×n arrays are at least as fast as tiles
DIFFERENCE_STEP = 1e-6  # step of the finite difference of two gradients; larger than rounding


class OutOfTime(Exception):
    """The time limit of the run is over."""


class Objective:
    """J(W) = Σij Γij f(βij) and its gradient 2Φ(W)W for a W of any number of columns, orthonormal or not.

    If n is small, it works on n×n arrays, on one thread, because several BLAS threads take 50 times as long on a busy
    machine. Otherwise it computes like `solve`, by exact features or tiles on all cores. So an evaluation costs a peer
    as much as ISM, and they differ in the number of evaluations.
    """

    def __init__(self, X: Array, gamma: Gamma, kernel: Kernel) -> None:
        self.X, self.gamma, self.kernel = X, gamma, kernel
        self._square = (gamma.U * gamma.s) @ gamma.U.T if len(X) <= DENSE_ROWS else None
        self._problems: dict[int, Problem] = {}

    def value_and_gradient(self, W: Array) -> tuple[float, Array]:
        """Return J and dJ/dW = 2Φ(W)W."""
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
            psi = square * term.derivative(beta, value)
            psi_P = psi @ P
            half_gradient += weight * (2 * (psi.sum(axis=1)[:, None] * P - psi_P) if apart else psi_P)
            objective += weight * float(np.vdot(square, value))
        return objective, 2 * self.X.T @ half_gradient


class Evaluation:
    """An objective that raises OutOfTime after its deadline, and keeps the best W of all calls.

    The values at the last W are cached, because optimizers ask for J and the gradient separately. The first evaluation
    has no deadline, so that there always is a best W.
    """

    def __init__(self, objective: Objective, seconds: float = np.inf) -> None:
        self._objective = objective
        self._deadline = time.perf_counter() + seconds
        self._at: tuple[tuple[int, ...], bytes] | None = None
        self.evaluations = 0
        self.best = -np.inf
        self.W = np.empty((objective.X.shape[1], 0))

    def __call__(self, W: Array) -> tuple[float, Array]:
        """Return J and its gradient."""
        at = W.shape, W.tobytes()
        if at != self._at:
            self._value = self._within_time(W)
            self._at = at
            if self._value[0] > self.best or not self.W.shape[1]:
                self.best, self.W = self._value[0], W.copy()
        return self._value

    def hessian(self, W: Array, direction: Array) -> Array:
        """Return the Hessian of J along a direction, by a finite difference of two gradients."""
        size = float(np.linalg.norm(direction)) or 1.0
        ahead = self._within_time(W + DIFFERENCE_STEP / size * direction)[1]
        change: Array = (ahead - self(W)[1]) * size / DIFFERENCE_STEP
        return change

    def _within_time(self, W: Array) -> tuple[float, Array]:
        if self._at is not None and time.perf_counter() > self._deadline:
            raise OutOfTime
        self.evaluations += 1
        return self._objective.value_and_gradient(W)
