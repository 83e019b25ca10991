"""Measures of projections and clusterings, against their textbook formulas."""

import math
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.distance import pdist, squareform

from ism_core import Gaussian, InvalidInput, metrics
from ism_core.arrays import Array
from ism_core.metrics import association, hsic, nmi, silhouette
from tests.ism_core import reference
from tests.ism_core.family import EVERY

LABELS = st.lists(st.integers(0, 3), min_size=12, max_size=12)


def centering(n: int) -> Array:
    return np.eye(n) - 1 / n


def label_kernel(y: Array) -> Array:
    return (y[:, None] == y[None, :]).astype(float)


@pytest.mark.parametrize("name", EVERY)
def test_hsic_is_the_trace_of_two_centered_kernels(name: str, rows: Array) -> None:
    y = np.arange(23) % 3
    kernel = EVERY[name].fitted_to(rows, np.random.default_rng(0))
    K, L, H = reference.kernel_matrix(rows, kernel), label_kernel(y), centering(23)
    plain = np.trace(K @ H @ L @ H) / 22**2
    assert hsic(rows, y, EVERY[name]) == pytest.approx(plain, rel=1e-9, abs=1e-12)
    with_itself = [np.trace(A @ H @ A @ H) / 22**2 for A in (K, L)]
    expected = plain / math.sqrt(with_itself[0] * with_itself[1])
    assert hsic(rows, y, EVERY[name], normalized=True) == pytest.approx(expected, rel=1e-9)


def test_hsic_of_real_targets_is_that_of_their_gaussian_kernel(rows: Array, rng: np.random.Generator) -> None:
    y = rng.standard_normal((23, 2))
    Z = (y - y.mean(axis=0)) / y.std(axis=0)
    L = np.exp(-squareform(pdist(Z, "sqeuclidean")) / (2 * np.median(pdist(Z)) ** 2))
    K = np.exp(-squareform(pdist(rows, "sqeuclidean")) / (2 * 1.5**2))
    H = centering(23)
    assert hsic(rows, y, Gaussian(1.5)) == pytest.approx(np.trace(K @ H @ L @ H) / 22**2, rel=1e-4)


def test_hsic_tells_dependence_from_independence(rng: np.random.Generator) -> None:
    y = np.arange(100) % 2
    related = rng.standard_normal((100, 2)) + 4 * y[:, None]
    unrelated = rng.standard_normal((100, 2))
    assert hsic(related, y, normalized=True) > 0.6
    assert 0 <= hsic(unrelated, y, normalized=True) < 0.15


def test_normalized_hsic_lies_between_0_and_1(rows: Array, rng: np.random.Generator) -> None:
    for kernel in ("gaussian", "polynomial", "linear", "relative_gaussian"):
        for y in (rng.integers(0, 4, 23), rng.standard_normal(23)):
            assert 0 <= hsic(rows, y, kernel, normalized=True) <= 1


def entropy(labels: list) -> float:
    counts = Counter(labels)
    return -sum(c / len(labels) * math.log(c / len(labels)) for c in counts.values())


@given(LABELS, LABELS)
def test_nmi_is_mutual_information_over_the_geometric_mean_of_entropies(a: list[int], b: list[int]) -> None:
    h, k = entropy(a), entropy(b)
    shared = h + k - entropy(list(zip(a, b, strict=True)))
    if h > 0 and k > 0:
        assert nmi(a, b) == pytest.approx(shared / math.sqrt(h * k), abs=1e-9)


@given(LABELS, LABELS)
def test_nmi_is_symmetric_and_within_0_and_1(a: list[int], b: list[int]) -> None:
    assert nmi(a, b) == pytest.approx(nmi(b, a), abs=1e-12)
    assert -1e-12 <= nmi(a, b) <= 1 + 1e-12
    assert nmi(a, a) == pytest.approx(1)


def test_names_of_clusters_do_not_matter() -> None:
    a = [0, 0, 1, 1, 2, 2]
    assert nmi(a, ["z", "z", "x", "x", "y", "y"]) == pytest.approx(1)
    assert nmi(a, [5, 6, 5, 6, 5, 6]) == pytest.approx(0)


def test_silhouette_is_high_for_clusters_apart_and_low_for_clusters_mixed(rng: np.random.Generator) -> None:
    y = np.arange(60) % 3
    P = rng.standard_normal((60, 2)) * 0.1 + 10 * y[:, None]
    assert 0.9 < silhouette(P, y) <= 1
    assert -1 <= silhouette(P, np.arange(60) % 2) < 0.1
    assert silhouette(P, np.zeros(60)) == silhouette(P, np.arange(60)) == 0


def test_silhouette_of_a_sample_is_seeded(rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(metrics, "SILHOUETTE_ROWS", 40)
    y = np.arange(90) % 3
    P = rng.standard_normal((90, 2)) + 3 * y[:, None]
    assert silhouette(P, y, seed=1) == silhouette(P, y, seed=1) != silhouette(P, y, seed=2)


def test_association_is_the_share_of_affinity_that_stays_inside(rows: Array) -> None:
    y = np.arange(23) % 3
    K = np.exp(-squareform(pdist(rows, "sqeuclidean")) / (2 * 2.0**2))
    expected = np.mean([K[np.ix_(y == c, y == c)].sum() / K[y == c].sum() for c in range(3)])
    assert association(rows, y, Gaussian(2.0)) == pytest.approx(expected, rel=1e-10)


def test_association_is_1_for_clusters_far_apart_and_for_a_single_one(rng: np.random.Generator) -> None:
    y = np.arange(40) % 2
    P = rng.standard_normal((40, 2)) * 0.1 + 100 * y[:, None]
    assert association(P, y, Gaussian(0.5)) == pytest.approx(1)
    assert association(P, np.zeros(40)) == pytest.approx(1)
    assert 0 < association(P, rng.permutation(y), Gaussian(0.5)) < 0.7


def test_association_refuses_a_kernel_that_goes_negative(rows: Array) -> None:
    with pytest.raises(InvalidInput, match="negative"):
        association(rows, np.arange(23) % 2, "squared")
