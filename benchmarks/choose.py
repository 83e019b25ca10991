"""Compare the settings that ISM chooses from the data with other methods: accuracy and time, q = 2 and q = classes.

    python -m benchmarks.choose [data …] [--out folder] [--resume]

ISM chooses all settings (`SupervisedISM("auto", q)`). The other methods are ISM with the paper's settings, PCA, kernel
PCA, LDA, NCA and UMAP with labels, with their defaults. In each fold, all of them are fitted to the standardized
training rows alone; this includes the choice of settings. An SVM and 5 nearest neighbors on their output are scored on
the test rows. All methods get the same folds; for small data sets, cross-validation is repeated. The time is that of
fitting the reduction, the choice included. Clusterings and axes with few features follow.
"""

import json
import sys
import time
import warnings
from argparse import ArgumentParser
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.datasets import load_iris
from sklearn.decomposition import PCA, KernelPCA
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.model_selection import RepeatedStratifiedKFold
from sklearn.neighbors import KNeighborsClassifier, NeighborhoodComponentsAnalysis
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from benchmarks.choose_report import AUTO, NCA, PAPER, as_markdown, claims_of
from benchmarks.datasets import Dataset, load
from benchmarks.measuring import Row, load_compiled, run_part, say, serve_parts
from benchmarks.speed.reductions import umap_with_labels
from ism_core import SupervisedISM, UnsupervisedISM
from ism_core.arrays import Array, Ints
from ism_core.metrics import nmi

FOLDS = 5
REPEATS = {"wine": 4, "wdbc": 2, "cancer": 4, "iris": 4, "face": 1, "pose": 1, "digits": 1, "mnist": 1}
MAX_FOLDS = {"mnist": 2}  # instead of all five, because NCA takes minutes for each
FEATURES_PER_AXIS = 5  # of the sparse axes
SPARSE_DATA = ("wine", "wdbc")
CLUSTERED = ("wine", "cancer", "face", "mnist")
METHODS: dict[str, Callable[[int, int], Any]] = {
    AUTO: lambda q, classes: SupervisedISM("auto", q),
    PAPER: lambda q, classes: SupervisedISM("gaussian", q),
    "PCA": lambda q, classes: PCA(q, random_state=0),
    "kernel PCA": lambda q, classes: KernelPCA(q, kernel="rbf", eigen_solver="arpack", random_state=0),
    "LDA": lambda q, classes: LinearDiscriminantAnalysis(n_components=min(q, classes - 1)),
    NCA: lambda q, classes: NeighborhoodComponentsAnalysis(q, random_state=0),
    "UMAP": umap_with_labels,
}
Fold = tuple[Array, Ints, Array, Ints]


def table_of(name: str) -> Dataset:
    """Return a data set of this benchmark without its constant columns."""
    if name == "pose":
        face = load("face")
        data = Dataset(face.X, face.extra["pose"], {})
    elif name == "iris":
        X, y = load_iris(return_X_y=True)
        data = Dataset(X, y, {})
    else:
        data = load({"mnist": "mnist_test"}.get(name, name))
    return Dataset(data.X[:, np.ptp(data.X, axis=0) > 0], data.y, {})


def folds_of(name: str, table: Dataset) -> Iterator[Fold]:
    """Yield the folds, standardized by their training rows."""
    splits = RepeatedStratifiedKFold(n_splits=FOLDS, n_repeats=REPEATS[name], random_state=0).split(table.X, table.y)
    for index, (training, test) in enumerate(splits):
        if index == MAX_FOLDS.get(name):
            return
        scaling = StandardScaler().fit(table.X[training])
        X, X_test = scaling.transform(table.X[training]), scaling.transform(table.X[test])
        yield X, table.y[training], X_test, table.y[test]


def cells(method: str, data: str) -> Row:
    """Measure one method on one data set, at q = 2 and q = classes."""
    warnings.simplefilter("ignore")  # about collinear pixels, and about the one thread of a seeded UMAP
    table = table_of(data)
    rows: list[Row] = []
    _warm_up(method, table)
    for q in sorted({2, table.classes}):
        found = [_scored(METHODS[method](q, table.classes), *fold) for fold in folds_of(data, table)]
        svm, neighbors, seconds = (np.array(column) for column in zip(*found, strict=True))
        row = {"SVM": 100 * float(svm.mean()), "5-NN": 100 * float(neighbors.mean()), "s": float(np.median(seconds))}
        rows.append({"data": data, "q": q, "method": method, **row, "folds": len(found)})
        say(f"{method}, {data}, q = {q}: SVM {row['SVM']:.1f}, 5-NN {row['5-NN']:.1f}, {row['s']:.2f} s")
    return {"rows": rows}


def sparse(data: str) -> Row:
    """Return the accuracy of an SVM at q = 2, with all features and with few features per axis."""
    warnings.simplefilter("ignore")
    table = table_of(data)
    found: Row = {}
    for features in (None, FEATURES_PER_AXIS):
        scores = [
            _scored(SupervisedISM("auto", 2, features_per_axis=features), *fold)[0] for fold in folds_of(data, table)
        ]
        found["all" if features is None else "few"] = 100 * float(np.mean(scores))
    return {"data": data, "features": FEATURES_PER_AXIS, **found, "lost": found["all"] - found["few"]}


def clusters(data: str) -> Row:
    """Return the NMI of clusters and classes, with chosen settings and with those of the paper."""
    warnings.simplefilter("ignore")
    table = table_of(data)
    found: Row = {"data": data}
    for name, kernel in ((AUTO, "auto"), (PAPER, "gaussian")):
        began = time.perf_counter()
        model = UnsupervisedISM(kernel, table.classes, n_clusters=table.classes).fit(table.X)
        found |= {name: nmi(table.y, model.labels_), f"{name}, s": time.perf_counter() - began}
        if model.choice_ is not None:
            found["chosen"] = str(model.choice_.chosen.kernel)
    return found


def _scored(reduction: Any, X: Array, y: Ints, X_test: Array, y_test: Ints) -> tuple[float, float, float]:
    """Return the accuracies of both classifiers, and the seconds to fit the reduction."""
    began = time.perf_counter()
    reduction.fit(X, y)
    seconds = time.perf_counter() - began
    P, P_test = reduction.transform(X), reduction.transform(X_test)
    svm, neighbors = (each.fit(P, y).score(P_test, y_test) for each in (SVC(), KNeighborsClassifier(5)))
    return float(svm), float(neighbors), seconds


def _warm_up(method: str, table: Dataset) -> None:
    """Make the first call, which compiles and loads libraries."""
    load_compiled()
    labels = np.unique(table.y)[:3]
    few = np.concatenate([np.flatnonzero(table.y == label)[:12] for label in labels])
    other = few[1::2]
    _scored(METHODS[method](2, len(labels)), table.X[few[::2]], table.y[few[::2]], table.X[other], table.y[other])


def main() -> int:
    parser = ArgumentParser("python -m benchmarks.choose", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("data", nargs="*", default=[], help=f"one of {', '.join(REPEATS)}; all by default")
    parser.add_argument("--out", type=Path, default=Path(__file__).parent / "results", help="folder for the results")
    parser.add_argument("--resume", action="store_true", help="keep the figures that the folder already has")
    chosen = parser.parse_args()
    names = chosen.data or list(REPEATS)
    unknown = [name for name in names if name not in REPEATS]
    if unknown:
        parser.error(f"unknown data set {unknown[0]!r}; choose from {', '.join(REPEATS)}")
    chosen.out.mkdir(parents=True, exist_ok=True)
    figures = chosen.out / "choose.json"
    kept: Row = json.loads(figures.read_text()) if chosen.resume and figures.exists() else {}
    parts = [
        *((f"{name} {method}", "cells", {"method": method, "data": name}) for name in names for method in METHODS),
        *((f"{name} sparse", "sparse", {"data": name}) for name in names if name in SPARSE_DATA),
        *((f"{name} clusters", "clusters", {"data": name}) for name in names if name in CLUSTERED),
    ]
    for number, (key, part, arguments) in enumerate(parts, 1):
        if key not in kept:
            print(f"[{number}/{len(parts)}] {key}", file=sys.stderr, flush=True)
            kept[key] = run_part("choose", part, **arguments)
            figures.write_text(json.dumps(kept, indent=1))
    rows = [row for key, part, _ in parts if part == "cells" for row in kept[key]["rows"]]
    few = [kept[key] for key, part, _ in parts if part == "sparse"]
    clustered = [kept[key] for key, part, _ in parts if part == "clusters"]
    claims = claims_of(rows, few, clustered)
    text = as_markdown(rows, few, clustered, claims, list(METHODS))
    (chosen.out / "choose.md").write_text(text)
    print(text)
    return int(not all(each["met"] for each in claims))


if __name__ == "__main__":
    if "--part" in sys.argv:
        serve_parts(cells, sparse, clusters)
    else:
        sys.exit(main())
