"""Clusterings without labels: ISM and its competitors alternate between W and the clustering."""

import time
from collections.abc import Sequence
from functools import partial
from itertools import count
from typing import NamedTuple

import numpy as np
from scipy.spatial.distance import pdist
from sklearn.cluster import KMeans, SpectralClustering

from benchmarks.datasets import load
from benchmarks.measuring import Row, medians, timed
from benchmarks.paper.experiments.competitors import COMPETITORS, Objective
from benchmarks.paper.experiments.folds import DELTA, FILES, cost, fitted, named
from ism_core import Unsupervised, solve
from ism_core.arrays import Array, Ints
from ism_core.engines import own_threads
from ism_core.gamma import Gamma
from ism_core.kernels import Kernel
from ism_core.linalg import largest_angle
from ism_core.metrics import nmi
from ism_core.objective import Problem
from ism_core.paradigms import DENSE_ROWS, Clustering, Projected
from ism_core.solver import ascend

NEAR = 0.1  # times delta: accuracy of Y with many rows, as in ISM
WARMING_ROWS = 300
ITERATIONS = 300
SHORT = 1.0  # seconds: shorter runs are repeated, and the median counts


class Clustered(NamedTuple):
    """The result of a method."""

    W: Array
    labels: Ints
    finished: bool  # before its time limit
    rounds: int  # number of alternations


def measure(data: str, kernel: str, method: str, limit: float, delta: float = DELTA) -> Row:
    """Measure seconds, cost and NMI, each as a list of one value.

    The cost is that of the best W for the final clustering of ISM; its time is not included. The row also has the
    costs of W with its own clustering (Γ as printed, and with degrees), and the NMI of other clusterings of XW.
    """
    table = load(FILES.get(data, data))
    X, q = table.standardized, table.classes
    _clustered(X[:WARMING_ROWS], kernel, method, q, 0.2, delta)  # warm-up: compiles and loads libraries
    work = partial(_clustered, X, kernel, method, q, limit, delta)
    taken, found = timed(work)
    if taken < SHORT:
        taken = medians({"": work}, repeats=5)[""]
    W, fixed = found.W, fitted(kernel, X)
    gamma, clustering = _gamma(X @ W, fixed, q, None)
    return {
        "seconds": [taken],
        "cost": [_cost_of_one_clustering(X, kernel, method, q, limit, delta)],
        "own cost": [cost(X, _without_degrees(clustering), fixed, W)],
        "own cost with degrees": [cost(X, gamma, fixed, W)],
        "NMI": [nmi(table.y, found.labels)],
        "NMI of XW": {name: nmi(table.y, labels) for name, labels in _anew(X @ W, q).items()},
        "finished": [found.finished],
        "rounds": found.rounds,
        "limit": limit,
        "n": len(X),
        "d": X.shape[1],
        "q": q,
    }


def scaled_as_one(data: str, kernels: Sequence[str]) -> Row:
    """Measure NMI with columns divided by one number, by kernel; and of k-means on all columns, with both scalings."""
    table = load(FILES.get(data, data))
    X, k = table.X[:, np.ptp(table.X, axis=0) > 0], table.classes
    X = X - X.mean(axis=0)
    X /= np.sqrt(np.mean(X**2))
    found = {kernel: nmi(table.y, solve(X, Unsupervised(k), kernel, k, delta=DELTA).labels) for kernel in kernels}
    means = KMeans(k, n_init=5, random_state=0)
    for name, columns in (("k-means", X), ("k-means standardized", table.standardized)):
        found[name] = nmi(table.y, means.fit_predict(columns))
    return found


def _clustered(X: Array, kernel: str, method: str, q: int, limit: float, delta: float) -> Clustered:
    if method == "ISM":
        result = solve(X, Unsupervised(q), named(kernel), q, delta=delta)
        assert result.labels is not None
        return Clustered(result.W, result.labels, result.converged, result.steps[-1].round + 1)
    return _alternated(X, fitted(kernel, X), method, q, time.perf_counter() + limit, delta)


def _alternated(X: Array, kernel: Kernel, method: str, q: int, deadline: float, delta: float) -> Clustered:
    """Alternate from W = I; each ascent may use the remaining time."""
    gamma, clustering = _gamma(X, kernel, q, None)
    for rounds in count(1):
        left = max(0.1, deadline - time.perf_counter())
        found = COMPETITORS[method](Objective(X, gamma, kernel), q, left)
        gamma, after = _gamma(X @ found.W, kernel, q, clustering)
        still = largest_angle(clustering.Y, after.Y) < delta
        clustering = after
        if still or not found.finished or time.perf_counter() > deadline:
            return Clustered(found.W, clustering.labels(0), found.finished and still, rounds)
    raise AssertionError("the rounds have no end")


def _cost_of_one_clustering(X: Array, kernel: str, method: str, q: int, limit: float, delta: float) -> float:
    """Return the cost of the W that a method finds for the final clustering of ISM; ISM starts at its own W."""
    fixed, found = fitted(kernel, X), _clustered(X, kernel, "ISM", q, limit, delta)
    gamma = _without_degrees(_gamma(X @ found.W, fixed, q, None)[1])
    if method == "ISM":
        W = ascend(Problem.of(X, gamma, fixed, q), found.W, delta, ITERATIONS).point.W
    else:
        W = COMPETITORS[method](Objective(X, gamma, fixed), q, limit).W
    return cost(X, gamma, fixed, W)


def _gamma(P: Array, kernel: Kernel, k: int, last: Clustering | None) -> tuple[Gamma, Clustering]:
    tolerance = NEAR * DELTA if len(P) > DENSE_ROWS else None
    with own_threads():  # as in ISM
        gamma, clustering = Unsupervised(k).gamma(Projected(P, kernel, 0, last, tolerance=tolerance))
    assert clustering is not None
    return gamma, clustering


def _anew(P: Array, k: int) -> dict[str, Ints]:
    """Cluster the projected rows with scikit-learn."""
    found = {"k-means": KMeans(k, n_init=10, random_state=0).fit_predict(P)}
    if len(P) <= DENSE_ROWS:
        width = float(np.median(pdist(P)))
        affinity = SpectralClustering(k, gamma=0.5 / width**2, random_state=0)
        found["spectral clustering"] = affinity.fit_predict(P)
    return found


def _without_degrees(clustering: Clustering) -> Gamma:
    """Γ = H Y Yᵀ H, as the paper prints it."""
    U = clustering.Y - clustering.Y.mean(axis=0)
    return Gamma(U, np.ones(U.shape[1]))
