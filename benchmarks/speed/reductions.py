"""Compare accuracy and time with PCA, kernel PCA, LDA, NCA, and UMAP with labels.

    python -m benchmarks reductions

In each fold, the scaling, the reduction and an SVM on its output are fitted to the training rows. The time is that of
fitting the reduction. A cell runs further folds only within its time limit, and reports how many of the five it ran.
q = 2 and q = classes.
"""

import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.decomposition import PCA, KernelPCA
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.model_selection import StratifiedKFold
from sklearn.neighbors import NeighborhoodComponentsAnalysis
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from benchmarks.datasets import Dataset, load
from benchmarks.measuring import Row, run_part, say, serve_parts
from ism_core import SupervisedISM
from ism_core.arrays import Array, Ints

FOLDS = 5
CELL_SECONDS = 1.0  # a cell that took longer runs no further fold
MAX_TRAINING_ROWS = {"NCA": 400, "UMAP": 400, "kernel PCA (rbf)": 2_000}  # all rows of MNIST would take minutes
MAX_TEST_ROWS = 1_000  # per fold
DATA = ("wine", "cancer", "face", "digits", "mnist_test")


def umap_with_labels(q: int, classes: int) -> Any:
    """Return a UMAP, whose `fit` takes labels."""
    from umap import UMAP  # takes seconds to import

    return UMAP(n_components=q, random_state=0)


METHODS: dict[str, Callable[[int, int], Any]] = {
    "ISM gaussian": lambda q, classes: SupervisedISM("gaussian", q),
    "ISM polynomial": lambda q, classes: SupervisedISM("polynomial", q),
    "PCA": lambda q, classes: PCA(q, random_state=0),
    "kernel PCA (rbf)": lambda q, classes: KernelPCA(q, kernel="rbf", eigen_solver="arpack", random_state=0),
    "LDA": lambda q, classes: LinearDiscriminantAnalysis(n_components=min(q, classes - 1)),
    "NCA": lambda q, classes: NeighborhoodComponentsAnalysis(q, random_state=0),
    "UMAP": umap_with_labels,
}


def accuracies(method: str, data: list[str], seconds: float = CELL_SECONDS) -> Row:
    """Measure one method on all data sets, at q = 2 and q = classes."""
    warnings.simplefilter("ignore")  # about collinear pixels, and about the one thread of a seeded UMAP
    _fold(METHODS[method](2, 2), *_small())  # the first call compiles and loads libraries
    rows: list[Row] = []
    for name in data:
        table = load(name)
        for q in sorted({2, table.classes}):
            rows.append({"data": name, "q": q, "method": method, **_cell(method, table, q, seconds)})
            say(f"{name}, q = {q}: accuracy {rows[-1]['accuracy']:.3f}, {rows[-1]['s']:.2f} s")
    return {"rows": rows}


def _cell(method: str, table: Dataset, q: int, seconds: float) -> Row:
    began = time.perf_counter()
    scores, taken = [], []
    for training, test in StratifiedKFold(FOLDS, shuffle=True, random_state=0).split(table.X, table.y):
        few = training[:: -(-len(training) // MAX_TRAINING_ROWS.get(method, len(training)))]
        some = test[:: -(-len(test) // MAX_TEST_ROWS)]
        model = METHODS[method](q, table.classes)
        learned, score = _fold(model, table.X[few], table.y[few], table.X[some], table.y[some])
        taken.append(learned)
        scores.append(score)
        if time.perf_counter() - began > seconds:
            break
    return {
        "accuracy": float(np.mean(scores)),
        "s": float(np.median(taken)),
        "folds": f"{len(scores)} of {FOLDS}",
        "training rows": len(few),
    }


def _fold(reduction: Any, X: Array, y: Ints, X_test: Array, y_test: Ints) -> tuple[float, float]:
    """Return the seconds to fit the reduction, and the test accuracy of an SVM on its output."""
    scaling = StandardScaler().fit(X)
    began = time.perf_counter()
    reduction.fit(scaling.transform(X), y)
    taken = time.perf_counter() - began
    classifier = SVC().fit(reduction.transform(scaling.transform(X)), y)
    return taken, float(classifier.score(reduction.transform(scaling.transform(X_test)), y_test))


def _small() -> tuple[Array, Ints, Array, Ints]:
    """Return a fold with new test rows: UMAP compiles its transform only for rows that it was not fitted to."""
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((60, 5)), np.arange(60) % 2
    return (
        X[:40],
        y[:40],
        X[40:],
        y[40:],
    )


def section() -> Row:
    """Measure every method on every data set, each method in its own process."""
    rows: list[Row] = []
    for method in METHODS:
        rows += run_part("speed.reductions", "accuracies", method=method, data=DATA)["rows"]
    ours = {(row["data"], row["q"]): row["s"] for row in rows if row["method"] == "ISM gaussian"}
    for row in rows:
        row["time over ISM gaussian"] = row["s"] / ours[row["data"], row["q"]]
    rows.sort(key=lambda row: (DATA.index(row["data"]), row["q"]))
    notes = [
        f"A cell that took more than {CELL_SECONDS:g} s ran no further fold.",
        f"A fold has at most {MAX_TEST_ROWS} test rows. {', '.join(MAX_TRAINING_ROWS)} are fitted to at most"
        f" {', '.join(map(str, MAX_TRAINING_ROWS.values()))} training rows."
        " LDA has at most classes − 1 dimensions.",
        "UMAP's time is without the compilation at its first call, some 15 s.",
    ]
    return {"claims": [], "tables": {"Other reductions, SVM on the projection": rows}, "notes": notes}


if __name__ == "__main__":
    serve_parts(accuracies)
