"""J and time beside pymanopt's conjugate gradient and trust regions, on the Grassmann and Stiefel manifolds.

    python -m benchmarks manifolds

The peers maximise the same J for the same Γ and kernel from one random start, at their own stopping rules or until a
time limit. J and its gradient 2ΦW come from one evaluation: on n×n arrays where n is small, else by our tiles on all
cores, whichever is faster. Trust regions take the Hessian along a direction from the difference of two gradients.
"""

import time
from functools import partial

import numpy as np
import pymanopt
from pymanopt.manifolds import Grassmann, Stiefel
from pymanopt.optimizers import ConjugateGradient, TrustRegions
from pymanopt.optimizers.optimizer import Optimizer

from benchmarks.datasets import load
from benchmarks.measuring import Row, medians, run_part, say, serve_parts
from ism_core import Supervised, solve, tiles
from ism_core.arrays import Array
from ism_core.engine import LOCAL
from ism_core.gamma import Gamma
from ism_core.kernel import Term

SMALL = 500  # rows up to which n×n arrays are faster than tiles
STEP = 1e-6  # of the difference of two gradients
MANIFOLDS = {"Grassmann": Grassmann, "Stiefel": Stiefel}
OPTIMIZERS: dict[str, type[Optimizer]] = {"conjugate gradient": ConjugateGradient, "trust regions": TrustRegions}

CASES = (  # data set, kernels, seconds that each run of a peer may take
    ("wine", ("gaussian", "polynomial"), 5.0),
    ("cancer", ("gaussian", "polynomial"), 5.0),
    ("face", ("gaussian",), 8.0),
    ("digits", ("gaussian",), 8.0),
    ("mnist_test", ("gaussian",), 12.0),
)


class OutOfTime(Exception):
    """The run has had its time."""


class Evaluation:
    """−J and its gradient at W, kept for the second of the two questions about the same W; and the best J so far."""

    def __init__(self, X: Array, gamma: Gamma, kernel: Term, limit: float = np.inf) -> None:
        self._X, self._gamma, self._kernel = X, gamma, kernel
        self._placed = LOCAL.place(X), LOCAL.place(gamma), LOCAL.place(kernel)
        self._square = (gamma.U * gamma.s) @ gamma.U.T if len(X) <= SMALL else None
        self._deadline = time.perf_counter() + limit
        self._at: bytes = b""
        self.best = -np.inf

    def __call__(self, W: Array) -> tuple[float, Array]:
        if W.tobytes() != self._at:
            gradient, objective = self.gradient(W)
            self.best = max(self.best, objective)
            self._at, self._value = W.tobytes(), (-objective, -gradient)
        return self._value

    def hessian(self, W: Array, direction: Array) -> Array:
        """Of −J, along a direction, scaled to a step that rounding does not swallow."""
        size = float(np.linalg.norm(direction)) or 1.0
        ahead = self.gradient(W + STEP / size * direction)[0]
        return (-ahead - self(W)[1]) * size / STEP

    def gradient(self, W: Array) -> tuple[Array, float]:
        """2ΦW and J"""
        if time.perf_counter() > self._deadline:
            raise OutOfTime
        pulled, objective = self._tiled(W) if self._square is None else self._dense(W, self._square)
        return 2 * self._X.T @ pulled, objective

    def _tiled(self, W: Array) -> tuple[Array, float]:
        return tiles.pull(*self._placed, W)

    def _dense(self, W: Array, square: Array) -> tuple[Array, float]:
        P = self._X @ W
        beta = P @ P.T
        if self._kernel.form == "difference":
            norms = beta.diagonal()
            beta = np.maximum(norms[:, None] + norms - 2 * beta, 0)
        value = self._kernel.value(beta)
        psi = square * self._kernel.slope(beta, value)
        pulled = psi @ P
        if self._kernel.form == "difference":
            pulled = 2 * (psi.sum(axis=1)[:, None] * P - pulled)
        return pulled, float(np.vdot(square, value))


def climb(
    evaluate: Evaluation,
    d: int,
    q: int,
    manifold: str = "Grassmann",
    optimizer: str = "conjugate gradient",
    seed: int = 0,
) -> bool:
    """Let a peer climb from a random start; `evaluate.best` is what it reached. Whether it ended within its time."""
    space = MANIFOLDS[manifold](d, q)
    problem = pymanopt.Problem(
        space,
        pymanopt.function.numpy(space)(lambda W: evaluate(W)[0]),
        euclidean_gradient=pymanopt.function.numpy(space)(lambda W: evaluate(W)[1]),
        euclidean_hessian=pymanopt.function.numpy(space)(evaluate.hessian),
    )
    start = np.linalg.qr(np.random.default_rng(seed).standard_normal((d, q)))[0]
    try:
        OPTIMIZERS[optimizer](verbosity=0).run(problem, initial_point=start)
    except OutOfTime:
        return False
    return True


def beside_peers(data: str, kernels: list[str], limit: float) -> Row:
    """`solve` at its defaults, q = classes, and each peer."""
    table = load(data)
    X, q, paradigm = table.standardised, table.classes, Supervised(table.y)
    rows: list[Row] = []
    for kernel in kernels:
        result = solve(X, paradigm, kernel, q)
        ours = medians({"": partial(solve, X, paradigm, kernel, q)}, enough=3)[""]
        ((_, term),) = result.kernel.terms
        for manifold in MANIFOLDS:
            for optimizer in OPTIMIZERS:
                evaluate, began = Evaluation(X, paradigm.guidance(), term, limit), time.perf_counter()
                ended = climb(evaluate, X.shape[1], q, manifold, optimizer)
                taken = time.perf_counter() - began
                rows.append(
                    {
                        "data": data,
                        "kernel": kernel,
                        "q": q,
                        "peer": f"{optimizer}, {manifold}",
                        "peer s": taken,
                        "ISM s": ours,
                        "peer/ISM": taken / ours,
                        "J of peer": evaluate.best,
                        "J of ISM": result.objective,
                        "J/peer's − 1": result.objective / evaluate.best - 1,
                        "peer ended": "by itself" if ended else f"at its limit of {limit:g} s",
                    }
                )
                say(f"{kernel}, {optimizer}, {manifold}: {taken / ours:.1f} times our time{'' if ended else ', cut'}")
    return {"rows": rows}


def section() -> Row:
    """All cases, each data set in a process of its own."""
    rows: list[Row] = []
    for data, kernels, limit in CASES:
        rows += run_part("manifolds", "beside_peers", data=data, kernels=kernels, limit=limit)["rows"]
    notes = [f"{data}: each run of a peer has {limit:g} s; kernels {', '.join(k)}." for data, k, limit in CASES]
    return {"claims": [], "tables": {"pymanopt, one random start, q = classes": rows}, "notes": notes}


if __name__ == "__main__":
    serve_parts(beside_peers)
