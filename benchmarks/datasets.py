"""The data sets of the paper and of the benchmarks.

Wine, WDBC and digits come with scikit-learn. Cancer (Breast Cancer Wisconsin, original), Face (CMU) and MNIST are
read from `cancer.npz`, `face.npz`, `mnist_test.npz`, `mnist_train.npz` in the folder ISM_DATA_DIR; without that,
`../shared/data` is looked into.
"""

import os
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from sklearn.datasets import load_breast_cancer, load_digits, load_wine

from ism_core.arrays import Array, Ints
from ism_core.scaling import standardised

BUNDLED = {"wine": load_wine, "wdbc": load_breast_cancer, "digits": load_digits}
FILES = ("cancer", "face", "flower", "mnist_test", "mnist_train")
BLOCK = 4_096  # rows that are brought in at a time


class DataNotFound(FileNotFoundError):
    """A data set that is not on this machine; the sentence says where it was looked for."""


@dataclass(frozen=True)
class Dataset:
    X: Array  # raw
    y: Ints
    extra: dict[str, np.ndarray]

    @property
    def standardised(self) -> Array:
        """X at mean 0 and deviation 1, without the columns that never vary."""
        varying = np.ptp(self.X, axis=0) > 0
        return standardised(self.X[:, varying])[0]

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
    """The first rows of MNIST's training set, standardised, in no more memory than they and the file's bytes take."""
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
    """Standardised rows of which `informative` columns tell of the class; classes 0 and 1 differ only in spread."""
    rng = np.random.default_rng(seed)
    y = np.arange(rows) % classes
    centres = 1.5 * rng.standard_normal((classes, informative))
    centres[1] = centres[0]
    X = rng.standard_normal((rows, columns))
    for start in range(0, rows, BLOCK):
        block = slice(start, start + BLOCK)
        X[block, :informative] *= np.where(y[block] == 1, 2.0, 1.0)[:, None]
        X[block, :informative] += centres[y[block]]
    X -= X.mean(axis=0)
    X /= np.sqrt(np.einsum("ij,ij->j", X, X) / rows)
    return X, y


def _read(name: str) -> dict[str, np.ndarray]:
    folder = Path(os.environ.get("ISM_DATA_DIR") or Path(__file__).resolve().parents[2] / "shared" / "data")
    path = folder / f"{name}.npz"
    if not path.exists():
        raise DataNotFound(
            f"{path} does not exist; put {name}.npz there, or set ISM_DATA_DIR to the folder that holds it."
        )
    with np.load(path, allow_pickle=False) as file:
        return dict(file)
