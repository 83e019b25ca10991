"""The Y step: spectral clustering by a matrix or by products, against its definition."""

from operator import or_

import numpy as np
import pytest

from ism_core import Gaussian, Linear, Multiquadratic, Polynomial, RelativeGaussian, Squared, Unsupervised, solve
from ism_core.arrays import Array
from ism_core.kernels import Kernel
from ism_core.linalg.subspaces import largest_angle
from ism_core.metrics import nmi
from ism_core.paradigms import spectral as clustering
from ism_core.paradigms.spectral import Clustering, spectral
from tests.ism_core import reference
from tests.ism_core.conftest import Planted, TwoClusterings
from tests.ism_core.family import EVERY


def top_eigenvectors(P: Array, kernel: Kernel, k: int) -> tuple[Array, Array, Array]:
    """Y, its eigenvalues and D^(−½) (times the cosine scale), step by step as they are defined."""
    K = reference.kernel_matrix(P, kernel)
    scale = np.ones(len(P))
    affinities = [isinstance(term, Gaussian | RelativeGaussian) for _, term in kernel.terms]
    products = [term.form == "product" for _, term in kernel.terms]
    if any(products) and all(map(or_, products, affinities)):
        scale = np.diag(K) ** -0.5
        K = K * np.outer(scale, scale)
    if not all(affinities):
        K = K - K.min()
    K = K - np.diag(np.diag(K))
    root = K.sum(axis=1) ** -0.5
    H = np.eye(len(P)) - 1 / len(P)
    values, vectors = np.linalg.eigh(H @ np.diag(root) @ K @ np.diag(root) @ H)
    return vectors[:, ::-1][:, :k], values[::-1][:k], root * scale


@pytest.fixture(scope="module", params=EVERY)
def kernel(request: pytest.FixtureRequest, rows: Array) -> Kernel:
    return EVERY[request.param].fitted_to(rows, np.random.default_rng(0))


def test_y_holds_the_top_eigenvectors_of_the_normalized_affinity(kernel: Kernel, rows: Array) -> None:
    found = spectral(rows, kernel, 3, 0)
    Y, values, root = top_eigenvectors(rows, kernel, 3)
    np.testing.assert_allclose(found.eigenvalues, values, atol=1e-9)
    np.testing.assert_allclose(found.root, root, rtol=1e-8)
    np.testing.assert_allclose(found.Y.T @ found.Y, np.eye(3), atol=1e-10)
    told = values > 1e-9  # the constant vector has the eigenvalue 0, and stands among those that say nothing
    np.testing.assert_allclose(found.Y[:, told].sum(axis=0), 0, atol=1e-8)
    assert largest_angle(Y[:, told], found.Y[:, told]) < 1e-6


def narrowed(planted: Planted) -> Array:
    """Rows in the plane of the clusters and a little of the rest, off the origin."""
    inside = planted.X @ planted.axes
    outside = planted.X - inside @ planted.axes.T
    P: Array = np.hstack([inside, 0.2 * outside[:, :1]])
    return P + np.array([0.3, -0.2, 0.1])


@pytest.fixture(scope="module")
def many() -> Array:
    """1,500 rows in five loose clusters, off the origin."""
    rng = np.random.default_rng(3)
    centers = 2.5 * rng.standard_normal((5, 3))
    P: Array = centers[rng.integers(5, size=1_500)] + rng.standard_normal((1_500, 3)) + np.array([0.3, -0.2, 0.1])
    return P


def told_apart(values: Array) -> int:
    """How many of the eigenvectors stand clear of the rest; of the others only the space of all has a meaning."""
    gaps = values[:-1] - values[1:]
    return int(np.argmax(gaps > 0.05 * values[0] * (np.arange(len(gaps)) > 0))) + 1


@pytest.mark.parametrize("name", ["squared", "polynomial 3", "gaussian", "multiquadratic", "mixed"])
def test_many_rows_give_the_same_clustering_by_products_alone(
    name: str, many: Array, monkeypatch: pytest.MonkeyPatch
) -> None:
    kernel = EVERY[name].fitted_to(many, np.random.default_rng(0))
    exact = spectral(many, kernel, 6, 0)
    k = told_apart(exact.eigenvalues)
    by_matrix = spectral(many, kernel, k, 0, tolerance=1e-4)
    assert largest_angle(exact.Y[:, :k], by_matrix.Y) < 1e-4
    monkeypatch.setattr(clustering, "DENSE_ROWS", 50)
    for tolerance in (1e-2, 1e-4):
        products = spectral(many, kernel, k, 0, tolerance=tolerance)
        assert largest_angle(exact.Y[:, :k], products.Y) < tolerance
        np.testing.assert_allclose(products.Y.T @ products.Y, np.eye(k), atol=1e-10)
        np.testing.assert_allclose(products.eigenvalues, exact.eigenvalues[:k], rtol=tolerance)
        np.testing.assert_allclose(products.root, exact.root, rtol=tolerance)


@pytest.mark.parametrize("name", EVERY)
def test_clusters_of_many_rows_are_those_of_few(name: str, planted: Planted, monkeypatch: pytest.MonkeyPatch) -> None:
    P = narrowed(planted)
    kernel = EVERY[name].fitted_to(P, np.random.default_rng(0))
    whole = spectral(P, kernel, 3, 0)
    monkeypatch.setattr(clustering, "DENSE_ROWS", 50)
    products = spectral(P, kernel, 3, 0)
    np.testing.assert_allclose(products.eigenvalues[:2], whole.eigenvalues[:2], rtol=1e-3)
    assert largest_angle(products.Y, whole.Y[:, :2]) < 1e-2
    assert nmi(whole.labels(0), products.labels(0)) > 0.95


@pytest.mark.parametrize("kernel", [Gaussian(2.0), Polynomial(gamma=0.2), Multiquadratic()], ids=repr)
def test_a_clustering_of_a_sample_is_a_better_start_than_none(
    kernel: Kernel, many: Array, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = np.sort(np.random.default_rng(1).choice(len(many), 300, replace=False))
    exact = spectral(many, kernel, 4, 0)
    start = spectral(many[rows], kernel, 4, 0).spread(rows, len(many))
    np.testing.assert_allclose(start.Y.T @ start.Y, np.eye(4), atol=1e-9)
    monkeypatch.setattr(clustering, "DENSE_ROWS", 50)
    monkeypatch.setattr(clustering, "PRODUCTS", 2)
    from_nothing, from_sample, warm = (
        largest_angle(exact.Y, spectral(many, kernel, 4, 0, last, tolerance=1e-12).Y) for last in (None, start, exact)
    )
    assert from_sample < from_nothing / 2
    assert warm < from_sample / 10


@pytest.mark.parametrize("kernel_name", ["gaussian", "polynomial", "squared", "multiquadratic"])
def test_a_whole_solve_on_many_rows_ends_as_on_few(
    kernel_name: str, two_clusterings: TwoClusterings, monkeypatch: pytest.MonkeyPatch
) -> None:
    few = solve(two_clusterings.X, Unsupervised(2), kernel_name, 1)
    monkeypatch.setattr(clustering, "DENSE_ROWS", 50)
    many = solve(two_clusterings.X, Unsupervised(2), kernel_name, 1)
    assert many.converged
    assert nmi(few.labels, many.labels) == pytest.approx(1)
    assert largest_angle(few.W, many.W) < 0.05


def test_lanczos_and_a_full_decomposition_agree(rng: np.random.Generator) -> None:
    """Beyond 200 rows only the k eigenvectors are sought."""
    P = np.vstack([rng.standard_normal((130, 2)) + center for center in ([0, 0], [5, 0])])
    kernel = Gaussian(1.0)
    K = np.exp(-((P[:, None] - P[None]) ** 2).sum(axis=2) / 2)
    np.fill_diagonal(K, 0)
    root = K.sum(axis=1) ** -0.5
    H = np.eye(260) - 1 / 260
    values, vectors = np.linalg.eigh(H @ (root[:, None] * K * root) @ H)
    found = spectral(P, kernel, 2, 0)
    np.testing.assert_allclose(found.eigenvalues, values[::-1][:2], atol=1e-7)
    assert largest_angle(vectors[:, ::-1][:, :2], found.Y) < 1e-5


@pytest.mark.parametrize(
    "mixture", [Gaussian() + Linear(), Multiquadratic() + Linear(), Squared() + Polynomial()], ids=repr
)
def test_sums_of_both_forms_cluster_too(mixture: Kernel, two_clusterings: TwoClusterings) -> None:
    """Some of them have a diagonal that is not positive, of which no cosine can be taken."""
    result = solve(two_clusterings.X, Unsupervised(2), mixture, 1)
    assert nmi(result.labels, two_clusterings.clear) > 0.9


def test_labels_are_those_of_the_clusters(planted: Planted) -> None:
    found = spectral(planted.X @ planted.axes, Gaussian(0.5), 3, 0)
    assert nmi(found.labels(0), planted.labels) > 0.9
    np.testing.assert_array_equal(found.labels(5), found.labels(5))


def test_a_row_that_is_like_no_other_does_no_harm(planted: Planted) -> None:
    P = np.vstack([planted.X @ planted.axes, [[60.0, 60.0]]])
    found = spectral(P, Gaussian(0.5), 4, 0)
    assert np.isfinite(found.Y).all()
    assert nmi(found.labels(0)[:-1], planted.labels) > 0.9


def test_fewer_different_rows_of_y_than_clusters_give_fewer_labels() -> None:
    Y = np.repeat([[1.0, 0.0, 0.0], [0.0, 0.6, 0.8], [0.0, 0.0, 0.0]], [4, 3, 2], axis=0)
    labels = Clustering(np.hstack([Y, Y]), np.ones(6), np.ones(9)).labels(0)
    assert len(set(labels)) == 3
    assert nmi(labels, np.repeat([0, 1, 2], [4, 3, 2])) == pytest.approx(1)


@pytest.mark.parametrize("name", EVERY)
def test_rows_whose_affinities_are_all_alike_stay_finite(name: str) -> None:
    """Two rows have one affinity, and less its minimum nothing is left of it."""
    P = np.array([[1.0, 0.5], [-0.4, 1.0]])
    found = spectral(P, EVERY[name].fitted_to(P, np.random.default_rng(0)), 1, 0)
    assert np.isfinite(found.Y).all()
    assert np.abs(found.root).max() < 1e10
