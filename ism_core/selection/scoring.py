"""How good a projection is for rows that nothing was learnt from: folds, and a score for every row of one."""

from contextlib import AbstractContextManager

import numpy as np
from scipy.spatial.distance import cdist
from sklearn import config_context
from sklearn.svm import SVC, SVR

from ism_core.arrays import Array, Ints

NEIGHBORS = 5


def splits(n: int, codes: Ints | None, folds: int, rng: np.random.Generator) -> list[tuple[Ints, Ints]]:
    """The rows to learn from and those to judge by, for each fold; every class is spread over all folds."""
    order = rng.permutation(n)
    if codes is not None:
        order = order[np.argsort(codes[order], kind="stable")]
    fold = np.empty(n, dtype=np.intp)
    fold[order] = np.arange(n) % folds
    return [(np.flatnonzero(fold != each), np.flatnonzero(fold == each)) for each in range(folds)]


def classified(P: Array, codes: Ints, P_test: Array, codes_test: Ints) -> Array:
    """For each test row, the share of two classifiers that tell its class: an SVM, and 5 nearest neighbors."""
    with _unchecked():
        told = SVC().fit(P, codes).predict(P_test)
    votes = np.eye(codes.max() + 1)[codes[_nearest(P, P_test)]].sum(axis=1)
    share: Array = np.mean([told == codes_test, votes.argmax(axis=1) == codes_test], axis=0)
    return share


def predicted(P: Array, Y: Array, P_test: Array, Y_test: Array) -> Array:
    """For each test row, its share of R²: 1 less the squared error of the same two methods over the target's variance.

    Y has a column for each target.
    """
    mean, spread = Y.mean(axis=0), Y.std(axis=0)
    spread = np.where(spread > 0, spread, 1.0)
    taught = (Y - mean) / spread
    with _unchecked():
        machines = np.column_stack([SVR().fit(P, column).predict(P_test) for column in taught.T])
    neighbors = taught[_nearest(P, P_test)].mean(axis=1)
    errors = [((each - (Y_test - mean) / spread) ** 2).mean(axis=1) for each in (machines, neighbors)]
    share: Array = 1 - np.mean(errors, axis=0)
    return share


def _nearest(P: Array, P_test: Array) -> Ints:
    """The nearest rows of P to each test row. For a few hundred rows this takes a tenth of scikit-learn's time."""
    k = min(NEIGHBORS, len(P))
    nearest: Ints = np.argpartition(cdist(P_test, P, "sqeuclidean"), k - 1, axis=1)[:, :k]
    return nearest


def _unchecked() -> AbstractContextManager[None]:
    """Without scikit-learn's checks of what is known to be fine: a third of the time for a few hundred rows."""
    unchecked: AbstractContextManager[None] = config_context(assume_finite=True, skip_parameter_validation=True)
    return unchecked
