"""Scores of a projection on held-out rows: stratified folds, and a score for each test row."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.spatial.distance import cdist
from sklearn.svm import _libsvm as libsvm

from ism_core.arrays import Array, Ints
from ism_core.paradigms import Supervised

TINY = 1e-300  # in place of a variance of 0
NEIGHBORS = 5  # of the nearest-neighbor classifier and regressor
C_SVC, EPSILON_SVR = 0, 3  # libsvm's numbers of the two support vector machines


def splits(n: int, codes: Ints | None, folds: int, rng: np.random.Generator) -> list[tuple[Ints, Ints]]:
    """Return training and test rows for each fold; every class is spread over all folds."""
    order = rng.permutation(n)
    if codes is not None:
        order = order[np.argsort(codes[order], kind="stable")]
    fold = np.empty(n, dtype=np.intp)
    fold[order] = np.arange(n) % folds
    return [(np.flatnonzero(fold != each), np.flatnonzero(fold == each)) for each in range(folds)]


def classification_scores(P: Array, codes: Ints, P_test: Array, codes_test: Ints) -> tuple[Array, Array]:
    """Return scores and predictions for the test rows.

    The score of a row is the share of correct predictions by two classifiers: an SVM and 5 nearest neighbors. The
    predictions are those of the SVM.
    """
    predicted = _support_vector_predictions(P, codes, P_test, C_SVC)
    votes = np.eye(codes.max() + 1)[codes[_nearest(P, P_test)]].sum(axis=1)
    share: Array = np.mean([predicted == codes_test, votes.argmax(axis=1) == codes_test], axis=0)
    return share, predicted


def regression_scores(P: Array, Y: Array, P_test: Array, Y_test: Array) -> tuple[Array, Array]:
    """Return scores and predictions for the test rows; Y has one column for each target.

    The score of a row is its share of R²: 1 − squared error / variance, averaged over SVR and 5 nearest neighbors. The
    predictions are those of the SVR.
    """
    mean, spread = Y.mean(axis=0), Y.std(axis=0)
    spread = np.where(spread > 0, spread, 1.0)
    standardized = (Y - mean) / spread
    machines = np.column_stack(
        [_support_vector_predictions(P, column, P_test, EPSILON_SVR) for column in standardized.T]
    )
    neighbors = standardized[_nearest(P, P_test)].mean(axis=1)
    errors = [((each - (Y_test - mean) / spread) ** 2).mean(axis=1) for each in (machines, neighbors)]
    share: Array = 1 - np.mean(errors, axis=0)
    return share, machines * spread + mean


class NeighborScoreMixin:
    """The score of a supervised estimator: how well its axes predict the target of rows from those of the fit."""

    _learned: tuple[Array, Any]  # the rows of the fit in the axes, and their targets
    _paradigm: Callable[[Any, int], Supervised]
    transform: Callable[[Any], Array]

    def score(self, X: ArrayLike, y: ArrayLike) -> float:
        """Return the accuracy, or R² if y holds values, of predicting each row from the 5 nearest rows of the fit."""
        from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor  # few programs score

        projected, (P, learned) = self.transform(X), self._learned
        are_classes = self._paradigm(learned, len(P)).codes is not None
        predictor = KNeighborsClassifier if are_classes else KNeighborsRegressor
        return float(predictor(min(NEIGHBORS, len(P))).fit(P, learned).score(projected, y))


def losses(P: Array, learned: Any, P_test: Array, y_test: Any, are_classes: bool) -> Array:
    """Return for each test row whether its class is predicted wrong from the nearest rows, or its squared error.

    Squared errors are relative to the variance of the learned values.
    """
    from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor

    predictor = (KNeighborsClassifier if are_classes else KNeighborsRegressor)(min(NEIGHBORS, len(P))).fit(P, learned)
    predicted = predictor.predict(P_test)
    if are_classes:
        return np.asarray(predicted != y_test.reshape(len(y_test))).astype(np.float64)
    errors = np.reshape((predicted - y_test) ** 2, (len(y_test), -1)) / (np.var(learned, axis=0) + TINY)
    return np.asarray(errors.mean(axis=1))


def _support_vector_predictions(P: Array, y: Array | Ints, P_test: Array, kind: int) -> Array:
    """Return what scikit-learn's `SVC()` or `SVR()` predicts.

    This calls libsvm without the argument checks around it, which take most of the time for a few hundred rows.
    """
    P, P_test = (np.ascontiguousarray(each, dtype=np.float64) for each in (P, P_test))
    gamma = 1 / (P.shape[1] * (float(P.var()) or 1.0))  # "scale", the default of scikit-learn
    libsvm.set_verbosity_wrap(0)
    fitted = libsvm.fit(P, np.ascontiguousarray(y, dtype=np.float64), svm_type=kind, gamma=gamma, cache_size=200)
    predicted: Array = libsvm.predict(P_test, *fitted[:7], svm_type=kind, gamma=gamma, cache_size=200)
    return predicted


def _nearest(P: Array, P_test: Array) -> Ints:
    """Return the nearest rows of P to each test row, in a tenth of scikit-learn's time for a few hundred rows."""
    k = min(NEIGHBORS, len(P))
    nearest: Ints = np.argpartition(cdist(P_test, P, "sqeuclidean"), k - 1, axis=1)[:, :k]
    return nearest
