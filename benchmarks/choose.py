"""What the program chooses beside what a user would pick instead: accuracy and time, at q = 2 and q = classes.

    python -m benchmarks.choose [data …] [--out folder] [--resume]

ISM chooses everything by itself (`SupervisedISM("auto", q)`); beside it are ISM at the paper's settings, PCA, kernel
PCA, LDA, NCA and UMAP with labels, at their defaults. In each fold all of them, the choice included, learn from the
training rows alone, which are standardized first; an SVM and 5 nearest neighbors on their output, as it comes, are
judged by the test rows. All methods see the same folds, and small data sets have them drawn several times. The time is
that of learning the reduction, the choice included. Clusterings and axes of few features follow.
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

from benchmarks.choose_report import AUTO, NCA, PAPER, as_markdown, verdicts
from benchmarks.datasets import Dataset, load
from benchmarks.measuring import Row, load_compiled, run_part, say, serve_parts
from benchmarks.speed.reductions import umap_with_labels
from ism_core import SupervisedISM, UnsupervisedISM
from ism_core.arrays import Array, Ints
from ism_core.metrics import nmi

FOLDS = 5
REPEATS = {"wine": 4, "wdbc": 2, "cancer": 4, "iris": 4, "face": 1, "pose": 1, "digits": 1, "mnist": 1}
FIRST = {"mnist": 2}  # folds of the five that are measured: NCA takes minutes for each
SPARSE = 5  # features an axis may have
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
    """A data set of this benchmark; columns that never vary are left out."""
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
    """Standardized by the training rows."""
    splits = RepeatedStratifiedKFold(n_splits=FOLDS, n_repeats=REPEATS[name], random_state=0).split(table.X, table.y)
    for index, (training, test) in enumerate(splits):
        if index == FIRST.get(name):
            return
        scaling = StandardScaler().fit(table.X[training])
        X, X_test = scaling.transform(table.X[training]), scaling.transform(table.X[test])
        yield X, table.y[training], X_test, table.y[test]


def cells(method: str, data: str) -> Row:
    """One method on one data set, at q = 2 and q = classes."""
    warnings.simplefilter("ignore")  # collinear pixels, one job for a seeded UMAP
    table = table_of(data)
    rows: list[Row] = []
    _warm_up(method, table)
    for q in sorted({2, table.classes}):
        found = [_judged(METHODS[method](q, table.classes), *fold) for fold in folds_of(data, table)]
        svm, neighbors, seconds = (np.array(column) for column in zip(*found, strict=True))
        row = {"SVM": 100 * float(svm.mean()), "5-NN": 100 * float(neighbors.mean()), "s": float(np.median(seconds))}
        rows.append({"data": data, "q": q, "method": method, **row, "folds": len(found)})
        say(f"{method}, {data}, q = {q}: SVM {row['SVM']:.1f}, 5-NN {row['5-NN']:.1f}, {row['s']:.2f} s")
    return {"rows": rows}


def sparse(data: str) -> Row:
    """The accuracy of an SVM at q = 2, with all features and with a few in each axis."""
    warnings.simplefilter("ignore")
    table = table_of(data)
    found: Row = {}
    for features in (None, SPARSE):
        scores = [
            _judged(SupervisedISM("auto", 2, features_per_axis=features), *fold)[0] for fold in folds_of(data, table)
        ]
        found["all" if features is None else "few"] = 100 * float(np.mean(scores))
    return {"data": data, "features": SPARSE, **found, "lost": found["all"] - found["few"]}


def clusters(data: str) -> Row:
    """NMI with the classes: of the clustering that is chosen without them, and at the settings of the paper."""
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


def _judged(reduction: Any, X: Array, y: Ints, X_test: Array, y_test: Ints) -> tuple[float, float, float]:
    """The accuracies of both classifiers, and the seconds that the reduction took to learn."""
    began = time.perf_counter()
    reduction.fit(X, y)
    seconds = time.perf_counter() - began
    P, P_test = reduction.transform(X), reduction.transform(X_test)
    svm, neighbors = (each.fit(P, y).score(P_test, y_test) for each in (SVC(), KNeighborsClassifier(5)))
    return float(svm), float(neighbors), seconds


def _warm_up(method: str, table: Dataset) -> None:
    """First calls compile and load libraries."""
    load_compiled()
    labels = np.unique(table.y)[:3]
    few = np.concatenate([np.flatnonzero(table.y == label)[:12] for label in labels])
    other = few[1::2]
    _judged(METHODS[method](2, len(labels)), table.X[few[::2]], table.y[few[::2]], table.X[other], table.y[other])


def main() -> int:
    parser = ArgumentParser("python -m benchmarks.choose", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("data", nargs="*", default=[], help=f"of {', '.join(REPEATS)}; all by default")
    parser.add_argument("--out", type=Path, default=Path(__file__).parent / "results", help="where choose.* go")
    parser.add_argument("--resume", action="store_true", help="keep the figures that are in the folder already")
    chosen = parser.parse_args()
    names = chosen.data or list(REPEATS)
    unknown = [name for name in names if name not in REPEATS]
    if unknown:
        parser.error(f"there is no data set {unknown[0]!r}; they are {', '.join(REPEATS)}")
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
    claims = verdicts(rows, few, clustered)
    text = as_markdown(rows, few, clustered, claims, list(METHODS))
    (chosen.out / "choose.md").write_text(text)
    print(text)
    return int(not all(each["met"] for each in claims))


if __name__ == "__main__":
    if "--part" in sys.argv:
        serve_parts(cells, sparse, clusters)
    else:
        sys.exit(main())
