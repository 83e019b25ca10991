"""How good a projection is for rows that nothing was learnt from: folds, and a score for every row of one."""

import numpy as np
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.svm import SVC, SVR

from ism_core.arrays import Array, Ints

NEIGHBOURS = 5


def splits(n: int, codes: Ints | None, folds: int, rng: np.random.Generator) -> list[tuple[Ints, Ints]]:
    """The rows to learn from and those to judge by, for each fold; every class is spread over all folds."""
    order = rng.permutation(n)
    if codes is not None:
        order = order[np.argsort(codes[order], kind="stable")]
    fold = np.empty(n, dtype=np.intp)
    fold[order] = np.arange(n) % folds
    return [(np.flatnonzero(fold != each), np.flatnonzero(fold == each)) for each in range(folds)]


def classified(P: Array, codes: Ints, P_test: Array, codes_test: Ints) -> Array:
    """For each test row, the share of two classifiers that tell its class: an SVM, and 5 nearest neighbours."""
    neighbours = KNeighborsClassifier(min(NEIGHBOURS, len(P))).fit(P, codes)
    right = [each.predict(P_test) == codes_test for each in (SVC().fit(P, codes), neighbours)]
    share: Array = np.mean(right, axis=0)
    return share


def predicted(P: Array, Y: Array, P_test: Array, Y_test: Array) -> Array:
    """For each test row, its share of R²: 1 less the squared error of the same two methods over the target's variance.

    Y has a column for each target.
    """
    mean, spread = Y.mean(axis=0), Y.std(axis=0)
    spread = np.where(spread > 0, spread, 1.0)
    taught = (Y - mean) / spread
    machines = np.column_stack([SVR().fit(P, column).predict(P_test) for column in taught.T])
    neighbours = KNeighborsRegressor(min(NEIGHBOURS, len(P))).fit(P, taught).predict(P_test)
    errors = [((each - (Y_test - mean) / spread) ** 2).mean(axis=1) for each in (machines, neighbours)]
    share: Array = 1 - np.mean(errors, axis=0)
    return share
