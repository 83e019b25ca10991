"""Compare J and time with pymanopt's conjugate gradient and trust regions, on the Grassmann and Stiefel manifolds.

    python -m benchmarks manifolds

The peers maximize the same J for the same Γ and kernel from one random start, until their own stopping rule or a time
limit. `benchmarks.speed.objective` gives them J and its gradient 2ΦW in one evaluation. Trust regions get the Hessian
along a direction from the difference of two gradients.
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
from benchmarks.speed.objective import Evaluation, Objective, OutOfTime
from ism_core import Supervised, solve
from ism_core.arrays import Array

MANIFOLDS = {"Grassmann": Grassmann, "Stiefel": Stiefel}
OPTIMIZERS: dict[str, type[Optimizer]] = {"conjugate gradient": ConjugateGradient, "trust regions": TrustRegions}

CASES = (  # data set, kernels, time limit of each run of a peer in seconds
    ("wine", ("gaussian", "polynomial"), 5.0),
    ("cancer", ("gaussian", "polynomial"), 5.0),
    ("face", ("gaussian",), 2.0),
    ("digits", ("gaussian",), 2.0),
    ("mnist_test", ("gaussian",), 4.0),
)


def maximize(
    evaluate: Evaluation,
    d: int,
    q: int,
    manifold: str = "Grassmann",
    optimizer: str = "conjugate gradient",
    seed: int = 0,
    unit: float = 1.0,
) -> bool:
    """Run a peer from a random start and return whether it ended within its time; `evaluate.best` has its J.

    The peer minimizes −J / `unit`, because its tolerance for the gradient, 1e-6, is absolute.
    """
    space = MANIFOLDS[manifold](d, q)
    problem = pymanopt.Problem(
        space,
        pymanopt.function.numpy(space)(lambda W: -evaluate(W)[0] / unit),
        euclidean_gradient=pymanopt.function.numpy(space)(lambda W: -evaluate(W)[1] / unit),
        euclidean_hessian=pymanopt.function.numpy(space)(lambda W, D: -evaluate.hessian(W, D) / unit),
    )
    try:
        OPTIMIZERS[optimizer](verbosity=0).run(problem, initial_point=random_start(d, q, seed))
    except OutOfTime:
        return False
    return True


def random_start(d: int, q: int, seed: int) -> Array:
    """Return a random W with orthonormal columns."""
    start: Array = np.linalg.qr(np.random.default_rng(seed).standard_normal((d, q)))[0]
    return start


def beside_peers(data: str, kernels: list[str], limit: float) -> Row:
    """Run `solve` with default settings and q = classes, and each peer."""
    table = load(data)
    X, q, paradigm = table.standardized, table.classes, Supervised(table.y)
    rows: list[Row] = []
    for kernel in kernels:
        result = solve(X, paradigm, kernel, q)
        ours = medians({"": partial(solve, X, paradigm, kernel, q)}, enough=3)[""]
        for manifold in MANIFOLDS:
            for optimizer in OPTIMIZERS:
                evaluate = Evaluation(Objective(X, paradigm.target_gamma(), result.kernel), limit)
                began = time.perf_counter()
                ended = maximize(evaluate, X.shape[1], q, manifold, optimizer)
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
                        "peer ended": "by its own rule" if ended else f"at the limit of {limit:g} s",
                    }
                )
                say(f"{kernel}, {optimizer}, {manifold}: {taken / ours:.1f} times the time of ISM")
    return {"rows": rows}


def section() -> Row:
    """Measure all cases, each data set in its own process."""
    rows: list[Row] = []
    for data, kernels, limit in CASES:
        rows += run_part("speed.manifolds", "beside_peers", data=data, kernels=kernels, limit=limit)["rows"]
    notes = [f"{data}: the time limit of a peer is {limit:g} s; kernels {', '.join(k)}." for data, k, limit in CASES]
    return {"claims": [], "tables": {"pymanopt, one random start, q = classes": rows}, "notes": notes}


if __name__ == "__main__":
    serve_parts(beside_peers)
