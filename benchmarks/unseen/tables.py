"""The tables: NPZ files with X and y in the folders `tables` (classes) and `targets` (values) of ISM_DATA_DIR."""

from dataclasses import dataclass

import numpy as np
from sklearn.model_selection import train_test_split

from benchmarks.datasets import stored
from ism_core.arrays import Array, Ints
from ism_core.linalg import standardized

CLASSES, VALUES = "tables", "targets"  # the folders


@dataclass(frozen=True, eq=False)
class Table:
    """Rows with classes 0…k−1, or with a value each."""

    X: Array  # NaN where a value is missing
    y: Array | Ints
    has_classes: bool

    @property
    def classes(self) -> int:
        return len(np.unique(self.y)) if self.has_classes else 0


@dataclass(frozen=True, eq=False)
class Halves:
    """Two halves of the rows, without missing values and constant columns; the first half decides about both."""

    X: Array
    y: Array | Ints
    X_test: Array
    y_test: Array | Ints


def names(folder: str) -> list[str]:
    """Return the names of the tables of a folder."""
    return sorted(path.stem for path in stored("wine").parent.joinpath(folder).glob("*.npz"))


def load(folder: str, name: str, most_rows: int, seed: int) -> Table:
    """Return a table, or a sample of its rows if it has more; classes of fewer than 4 of these rows are left out."""
    with np.load(stored(f"{folder}/{name}"), allow_pickle=False) as file:
        X, y = file["X"].astype(float), file["y"]
    rows = np.arange(len(X))
    if len(X) > most_rows:
        rows = np.sort(np.random.default_rng(seed).choice(len(X), most_rows, replace=False))
    X, y = X[rows], y[rows]
    if folder == VALUES:
        return Table(X, y.astype(float), False)
    codes, counts = np.unique(y, return_inverse=True, return_counts=True)[1:]
    kept = counts[codes] >= 4
    return Table(X[kept], np.unique(codes[kept], return_inverse=True)[1], True)


def halves(table: Table, seed: int) -> Halves:
    """Split a table at random; classes have equal shares in both halves."""
    X, X_test, y, y_test = train_test_split(
        table.X, table.y, test_size=0.5, random_state=seed, stratify=table.y if table.has_classes else None
    )
    X, X_test = _filled(X, X_test)
    return Halves(X, y, X_test, y_test)


def complete(X: Array) -> Array:
    """Return standardized rows without missing values and constant columns."""
    return standardized(_filled(X, X)[0])[0]


def _filled(X: Array, other: Array) -> tuple[Array, Array]:
    known = np.isfinite(X).any(axis=0)
    X, other = X[:, known], other[:, known]
    medians = np.nanmedian(X, axis=0)
    X, other = (np.where(np.isnan(each), medians, each) for each in (X, other))
    varying = np.ptp(X, axis=0) > 0
    return X[:, varying], other[:, varying]
