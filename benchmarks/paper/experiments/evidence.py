"""Measurements for `differences.py`: where the printed paper cannot be reproduced."""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq
from sklearn.model_selection import StratifiedGroupKFold, StratifiedKFold
from sklearn.svm import SVC

from benchmarks.datasets import load
from benchmarks.measuring import Row
from benchmarks.paper.experiments.folds import standardized_folds
from benchmarks.speed.transcription import beta, initial_surrogate, label_gamma, largest, objective, surrogate, value
from ism_core import Gaussian, Multiquadratic, Polynomial, Squared, Supervised, Unsupervised, solve
from ism_core.arrays import Array, Ints
from ism_core.kernels import Kernel, Term
from ism_core.linalg import largest_angle, standardized
from ism_core.metrics import nmi

Truths = NDArray[np.bool_]

DELTA = 0.01
MOST = 200  # passes of a loop that does not converge
HEAVIEST = 0.05  # of the rows
SCALES: dict[str, Callable[[int, int], float]] = {  # γ for d columns and q dimensions
    "1": lambda d, q: 1.0,
    "1/q": lambda d, q: 1 / q,
    "1/d": lambda d, q: 1 / d,
}
DISTANCES: dict[str, Term] = {"squared": Squared(), "multiquadratic": Multiquadratic()}


@dataclass(frozen=True)
class Pass:
    """One pass of Algorithm 1."""

    W: Array
    change: float  # ‖Λ − Λ before‖ / ‖Λ‖
    angle: float  # to the subspace before, in radians


def passes(X: Array, gamma: Array, kernel: Term, q: int, sign: int = 1) -> Iterator[Pass]:
    """Yield the passes of Algorithm 1 for ever. Sign −1 uses Φ of squared and multiquadratic kernels as printed."""
    before, W = largest(sign * initial_surrogate(X, gamma, kernel), q)
    while True:
        eigenvalues, after = largest(sign * surrogate(X, gamma, kernel, W), q)
        change = float(np.linalg.norm(eigenvalues - before) / np.linalg.norm(eigenvalues))
        yield Pass(after, change, largest_angle(W, after))
        before, W = eigenvalues, after


def ended(steps: Iterator[Pass]) -> tuple[int, Pass]:
    """Return the number of the pass at which the eigenvalues converge, and the pass; at most pass MOST."""
    for number, step in enumerate(steps, 1):
        if step.change < DELTA or number == MOST:
            return number, step
    raise AssertionError("the passes have no end")


def hits(W: Array, X: Array, y: Ints, X_test: Array, y_test: Ints) -> Truths:
    """Return which test rows an SVM on the projection classifies correctly."""
    right: Truths = SVC().fit(X @ W, y).predict(X_test @ W) == y_test
    return right


def twins(X: Array) -> Ints:
    """Number the rows so that rows with the same values have the same number."""
    return np.unique(X, axis=0, return_inverse=True)[1].ravel()


def signs(kernel: str, folds: int) -> Row:
    """Measure the accuracy on Wine with the distance as printed, and negated."""
    found: Row = {"printed": [], "negated": [], "printed passes": [], "negated passes": []}
    for X, y, X_test, y_test in standardized_folds(load("wine"), folds):
        gamma = label_gamma(y)
        for name, sign in (("printed", -1), ("negated", 1)):
            number, last = ended(passes(X, gamma, DISTANCES[kernel], 3, sign))
            found[name].append(float(hits(last.W, X, y, X_test, y_test).mean()))
            found[f"{name} passes"].append(number)
    return found


def stopping(data: str, kernel: str) -> Row:
    """Compare Algorithm 1, with its condition as printed and reversed, with its result after MOST passes."""
    table = load(data)
    X, q, gamma = table.standardized, table.classes, label_gamma(table.y)
    term = fitted_term(Gaussian() if kernel == "gaussian" else Polynomial(), X)
    steps = passes(X, gamma, term, q)
    seen = [next(steps) for _ in range(MOST)]
    number, last = ended(iter(seen))
    J = [objective(X, gamma, term, step.W) for step in (seen[0], last, seen[-1])]
    return {
        "first change": seen[0].change,
        "passes": number,
        "angle": last.angle,
        "short": [1 - each / J[-1] for each in J[:2]],
        "away": [largest_angle(step.W, seen[-1].W) for step in (seen[0], last)],
    }


def fitted_term(kernel: Kernel, X: Array) -> Term:
    """Return the only term of a kernel, with its parameters set from X."""
    ((_, term),) = kernel.fitted_to(X, np.random.default_rng(0)).terms
    return term


def diagonal(data: str, folds: int) -> Row:
    """Measure the gaussian's cost on the training rows with and without the diagonal of K."""
    found: Row = {"with": [], "without": []}
    for X, y, _, _ in standardized_folds(load(data), folds):
        counts = np.bincount(y)
        result = solve(X, Supervised(y), "gaussian", len(counts))
        trace = len(y) - float(np.sum(counts**2)) / len(y)  # of Γ; K is 1 on its diagonal
        found["with"].append(-result.objective)
        found["without"].append(-(result.objective - trace))
    return found


def scale(data: str, gamma: str, folds: int) -> Row:
    """Measure the polynomial at a γ: accuracy, cost, NMI, and the share of J of the 5 % heaviest rows."""
    table = load(data)
    kernel = Polynomial(gamma=SCALES[gamma](table.X.shape[1], table.classes))
    found: Row = {"accuracy": [], "cost": []}
    for X, y, X_test, y_test in standardized_folds(load(data), folds):
        result = solve(X, Supervised(y), kernel, len(np.unique(y)))
        found["accuracy"].append(float(hits(result.W, X, y, X_test, y_test).mean()))
        found["cost"].append(-result.objective)
    X, k = table.standardized, table.classes
    found["nmi"] = nmi(table.y, solve(X, Unsupervised(k), kernel, k).labels)
    result = solve(X, Supervised(table.y), kernel, k)
    ((_, term),) = result.kernel.terms
    weights = np.sort(np.abs(np.sum(label_gamma(table.y) * value(term, beta(X, term, result.W)), axis=1)))[::-1]
    found["heaviest"] = float(weights[: round(HEAVIEST * len(X))].sum() / weights.sum())
    return found


def fitted(data: str, cost: float) -> Row:
    """Find the γ, for each offset c, at which the polynomial's cost on the first of ten folds is the given one."""
    table = load(data)
    X, y, _, _ = next(standardized_folds(table, 10))

    def excess(c: float, logarithm: float) -> float:
        kernel = Polynomial(c=c, gamma=math.exp(logarithm))
        return math.log(solve(X, Supervised(y), kernel, table.classes).objective / -cost)

    # Without an offset the cost grows with the third power of γ.
    gamma = {
        "0": math.exp(-excess(0.0, 0.0) / 3),
        "1": math.exp(brentq(partial(excess, 1.0), math.log(1e-6), 0.0, xtol=1e-2)),
    }
    return {"gamma": gamma, "d": X.shape[1], "q": table.classes}


def duplicates(kernel: str, folds: int) -> Row:
    """Measure Cancer in random folds, and in folds that keep rows with the same values together."""
    table = load("cancer")
    groups = twins(table.X)
    found: Row = {"rows": len(groups), "distinct": int(groups.max()) + 1, "random": [], "grouped": []}
    splitters = {
        "random": StratifiedKFold(folds, shuffle=True, random_state=0),
        "grouped": StratifiedGroupKFold(folds, shuffle=True, random_state=0),
    }
    seen: list[Truths] = []
    right: list[Truths] = []
    for name, splitter in splitters.items():
        for train, test in splitter.split(table.X, table.y, groups if name == "grouped" else None):
            X, mean, scale = standardized(table.X[train])
            W = solve(X, Supervised(table.y[train]), kernel, 2).W
            got = hits(W, X, table.y[train], (table.X[test] - mean) / scale, table.y[test])
            found[name].append(float(got.mean()))
            if name == "random":
                seen.append(np.isin(groups[test], groups[train]))
                right.append(got)
    twin, got = np.concatenate(seen), np.concatenate(right)
    return found | {
        "twins": float(twin.mean()),
        "right of twins": float(got[twin].mean()),
        "right of others": float(got[~twin].mean()),
    }


def digits(folds: int) -> Row:
    """Measure MNIST with and without the label as a column, and score the same W in other ways."""
    table = load("mnist_test")
    found: Row = {"columns": table.X.shape[1], "varying": int(np.sum(np.ptp(table.X, axis=0) > 0))}
    judged: dict[str, list[float]] = {}
    for name, X in (("pixels", table.X), ("label too", np.column_stack([table.X, table.y]))):
        found[name] = []
        splitter = StratifiedKFold(10, shuffle=True, random_state=0)
        for train, test in list(splitter.split(X, table.y))[:folds]:
            Z, mean, scale = standardized(X[train])
            W = solve(Z, Supervised(table.y[train]), "gaussian", 10).W
            P, P_test, y, y_test = Z @ W, (X[test] - mean) / scale @ W, table.y[train], table.y[test]
            found[name].append(float(SVC().fit(P, y).score(P_test, y_test)))
            if name == "pixels":
                for gamma in ("scale", "auto"):
                    machine = SVC(gamma=gamma).fit(P, y)
                    judged.setdefault(f"{gamma}, test rows", []).append(float(machine.score(P_test, y_test)))
                    judged.setdefault(f"{gamma}, training rows", []).append(float(machine.score(P, y)))
                    own = SVC(gamma=gamma).fit(P_test, y_test).score(P_test, y_test)
                    judged.setdefault(f"{gamma}, fitted to the test rows", []).append(float(own))
    return {**found, "judged": judged}


def sizes() -> Row:
    """Return the sizes of the two data sets called Breast Cancer Wisconsin."""
    return {
        data: {"rows": len(table.X), "columns": table.X.shape[1], "whole": bool((np.round(table.X) == table.X).all())}
        for data in ("cancer", "wdbc")
        for table in [load(data)]
    }
