"""The data sets of the paper and of the benchmarks.

Wine, WDBC and digits come with scikit-learn. Cancer (Breast Cancer Wisconsin, original), Face (CMU), Flower and MNIST
are read from `cancer.npz`, `face.npz`, `flower.npz`, `mnist_test.npz`, `mnist_train.npz` in the folder ISM_DATA_DIR;
without that, `../shared/data` is looked into. Cancer and MNIST that are not there are fetched from OpenML, once:
scikit-learn keeps them.
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
from ism_core.scaling import standardized

BUNDLED = {"wine": load_wine, "wdbc": load_breast_cancer, "digits": load_digits}
FILES = ("cancer", "face", "flower", "mnist_test", "mnist_train")
BLOCK = 4_096  # rows that are brought in at a time
MNIST_TRAIN = 60_000  # of OpenML's 70,000 rows, the first ones
PATIENCE = 30  # seconds without an answer after which there is no network

Fields = dict[str, np.ndarray]

ELSEWHERE = {  # what has no public route that a program could take
    "face": "It has no copy on OpenML: make it from the CMU Face Images of the UCI Machine Learning Repository, 624"
    " images of 30×32 pixels (the files *_4.pgm), as X (624×960), y (the person) and pose (0 left, 1 right, 2 up,"
    " 3 straight).",
    "flower": "The picture is © Alain Nicolas and may not be redistributed: who holds a copy of its 350×256 pixels can"
    " make X (the distinct colors) and pixel_to_row (the row of X of each pixel).",
}


class DataNotFound(FileNotFoundError):
    """A data set that cannot be had; the sentence says where it was looked for and what to do."""


@dataclass(frozen=True)
class Dataset:
    X: Array  # raw
    y: Ints
    extra: dict[str, np.ndarray]

    @property
    def standardized(self) -> Array:
        """X at mean 0 and deviation 1, without the columns that never vary."""
        varying = np.ptp(self.X, axis=0) > 0
        return standardized(self.X[:, varying])[0]

    @property
    def classes(self) -> int:
        return len(np.unique(self.y))


def load(name: str) -> Dataset:
    """A data set by name."""
    if name in BUNDLED:
        X, y = BUNDLED[name](return_X_y=True)
        return Dataset(np.asarray(X, dtype=float), y, {})
    if name not in FILES:
        raise DataNotFound(f"There is no data set {name!r}; the names are {', '.join([*BUNDLED, *FILES])}.")
    fields = _read(name)
    X = fields.pop("X").astype(float)
    return Dataset(X, fields.pop("y", np.zeros(len(X), dtype=int)), fields)


def mnist_rows(rows: int) -> tuple[Array, Ints]:
    """The first rows of MNIST's training set, standardized, in no more memory than they and the file's bytes take."""
    fields = _read("mnist_train")
    pixels, y = fields["X"][:rows], fields["y"][:rows].astype(int)
    varying = np.flatnonzero(np.ptp(pixels, axis=0))
    X = np.empty((len(pixels), len(varying)))
    for start in range(0, len(pixels), BLOCK):
        X[start : start + BLOCK] = pixels[start : start + BLOCK, varying]
    X -= X.mean(axis=0)
    X /= np.sqrt(np.einsum("ij,ij->j", X, X) / len(X))
    return X, y


def synthetic(rows: int, columns: int, classes: int, informative: int = 10, seed: int = 0) -> tuple[Array, Ints]:
    """Standardized rows of which `informative` columns tell of the class; classes 0 and 1 differ only in spread."""
    rng = np.random.default_rng(seed)
    y = np.arange(rows) % classes
    centers = 1.5 * rng.standard_normal((classes, informative))
    centers[1] = centers[0]
    X = rng.standard_normal((rows, columns))
    for start in range(0, rows, BLOCK):
        block = slice(start, start + BLOCK)
        X[block, :informative] *= np.where(y[block] == 1, 2.0, 1.0)[:, None]
        X[block, :informative] += centers[y[block]]
    X -= X.mean(axis=0)
    X /= np.sqrt(np.einsum("ij,ij->j", X, X) / rows)
    return X, y


def stored(name: str) -> Path:
    """The file that a data set is read from if it exists."""
    folder = Path(os.environ.get("ISM_DATA_DIR") or Path(__file__).resolve().parents[2] / "shared" / "data")
    return folder / f"{name}.npz"


def fetched(name: str, fetch: Callable[..., Any] | None = None) -> Fields:
    """A data set by its public route. `fetch` stands in for scikit-learn's `fetch_openml`."""
    looked = f"{stored(name)} does not exist; put {name}.npz there, or set ISM_DATA_DIR to the folder that holds it."
    if name not in ROUTES:
        raise DataNotFound(f"{looked} {ELSEWHERE[name]}")
    openml, arranged = ROUTES[name]
    try:
        with _patience():
            bunch = (fetch or fetch_openml)(openml, version=1, as_frame=False, n_retries=1)
    except (OSError, ValueError) as error:  # no network, or an answer that makes no sense
        raise DataNotFound(
            f'{looked} OpenML, where "{openml}" was asked for, gave no answer to use: {error}'
        ) from error
    return arranged(np.asarray(bunch.data), np.asarray(bunch.target))


def _cancer(X: np.ndarray, target: np.ndarray) -> Fields:
    """Without the 16 rows that lack a value; 0 is benign."""
    complete = ~np.isnan(X.astype(float)).any(axis=1)
    return {"X": X[complete].astype(int), "y": np.unique(target[complete], return_inverse=True)[1]}


def _mnist_train(X: np.ndarray, target: np.ndarray) -> Fields:
    return {"X": X[:MNIST_TRAIN].astype(np.uint8), "y": target[:MNIST_TRAIN].astype(int)}


def _mnist_test(X: np.ndarray, target: np.ndarray) -> Fields:
    return {"X": X[MNIST_TRAIN:].astype(np.uint8), "y": target[MNIST_TRAIN:].astype(int)}


ROUTES: dict[str, tuple[str, Callable[[np.ndarray, np.ndarray], Fields]]] = {  # the name on OpenML, and what we take
    "cancer": ("breast-w", _cancer),
    "mnist_train": ("mnist_784", _mnist_train),
    "mnist_test": ("mnist_784", _mnist_test),
}


@contextmanager
def _patience() -> Iterator[None]:
    """Within this a connection that says nothing is given up; by itself it might never be."""
    before = socket.getdefaulttimeout()
    socket.setdefaulttimeout(PATIENCE)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # that it tries again; DataNotFound tells how it ended
            yield
    finally:
        socket.setdefaulttimeout(before)


def _read(name: str) -> Fields:
    path = stored(name)
    if not path.exists():
        return fetched(name)
    with np.load(path, allow_pickle=False) as file:
        return dict(file)
