"""Cross-validated supervised reductions: scaling, W and SVM learn from the training rows only."""

import time
from collections.abc import Iterator

import numpy as np
from sklearn.model_selection import StratifiedKFold
from sklearn.svm import SVC

from benchmarks.datasets import Dataset, load
from benchmarks.measuring import Row
from benchmarks.paper.experiments.competitors import COMPETITORS, Objective
from ism_core import Supervised, aligned, solve
from ism_core.arrays import Array, Ints
from ism_core.gamma import Gamma
from ism_core.kernels import Kernel, as_kernel
from ism_core.linalg import standardized
from ism_core.objective import Problem

DELTA = 0.01
FILES = {"mnist": "mnist_test"}  # the paper's MNIST
WARMING_ROWS = 300

Fold = tuple[Array, Ints, Array, Ints]  # training rows and classes, test rows and classes


def measure(data: str, kernel: str, method: str, folds: int, limit: float, first: int | None = None) -> Row:
    """Measure seconds, cost and accuracy of each fold, or of the first few; `finished`: within the time limit."""
    table = load(FILES.get(data, data))
    found: dict[str, list[float]] = {key: [] for key in ("seconds", "cost", "accuracy", "training accuracy")}
    finished: list[bool] = []
    for index, (X, y, X_test, y_test) in enumerate(standardized_folds(table, folds)):
        if index == first:
            break
        if index == 0:
            _reduced(
                X[:WARMING_ROWS], y[:WARMING_ROWS], kernel, method, table.classes, 0.2
            )  # warm-up: compiles and loads libraries
        taken, W, ended = _reduced(X, y, kernel, method, table.classes, limit)
        classifier = SVC().fit(X @ W, y)
        found["seconds"].append(taken)
        found["cost"].append(cost(X, Supervised(y).target_gamma(), fitted(kernel, X, y), W))
        found["accuracy"].append(float(classifier.score(X_test @ W, y_test)))
        found["training accuracy"].append(float(classifier.score(X @ W, y)))
        finished.append(ended)
    return {**found, "finished": finished, "limit": limit, "n": len(table.X), "d": X.shape[1], "q": table.classes}


def without_reduction(data: str, folds: int, first: int) -> Row:
    """Measure the accuracy of the same SVM on all columns, standardized and raw."""
    table = load(FILES.get(data, data))
    scaled = [_accuracy(*fold) for fold, _ in zip(standardized_folds(table, folds), range(first), strict=False)]
    raw = []
    for training, test in list(_splits(table, folds))[:first]:
        raw.append(_accuracy(table.X[training], table.y[training], table.X[test], table.y[test]))
    return {"standardized": scaled, "raw": raw}


def standardized_folds(table: Dataset, folds: int) -> Iterator[Fold]:
    """Yield stratified folds, standardized by the training rows, without columns that are constant in them."""
    for training, test in _splits(table, folds):
        varying = np.ptp(table.X[training], axis=0) > 0
        X, mean, scale = standardized(table.X[training][:, varying])
        yield X, table.y[training], (table.X[test][:, varying] - mean) / scale, table.y[test]


def fitted(kernel: str, X: Array, y: Ints | None = None) -> Kernel:
    """Return the kernel with the parameters that `solve` derives from X, so that all methods use the same."""
    guidance = None if y is None else Supervised(y).target_gamma()
    return named(kernel).fitted_to(X, np.random.default_rng(0), guidance)


def named(kernel: str) -> Kernel:
    """Return a kernel by name; a sum gets its weights from alignment with the labels."""
    several = kernel.split("+")
    return aligned(*several) if len(several) > 1 else as_kernel(kernel)


def cost(X: Array, gamma: Gamma, kernel: Kernel, W: Array) -> float:
    """Return −J; for a gaussian without the diagonal of K, which the paper sets to zero."""
    objective = Problem.of(X, gamma, kernel, W.shape[1]).objective(W)
    diagonal = float(gamma.s @ np.einsum("ia,ia->a", gamma.U, gamma.U)) if kernel.nonnegative else 0.0
    return diagonal - objective


def _reduced(X: Array, y: Ints, kernel: str, method: str, q: int, limit: float) -> tuple[float, Array, bool]:
    """Return the seconds, W, and whether the method stopped before its limit."""
    paradigm = Supervised(y)
    if method == "ISM":
        began = time.perf_counter()
        result = solve(X, paradigm, named(kernel), q, delta=DELTA)
        return time.perf_counter() - began, result.W, result.converged
    found = COMPETITORS[method](Objective(X, paradigm.target_gamma(), fitted(kernel, X, y)), q, limit)
    return found.seconds, found.W, found.finished


def _splits(table: Dataset, folds: int) -> Iterator[tuple[Ints, Ints]]:
    splits: Iterator[tuple[Ints, Ints]] = StratifiedKFold(folds, shuffle=True, random_state=0).split(table.X, table.y)
    return splits


def _accuracy(X: Array, y: Ints, X_test: Array, y_test: Ints) -> float:
    return float(SVC().fit(X, y).score(X_test, y_test))
