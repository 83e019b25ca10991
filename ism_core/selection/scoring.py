"""Scores of a projection on held-out rows: stratified folds, and a score for each test row."""

from contextlib import AbstractContextManager

import numpy as np
from scipy.spatial.distance import cdist
from sklearn import config_context
from sklearn.svm import SVC, SVR

from ism_core.arrays import Array, Ints

NEIGHBORS = 5  # of the nearest-neighbor classifier and regressor


def splits(n: int, codes: Ints | None, folds: int, rng: np.random.Generator) -> list[tuple[Ints, Ints]]:
    """Return training and test rows for each fold; every class is spread over all folds."""
    order = rng.permutation(n)
    if codes is not None:
        order = order[np.argsort(codes[order], kind="stable")]
    fold = np.empty(n, dtype=np.intp)
    fold[order] = np.arange(n) % folds
    return [(np.flatnonzero(fold != each), np.flatnonzero(fold == each)) for each in range(folds)]


def classification_scores(P: Array, codes: Ints, P_test: Array, codes_test: Ints) -> Array:
    """Return for each test row the share of correct predictions by two classifiers: an SVM and 5 nearest neighbors."""
    with _unchecked():
        predicted = SVC().fit(P, codes).predict(P_test)
    votes = np.eye(codes.max() + 1)[codes[_nearest(P, P_test)]].sum(axis=1)
    share: Array = np.mean([predicted == codes_test, votes.argmax(axis=1) == codes_test], axis=0)
    return share


def regression_scores(P: Array, Y: Array, P_test: Array, Y_test: Array) -> Array:
    """Return for each test row its share of R²: 1 − squared error / variance, averaged over SVR and 5 neighbors.

    Y has one column for each target.
    """
    mean, spread = Y.mean(axis=0), Y.std(axis=0)
    spread = np.where(spread > 0, spread, 1.0)
    standardized = (Y - mean) / spread
    with _unchecked():
        machines = np.column_stack([SVR().fit(P, column).predict(P_test) for column in standardized.T])
    neighbors = standardized[_nearest(P, P_test)].mean(axis=1)
    errors = [((each - (Y_test - mean) / spread) ** 2).mean(axis=1) for each in (machines, neighbors)]
    share: Array = 1 - np.mean(errors, axis=0)
    return share


def _nearest(P: Array, P_test: Array) -> Ints:
    """Return the nearest rows of P to each test row, in a tenth of scikit-learn's time for a few hundred rows."""
    k = min(NEIGHBORS, len(P))
    nearest: Ints = np.argpartition(cdist(P_test, P, "sqeuclidean"), k - 1, axis=1)[:, :k]
    return nearest


def _unchecked() -> AbstractContextManager[None]:
    """Skip scikit-learn's argument checks, which take two thirds of the time for a few hundred rows."""
    unchecked: AbstractContextManager[None] = config_context(assume_finite=True, skip_parameter_validation=True)
    return unchecked
