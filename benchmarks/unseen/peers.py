"""The other methods: linear reductions for classes and for values, and clusterings.

Every reduction learns from standardized rows and returns the d×q matrix that projects them. Settings are the defaults
of the packages, except that iterations are limited. LDA has at most classes − 1 axes.
"""

import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any
from unittest.mock import patch

import numpy as np
from scipy.linalg import eigh
from scipy.spatial.distance import cdist
from sklearn.cluster import AgglomerativeClustering, KMeans, SpectralClustering
from sklearn.covariance import ledoit_wolf
from sklearn.cross_decomposition import PLSRegression
from sklearn.decomposition import PCA
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.mixture import GaussianMixture
from sklearn.neighbors import NeighborhoodComponentsAnalysis

from ism_core.arrays import Array, Ints

NCA_ITERATIONS = 50  # scikit-learn's default
METRIC_ITERATIONS = 100  # of LMNN and MLKR
LOCAL_NEIGHBOR = 7  # rank of the neighbor whose distance is the scale of a row in LFDA (Sugiyama, 2007)
RIDGE = 1e-3  # of the mean variance, added to the local scatter of LFDA
SLICES = 10  # of the target in sliced inverse regression

Reduction = Callable[[Array, Array | Ints, int], Array]
Clusterer = Callable[[Array, int, int], Ints]


def lda(X: Array, y: Ints, q: int) -> Array:
    model = LinearDiscriminantAnalysis().fit(X, y)
    return np.asarray(model.scalings_[:, : min(q, y.max())])


def shrunken_lda(X: Array, y: Ints, q: int) -> Array:
    model = LinearDiscriminantAnalysis(solver="eigen", shrinkage="auto").fit(X, y)
    return np.asarray(model.scalings_[:, : min(q, y.max())])


def nca(X: Array, y: Ints, q: int, start: str = "pca") -> Array:
    model = NeighborhoodComponentsAnalysis(q, init=start, max_iter=NCA_ITERATIONS, random_state=0)
    return np.asarray(model.fit(X, y).components_.T)


def lmnn(X: Array, y: Ints, q: int) -> Array:
    from metric_learn import LMNN  # only this benchmark needs it

    fewest = int(np.bincount(y).min())
    model = LMNN(n_neighbors=max(1, min(3, fewest - 1)), n_components=q, init="pca", max_iter=METRIC_ITERATIONS)
    with _renamed_argument():
        return np.asarray(model.fit(X, y).components_.T)


def lfda(X: Array, y: Ints, q: int) -> Array:
    """Local Fisher discriminant analysis (Sugiyama, 2007), with axes weighted by the root of their eigenvalue."""
    basis = np.linalg.svd(X, full_matrices=False)[2].T
    basis = basis[:, : np.linalg.matrix_rank(X)]
    Z, n = X @ basis, len(X)
    within, between = np.zeros((n, n)), np.full((n, n), 1 / n)
    for label in np.unique(y):
        own = np.flatnonzero(y == label)
        distances = cdist(Z[own], Z[own])
        scale = np.sort(distances, axis=1)[:, min(LOCAL_NEIGHBOR, len(own) - 1)]
        affinity = np.exp(-(distances**2) / np.maximum(np.outer(scale, scale), 1e-12))
        within[np.ix_(own, own)] = affinity / len(own)
        between[np.ix_(own, own)] = affinity * (1 / n - 1 / len(own))
    scatters = [Z.T @ (np.diag(weights.sum(axis=1)) - weights) @ Z for weights in (between, within)]
    ridge = RIDGE * np.trace(scatters[1]) / len(scatters[1])
    values, vectors = eigh(scatters[0], scatters[1] + ridge * np.eye(len(scatters[1])))
    return np.asarray(basis @ vectors[:, ::-1][:, :q] * np.sqrt(np.maximum(values[::-1][:q], 0)))


def pls(X: Array, y: Array | Ints, q: int) -> Array:
    """Partial least squares; for classes on their indicators (PLS-DA)."""
    Y = np.eye(y.max() + 1)[y] if y.dtype.kind == "i" else y[:, None]
    return np.asarray(PLSRegression(min(q, *X.shape)).fit(X, Y).x_rotations_)


def pca(X: Array, y: Array | Ints, q: int) -> Array:
    return np.asarray(PCA(q, random_state=0).fit(X).components_.T)


def sir(X: Array, y: Array, q: int) -> Array:
    """Sliced inverse regression (Li, 1991), with the covariance shrunk as Ledoit and Wolf propose."""
    covariance = ledoit_wolf(X)[0]
    slices = np.array_split(np.argsort(y, kind="stable"), min(SLICES, len(y) // 2))
    means = np.array([X[rows].mean(axis=0) * np.sqrt(len(rows) / len(y)) for rows in slices])
    d = X.shape[1]
    return np.asarray(eigh(means.T @ means, covariance, subset_by_index=[d - q, d - 1])[1][:, ::-1])


def mlkr(X: Array, y: Array, q: int) -> Array:
    from metric_learn import MLKR

    model = MLKR(n_components=q, init="pca", max_iter=METRIC_ITERATIONS)
    with _renamed_argument():
        return np.asarray(model.fit(X, (y - y.mean()) / y.std()).components_.T)


@contextmanager
def _renamed_argument() -> Iterator[None]:
    """Let metric-learn 0.7 call the checks of scikit-learn, which has renamed an argument since."""
    from metric_learn import _util

    def renamed(check: Callable[..., Any]) -> Callable[..., Any]:
        return lambda *given, force_all_finite=True, **named: check(*given, ensure_all_finite=force_all_finite, **named)

    with (
        patch.object(_util, "check_X_y", renamed(_util.check_X_y)),
        patch.object(_util, "check_array", renamed(_util.check_array)),
    ):
        yield


def k_means(X: Array, k: int, seed: int) -> Ints:
    return np.asarray(KMeans(k, n_init=10, random_state=seed).fit_predict(X))


def mixture(X: Array, k: int, seed: int) -> Ints:
    return np.asarray(GaussianMixture(k, n_init=3, reg_covar=1e-3, random_state=seed).fit_predict(X))


def ward(X: Array, k: int, seed: int) -> Ints:
    return np.asarray(AgglomerativeClustering(k).fit_predict(X))


def spectral(X: Array, k: int, seed: int) -> Ints:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about graphs that are not connected
        return np.asarray(SpectralClustering(k, affinity="nearest_neighbors", random_state=seed).fit_predict(X))


CLASS_PEERS: dict[str, Reduction] = {
    "LDA": lda,
    "shrunken LDA": shrunken_lda,
    "NCA": nca,
    "PLS-DA": pls,
    "LFDA": lfda,
    "PCA": pca,
    "LMNN": lmnn,
}
LINEAR_PEERS = ("LDA", "shrunken LDA", "NCA", "PLS-DA", "LFDA", "PCA")  # that no table may be far behind
VALUE_PEERS: dict[str, Reduction] = {"MLKR": mlkr, "SIR": sir, "PLS": pls, "PCA": pca}
CLUSTERERS: dict[str, Clusterer] = {
    "k-means": k_means,
    "mixture": mixture,
    "Ward": ward,
    "spectral": spectral,
}
