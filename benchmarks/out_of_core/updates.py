"""Add rows to a model in many updates, and compare W with that of a fit on all of them."""

import time
import warnings
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from benchmarks.measuring import Row, serve_parts
from benchmarks.out_of_core import files
from benchmarks.out_of_core.solves import Q
from ism_core import Polynomial, SupervisedISM
from ism_core.linalg import largest_angle

TIGHT = 1e-9  # convergence tolerance of the fit on all rows, as far as J resolves it
ROUNDS = 2_000  # of that fit, at most


def updated(folder: str, count: int, rows: int) -> Row:
    """Add the rows of the first files, as many at a time; then fit all of them."""
    model = SupervisedISM(Polynomial(), q=Q)
    used: list[float] = []
    for X, y in _pieces(folder, count, rows):
        began = time.process_time()
        model.partial_fit(X, y)
        used.append(time.process_time() - began)
    began = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        fitted = clone(model).set_params(kernel=model.result_.kernel, delta=TIGHT, max_iter=ROUNDS)
        fitted.fit(files.dataset(folder, count), "class")
    return {
        "updates": len(used),
        "rows": model.update_.rows,
        "angle to a fit on all rows": largest_angle(model.components_.T, fitted.components_.T),
        "relative difference of J": abs(model.result_.objective / fitted.result_.objective - 1),
        "largest difference of W": float(np.abs(model.components_ - fitted.components_).max()),
        "CPU s of an update": float(np.median(used[1:])),
        "CPU s of the fit": time.process_time() - began,
        "stop of the fit": fitted.result_.stop.name,
    }


def _pieces(folder: str, count: int, size: int) -> Any:
    """Yield rows with their classes, `size` at a time, over the boundaries of files."""
    X, y = np.empty((0, files.COLUMNS)), np.empty(0, np.int8)
    for batch in files.batches(folder, count):
        X = np.vstack([X, files.as_rows(batch)])
        y = np.append(y, batch.column("class").to_numpy())
        while len(X) >= size:
            yield X[:size], y[:size]
            X, y = X[size:], y[size:]
    if len(X):
        yield X, y


if __name__ == "__main__":
    serve_parts(updated)
