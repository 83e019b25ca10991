"""The optimizers that the paper compares ISM with, each maximizing the same J(W) over WᵀW = I within a time limit.

DG    dimension growth: greedy, one column at a time (Niu, Dy and Jordan 2014)
SM    feasible steps on the Stiefel manifold: Cayley transform, Barzilai–Borwein (Wen and Yin 2013)
GM    Riemannian trust regions on the Grassmann manifold, by pymanopt (Boumal and Absil 2011)

All start at the same seeded random W, as their authors' code does by default, and use the same `Objective` for J and
its gradient. SM and GM get J divided by the norm of its first gradient, so that their steps and tolerances do not
depend on the unit of J. A relative gradient is ‖(I − WWᵀ)G‖/‖G‖ for G = dJ/dW: J depends on the span of W alone, so
this is the gradient on either manifold. Products of a few columns run on one thread, evaluations on all.
"""

import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from benchmarks.speed.manifolds import maximize, random_start
from benchmarks.speed.objective import Evaluation, Objective, OutOfTime
from ism_core.arrays import Array
from ism_core.engines import own_threads

__all__ = ["COMPETITORS", "Found", "Objective", "dimension_growth", "grassmann", "relative_gradient", "stiefel"]

GRADIENT = 1e-5  # relative gradient of a stationary point
CHANGE = 1e-10  # mean relative change of J over the last steps at convergence
FEW = 5
ARMIJO = 1e-4  # Armijo constant
SHORTEST = 1e-14  # shortest step; a shorter one is rounding

FIRST_STEP, SHRINK, MEMORY = 1e-3, 0.2, 0.85  # Wen and Yin's: first τ, its factor after a rejection, weight of the past
REFUSALS = 30


@dataclass(frozen=True)
class Found:
    """The result of a competitor."""

    W: Array  # d×q, orthonormal
    objective: float
    seconds: float
    finished: bool  # False: stopped at its time limit
    evaluations: int  # of J and its gradient


@own_threads()
def dimension_growth(objective: Objective, q: int, seconds: float, seed: int = 0) -> Found:
    """Maximize J one column at a time; each column stays orthogonal to those before it, which are fixed.

    Each column starts at random and moves along w cos t + u sin t, where u is the direction of steepest ascent, with a
    backtracking (Armijo) line search for t. No column is revisited, so W is stationary in each column given those
    before it, but not as a whole. If the time limit stops the method, the remaining columns are those of the start.
    """
    began, evaluate = time.perf_counter(), Evaluation(objective, seconds)
    W = random_start(objective.X.shape[1], q, seed)
    finished = True
    try:
        for k in range(q):
            W[:, k:] = _orthonormal(W[:, k:], W[:, :k])
            _grow(evaluate, W, k)
    except OutOfTime:
        finished = False
        W[:, k + 1 :] = _orthonormal(W[:, k + 1 :], W[:, : k + 1])
    value = objective.value_and_gradient(W)[0]
    return Found(W, value, time.perf_counter() - began, finished, evaluate.evaluations)


def _grow(evaluate: Evaluation, W: Array, k: int) -> None:
    """Ascend with column k of W only."""
    still, t = Stillness(), 0.05
    value, gradient = evaluate(W[:, : k + 1])
    while True:
        w, g = W[:, k].copy(), gradient[:, k]
        up = _outside(_outside(g, W[:, : k + 1]), W[:, : k + 1])
        slope = float(np.linalg.norm(up))
        if slope <= GRADIENT * np.linalg.norm(g):
            return
        t = min(2 * t, np.pi / 2)
        while True:
            trial = np.column_stack([W[:, :k], np.cos(t) * w + np.sin(t) * up / slope])
            ahead, gradient = evaluate(trial)
            if ahead >= value + ARMIJO * t * slope:
                break
            t /= 2
            if t < SHORTEST:
                return
        W[:, k] = trial[:, k] / np.linalg.norm(trial[:, k])
        if still.after(value, ahead):
            return
        value = ahead


@own_threads()
def stiefel(objective: Objective, q: int, seconds: float, seed: int = 0) -> Found:
    """Wen and Yin's feasible method, with the constants of their code.

    Steps along the Cayley transform Y(τ) = W + τ U (I − τ/2 VᵀU)⁻¹ VᵀW, U = [G, W] and V = [W, −G], with alternating
    Barzilai–Borwein τ and the nonmonotone line search of Zhang and Hager. It stops at a relative gradient of 1e-5, or
    when J has converged.
    """
    began, evaluate = time.perf_counter(), Evaluation(objective, seconds)
    finished = True
    try:
        _cayley(evaluate, random_start(objective.X.shape[1], q, seed))
    except OutOfTime:
        finished = False
    return _found(evaluate, began, finished)


def _cayley(evaluate: Evaluation, W: Array) -> None:
    """Ascend by Cayley steps until the gradient vanishes or J converges."""
    value, G = evaluate(W)
    scale = float(np.linalg.norm(G)) or 1.0
    level, weight, tau, still = value, 1.0, FIRST_STEP, Stillness()
    uphill = _ascent(W, G)
    step = 0
    while relative_gradient(W, G) > GRADIENT:
        promised = ARMIJO * float(np.vdot(uphill, uphill)) / scale
        for _ in range(REFUSALS):
            Y = _cayley_step(W, G / scale, tau)
            ahead, ahead_G = evaluate(Y)
            if ahead >= level + tau * promised:
                break
            tau *= SHRINK
        else:
            return
        moved, (W, G, last) = Y - W, (Y, ahead_G, uphill)
        uphill = _ascent(W, G)
        turned = (last - uphill) / scale
        along = abs(float(np.vdot(moved, turned)))
        lengths = (np.vdot(moved, moved), along) if step % 2 == 0 else (along, np.vdot(turned, turned))
        tau = float(np.clip(lengths[0] / max(float(lengths[1]), 1e-300), SHORTEST, 1 / SHORTEST))
        if still.after(value, ahead):
            return
        value, step = ahead, step + 1
        weight, level = MEMORY * weight + 1, (MEMORY * weight * level + value) / (MEMORY * weight + 1)


def _cayley_step(W: Array, G: Array, tau: float) -> Array:
    """Return Y(τ) on the curve that starts in direction G − W GᵀW, orthonormalized if rounding shows."""
    U, V = np.hstack([G, W]), np.hstack([W, -G])
    inner = np.eye(U.shape[1]) - tau / 2 * (V.T @ U)
    Y: Array = W + tau * (U @ np.linalg.solve(inner, V.T @ W))
    if np.abs(Y.T @ Y - np.eye(Y.shape[1])).max() > 1e-13:
        Y = _orthonormal(Y, Y[:, :0])
    return Y


@own_threads()
def grassmann(objective: Objective, q: int, seconds: float, seed: int = 0) -> Found:
    """pymanopt's trust regions on the Grassmann manifold, at its own settings.

    The gradient is exact, the Hessian along a direction a difference of two gradients. It ends where the gradient is
    1e-6 of the first one, or after pymanopt's 1,000 iterations.
    """
    began, evaluate = time.perf_counter(), Evaluation(objective, seconds)
    first = evaluate(random_start(objective.X.shape[1], q, seed))[1]
    scale = float(np.linalg.norm(first)) or 1.0
    finished = maximize(evaluate, objective.X.shape[1], q, "Grassmann", "trust regions", seed, scale)
    return _found(evaluate, began, finished)


def relative_gradient(W: Array, G: Array) -> float:
    """‖(I − WWᵀ)G‖/‖G‖ for G = dJ/dW at an orthonormal W."""
    return float(np.linalg.norm(_outside(G, W)) / (np.linalg.norm(G) or 1.0))


class Stillness:
    """Test whether J has converged over the last few steps."""

    def __init__(self) -> None:
        self._changes: deque[float] = deque(maxlen=FEW)

    def after(self, value: float, ahead: float) -> bool:
        """Record a step of J from `value` to `ahead`; return whether J has converged."""
        self._changes.append(abs(ahead - value) / max(abs(value), 1e-300))
        return len(self._changes) == FEW and sum(self._changes) / FEW < CHANGE


def _found(evaluate: Evaluation, began: float, finished: bool) -> Found:
    return Found(evaluate.W, evaluate.best, time.perf_counter() - began, finished, evaluate.evaluations)


def _ascent(W: Array, G: Array) -> Array:
    """The gradient on the Stiefel manifold in Wen and Yin's metric, G − W GᵀW."""
    ascent: Array = G - W @ (G.T @ W)
    return ascent


def _outside(V: Array, W: Array) -> Array:
    """Project V onto the complement of span(W)."""
    outside: Array = V - W @ (W.T @ V)
    return outside


def _orthonormal(V: Array, W: Array) -> Array:
    """Orthonormalize the columns of V in order, orthogonal to W, without changing their signs."""
    Q, R = np.linalg.qr(_outside(_outside(V, W), W))
    signed: Array = Q * np.where(np.diag(R) < 0, -1.0, 1.0)
    return signed


COMPETITORS: dict[str, Callable[[Objective, int, float], Found]] = {
    "DG": dimension_growth,
    "SM": stiefel,
    "GM": grassmann,
}
