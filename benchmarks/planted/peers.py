"""The rankings of other methods: LDA or ridge, PLS (VIP), NCA, a random forest, and HSIC Lasso.

Every method gets standardized columns and its usual settings. For clusterings, the target is the clustering of k-means.
"""

import contextlib
import io
from collections.abc import Callable
from dataclasses import dataclass
from unittest.mock import patch

import numpy as np
from sklearn.cluster import KMeans
from sklearn.cross_decomposition import PLSRegression
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.inspection import permutation_importance
from sklearn.linear_model import RidgeCV
from sklearn.model_selection import KFold, cross_val_score, train_test_split
from sklearn.neighbors import NeighborhoodComponentsAnalysis
from sklearn.preprocessing import StandardScaler

from benchmarks.planted.problems import Encoded, PlantedProblem
from ism_core.arrays import Array, Ints

MAX_PLS_COMPONENTS = 4  # cross-validation chooses among 1 to this number
NCA_ROWS = 1000  # rows of the subsample that NCA gets, because its time is quadratic in the rows
NCA_ITERATIONS = 50  # scikit-learn's default
VALUE_BINS = 4  # groups of similar targets that stand for classes if a method needs classes
TREES = 100  # scikit-learn's default
PERMUTATIONS = 5  # scikit-learn's default
MAX_HSIC_FEATURES = 20  # features that HSIC Lasso may select; the others get 0
HSIC_BLOCK = 20  # rows of a block in HSIC Lasso, its default
HSIC_PERMUTATIONS = 3  # of the rows before they are cut into blocks, its default


@dataclass(frozen=True, eq=False)
class Ranking:
    """The importance of each column of the matrix, and the axes (n×q) if the method has some."""

    importance: Array
    axes: Array | None = None


def ranking(method: str, problem: PlantedProblem) -> tuple[Encoded, Ranking]:
    """Return the problem as numbers and the ranking of its columns by one of the PEERS."""
    encoded = problem.encoded()
    X = StandardScaler().fit_transform(encoded.X)
    target = encoded.target
    if target is None:
        target = KMeans(problem.clusters, n_init=10, random_state=0).fit_predict(X)
    return encoded, PEERS[method](X, target)


def linear(X: Array, target: Array | Ints) -> Ranking:
    """Rank by squared coefficients of LDA with shrinkage; of ridge regression if the targets are values."""
    if _are_classes(target):
        model = LinearDiscriminantAnalysis(solver="lsqr", shrinkage="auto").fit(X, target)
    else:
        model = RidgeCV(np.logspace(-3, 3, 13)).fit(X, target)
    coefficients = np.atleast_2d(model.coef_)
    return Ranking((coefficients**2).sum(axis=0), X @ coefficients.T)


def pls(X: Array, target: Array | Ints) -> Ranking:
    """Rank by the squared VIP of partial least squares; cross-validation chooses the number of components."""
    Y = np.eye(target.max() + 1)[target] if _are_classes(target) else target.reshape(len(X), -1)
    Y = StandardScaler().fit_transform(Y)
    models = [PLSRegression(count, scale=False) for count in range(1, 1 + min(MAX_PLS_COMPONENTS, X.shape[1]))]
    scores = [cross_val_score(model, X, Y, cv=KFold(5, shuffle=True, random_state=0)).mean() for model in models]
    model = models[int(np.argmax(scores))].fit(X, Y)
    explained = (model.x_scores_**2).sum(axis=0) * (model.y_loadings_**2).sum(axis=0)
    shares = model.x_weights_**2 / (model.x_weights_**2).sum(axis=0)
    return Ranking(X.shape[1] * shares @ explained / explained.sum(), model.x_scores_)


def nca(X: Array, target: Array | Ints) -> Ranking:
    """Rank by the squared norm of each column in neighborhood components analysis."""
    codes = target if _are_classes(target) else _binned(target)
    rows = np.random.default_rng(0).permutation(len(X))[:NCA_ROWS]
    axes = min(X.shape[1], max(2, int(codes.max())))
    model = NeighborhoodComponentsAnalysis(axes, max_iter=NCA_ITERATIONS, random_state=0).fit(X[rows], codes[rows])
    return Ranking((model.components_**2).sum(axis=0), model.transform(X))


def forest(X: Array, target: Array | Ints) -> Ranking:
    """Rank by the drop of a random forest's score on held-out rows when a column is permuted."""
    classes = _are_classes(target)
    X, X_test, y, y_test = train_test_split(
        X, target, test_size=0.3, random_state=0, stratify=target if classes else None
    )
    model = (RandomForestClassifier if classes else RandomForestRegressor)(TREES, random_state=0).fit(X, y)
    drops = permutation_importance(model, X_test, y_test, n_repeats=PERMUTATIONS, random_state=0)
    return Ranking(drops.importances_mean)


def hsic_lasso(X: Array, target: Array | Ints) -> Ranking:
    """Rank by the coefficients of HSIC Lasso. Several targets are replaced by groups of similar targets."""
    from pyHSICLasso import HSICLasso

    classes = _are_classes(target) or target.ndim > 1
    codes = target if target.ndim == 1 else _binned(target)
    rows = len(X) - len(X) % HSIC_BLOCK  # blocks must be full
    model, count, scores = HSICLasso(), min(MAX_HSIC_FEATURES, X.shape[1] - 1), np.empty(0)
    state = np.random.get_state()  # the package draws from numpy's global generator
    renamed = patch.object(np.linalg, "linalg", np.linalg, create=True)  # the package uses the name of NumPy 1
    quiet = contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO())
    try:
        with renamed, quiet[0], quiet[1]:
            model.input(X[:rows], codes[:rows])
            select = model.classification if classes else model.regression
            while not len(scores):
                np.random.seed(0)
                with contextlib.suppress(ValueError):
                    select(count, B=HSIC_BLOCK, M=HSIC_PERMUTATIONS, n_jobs=1)
                    scores = np.abs(model.get_index_score())
                if not np.isfinite(scores).all():
                    scores = np.empty(0)
                count -= 1  # next time, if it cannot find that many features or divides by zero
    finally:
        np.random.set_state(state)
    importance = np.zeros(X.shape[1])
    importance[model.get_index()] = scores
    return Ranking(importance)


PEERS: dict[str, Callable[[Array, Array | Ints], Ranking]] = {
    "LDA": linear,
    "PLS": pls,
    "NCA": nca,
    "forest": forest,
    "HSIC Lasso": hsic_lasso,
}
LINEAR_PEERS = ("LDA", "PLS")


def _are_classes(target: Array | Ints) -> bool:
    return target.dtype.kind in "iu"


def _binned(target: Array) -> Ints:
    """Return groups of similar targets."""
    values = StandardScaler().fit_transform(target.reshape(len(target), -1))
    codes: Ints = KMeans(VALUE_BINS, n_init=10, random_state=0).fit_predict(values).astype(np.intp)
    return codes
