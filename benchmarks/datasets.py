"""The data sets of the paper and of the benchmarks.

Wine, WDBC and digits come with scikit-learn. Cancer (Breast Cancer Wisconsin, original), Face (CMU), Flower and MNIST
are read from `cancer.npz`, `face.npz`, `flower.npz`, `mnist_test.npz`, `mnist_train.npz` in the folder ISM_DATA_DIR, or
`../shared/data` if it is not set. If Cancer or MNIST is missing, scikit-learn downloads it from OpenML and caches it.
"""

import os
import socket
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.datasets import fetch_openml, load_breast_cancer, load_digits, load_wine

from ism_core.arrays import Array, Ints
from ism_core.linalg import standardized

BUNDLED = {"wine": load_wine, "wdbc": load_breast_cancer, "digits": load_digits}
FILES = ("cancer", "face", "flower", "mnist_test", "mnist_train")
BLOCK_ROWS = 4_096  # rows converted at a time, to save memory
MNIST_TRAIN = 60_000  # the first of OpenML's 70,000 rows
TIMEOUT_SECONDS = 30  # of a download without an answer
NUMBERS, COMMON_INDICATORS, RARE_INDICATORS = 10, 4, 40  # columns of `rare_indicators`
HEAVY_TAILED = 3  # of the numbers
CLUSTERS, CLASSES = 12, 7

Fields = dict[str, np.ndarray]

MANUAL = {  # how to get the data sets that cannot be downloaded
    "face": "OpenML has no copy: make it from the CMU Face Images of the UCI Machine Learning Repository, 624"
    " images of 30×32 pixels (the files *_4.pgm), as X (624×960), y (the person) and pose (0 left, 1 right, 2 up,"
    " 3 straight).",
    "flower": "The picture is © Alain Nicolas and may not be redistributed: from a copy with 350×256 pixels,"
    " make X (the distinct colors) and pixel_to_row (the row of X of each pixel).",
}


class DataNotFound(FileNotFoundError):
    """A data set is missing; the message says where it is expected and how to get it."""


@dataclass(frozen=True)
class Dataset:
    X: Array  # raw
    y: Ints
    extra: dict[str, np.ndarray]

    @property
    def standardized(self) -> Array:
        """X with mean 0 and standard deviation 1, without constant columns."""
        varying = np.ptp(self.X, axis=0) > 0
        return standardized(self.X[:, varying])[0]

    @property
    def classes(self) -> int:
        return len(np.unique(self.y))


def load(name: str) -> Dataset:
    """Return a data set by name."""
    if name in BUNDLED:
        X, y = BUNDLED[name](return_X_y=True)
        return Dataset(np.asarray(X, dtype=float), y, {})
    if name not in FILES:
        raise DataNotFound(f"Unknown data set {name!r}. Choose from {', '.join([*BUNDLED, *FILES])}.")
    fields = _read(name)
    X = fields.pop("X").astype(float)
    return Dataset(X, fields.pop("y", np.zeros(len(X), dtype=int)), fields)


def mnist_rows(rows: int) -> tuple[Array, Ints]:
    """Return the first rows of MNIST's training set, standardized, without further copies in memory."""
    fields = _read("mnist_train")
    pixels, y = fields["X"][:rows], fields["y"][:rows].astype(int)
    varying = np.flatnonzero(np.ptp(pixels, axis=0))
    X = np.empty((len(pixels), len(varying)))
    for start in range(0, len(pixels), BLOCK_ROWS):
        X[start : start + BLOCK_ROWS] = pixels[start : start + BLOCK_ROWS, varying]
    X -= X.mean(axis=0)
    X /= np.sqrt(np.einsum("ij,ij->j", X, X) / len(X))
    return X, y


def synthetic(rows: int, columns: int, classes: int, informative: int = 10, seed: int = 0) -> tuple[Array, Ints]:
    """Return standardized rows; `informative` columns depend on the class. Classes 0 and 1 differ in variance only."""
    rng = np.random.default_rng(seed)
    y = np.arange(rows) % classes
    centers = 1.5 * rng.standard_normal((classes, informative))
    centers[1] = centers[0]
    X = rng.standard_normal((rows, columns))
    for start in range(0, rows, BLOCK_ROWS):
        block = slice(start, start + BLOCK_ROWS)
        X[block, :informative] *= np.where(y[block] == 1, 2.0, 1.0)[:, None]
        X[block, :informative] += centers[y[block]]
    X -= X.mean(axis=0)
    X /= np.sqrt(np.einsum("ij,ij->j", X, X) / rows)
    return X, y


def rare_indicators(rows: int, seed: int = 0) -> tuple[Array, Ints]:
    """Return standardized rows like those of covertype: 10 numbers, 44 indicators and 7 classes of unequal size.

    The numbers lie in clusters, and three of them have heavy tails. Each row has one of 4 and one of 40 indicators, on
    which its class depends. The frequencies of the 40 fall geometrically to 1 in 30,000: once they are standardized,
    the rarest of them put a few rows far out.
    """
    rng = np.random.default_rng(seed)
    frequencies = np.geomspace(0.2, 3e-5, RARE_INDICATORS)
    rare = rng.choice(RARE_INDICATORS, rows, p=frequencies / frequencies.sum())
    rare[:RARE_INDICATORS] = np.arange(RARE_INDICATORS)  # no column is constant
    y = rare * CLASSES // RARE_INDICATORS  # the rarer the indicator, the rarer the class
    y = np.where(rng.random(rows) < 0.2, rng.integers(0, 2, rows), y)
    clusters = np.where(rng.random(rows) < 0.5, y, rng.integers(0, CLUSTERS, rows))
    centers = rng.standard_normal((CLUSTERS, NUMBERS))
    X = np.zeros((rows, NUMBERS + COMMON_INDICATORS + RARE_INDICATORS))
    X[:, :NUMBERS] = rng.standard_normal((rows, NUMBERS))
    X[:, :HEAVY_TAILED] = rng.standard_t(2.5, (rows, HEAVY_TAILED))
    for start in range(0, rows, BLOCK_ROWS):
        block = slice(start, start + BLOCK_ROWS)
        X[block, :NUMBERS] += centers[clusters[block]]
    X[:, :HEAVY_TAILED] += 3.0 * (y == 1)[:, None]  # so that W has weights on the heavy tails
    common = np.where(rng.random(rows) < 0.8, clusters % COMMON_INDICATORS, rng.integers(0, COMMON_INDICATORS, rows))
    X[np.arange(rows), NUMBERS + common] = 1
    X[np.arange(rows), NUMBERS + COMMON_INDICATORS + rare] = 1
    X -= X.mean(axis=0)
    X /= np.sqrt(np.einsum("ij,ij->j", X, X) / rows)
    return X, y


def stored(name: str) -> Path:
    """Return the path from which a data set is read if it exists."""
    folder = Path(os.environ.get("ISM_DATA_DIR") or Path(__file__).resolve().parents[2] / "shared" / "data")
    return folder / f"{name}.npz"


def fetched(name: str, fetch: Callable[..., Any] | None = None) -> Fields:
    """Download a data set from OpenML; tests pass their own `fetch` in place of `fetch_openml`."""
    looked = f"{stored(name)} does not exist; put {name}.npz there, or set ISM_DATA_DIR to the folder that holds it."
    if name not in OPENML:
        raise DataNotFound(f"{looked} {MANUAL[name]}")
    openml, arranged = OPENML[name]
    try:
        with _timeout():
            bunch = (fetch or fetch_openml)(openml, version=1, as_frame=False, n_retries=1)
    except (OSError, ValueError) as error:  # no network, or an invalid answer
        raise DataNotFound(f'{looked} The download of "{openml}" from OpenML failed: {error}') from error
    return arranged(np.asarray(bunch.data), np.asarray(bunch.target))


def _cancer(X: np.ndarray, target: np.ndarray) -> Fields:
    """Leave out the 16 rows with missing values; label 0 is benign."""
    complete = ~np.isnan(X.astype(float)).any(axis=1)
    return {"X": X[complete].astype(int), "y": np.unique(target[complete], return_inverse=True)[1]}


def _mnist_train(X: np.ndarray, target: np.ndarray) -> Fields:
    return {"X": X[:MNIST_TRAIN].astype(np.uint8), "y": target[:MNIST_TRAIN].astype(int)}


def _mnist_test(X: np.ndarray, target: np.ndarray) -> Fields:
    return {"X": X[MNIST_TRAIN:].astype(np.uint8), "y": target[MNIST_TRAIN:].astype(int)}


OPENML: dict[
    str, tuple[str, Callable[[np.ndarray, np.ndarray], Fields]]
] = {  # the name on OpenML, and how to arrange the data
    "cancer": ("breast-w", _cancer),
    "mnist_train": ("mnist_784", _mnist_train),
    "mnist_test": ("mnist_784", _mnist_test),
}


@contextmanager
def _timeout() -> Iterator[None]:
    """Set a timeout for connections, which have none by default."""
    before = socket.getdefaulttimeout()
    socket.setdefaulttimeout(TIMEOUT_SECONDS)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # about the retry; DataNotFound has the final error
            yield
    finally:
        socket.setdefaulttimeout(before)


def _read(name: str) -> Fields:
    path = stored(name)
    if not path.exists():
        return fetched(name)
    with np.load(path, allow_pickle=False) as file:
        return dict(file)
