"""Γ as a low-rank product."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ism_core import gamma as gamma_module
from ism_core.arrays import Array
from ism_core.gamma import BalancedGamma, Gamma, LabelGamma
from ism_core.objective import ClassNeighborGamma
from ism_core.objective.feature_blocks import FeatureMatrix
from tests.ism_core.reference import dense


@given(st.lists(st.integers(0, 3), min_size=2, max_size=30))
def test_gamma_of_labels_is_the_centered_matrix_of_same_class(labels: list[int]) -> None:
    codes = np.unique(labels, return_inverse=True)[1]
    n = len(codes)
    H = np.eye(n) - 1 / n
    same = (codes[:, None] == codes[None, :]).astype(float)
    np.testing.assert_allclose(dense(LabelGamma.of(codes)), H @ same @ H, atol=1e-13)


BLOCKS = (slice(16, 23), slice(0, 9), slice(9, 16))


@pytest.mark.parametrize("width", [1, 5, 512])
def test_moments_are_products_with_every_column_of_u(
    width: int, rows: Array, gamma: Gamma, rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Added block by block, in any order, with the columns of U taken together or apart."""
    monkeypatch.setattr(gamma_module, "PRODUCT_COLUMNS", width)
    F = rng.standard_normal((23, 3))
    total = gamma.no_moments(3, 4)
    for block in BLOCKS:
        some = gamma.rows(block)
        gamma.add_moments(total, block, FeatureMatrix(F[some]), rows[some])
    expected = [F.T @ np.diag(u) @ rows for u in gamma.U.T]
    np.testing.assert_allclose(gamma.finished(total), expected, atol=1e-12)


@pytest.mark.parametrize("width", [1, 5, 512])
def test_mixing_gives_each_row_its_part_of_every_column_of_u(
    width: int, gamma: Gamma, rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(gamma_module, "PRODUCT_COLUMNS", width)
    F, G = rng.standard_normal((23, 5)), rng.standard_normal((3, 5, 2))
    spread = gamma.spread(G)
    mixed = np.empty((23, 2))
    for block in BLOCKS:
        mixed[gamma.rows(block)] = gamma.mix(block, FeatureMatrix(F[gamma.rows(block)]), spread)
    np.testing.assert_allclose(mixed, sum(np.diag(u) @ F @ g for u, g in zip(gamma.U.T, G, strict=True)), atol=1e-12)


@given(st.lists(st.integers(0, 5), min_size=1, max_size=40), st.integers(1, 40))
def test_blocks_of_labels_hold_every_row_once_class_by_class(labels: list[int], size: int) -> None:
    codes = np.unique(labels, return_inverse=True)[1]
    gamma = LabelGamma.of(codes)
    seen = [gamma.rows(slice(start, min(start + size, len(codes)))) for start in range(0, len(codes), size)]
    order = np.concatenate(seen)
    assert sorted(order) == list(range(len(codes)))
    assert (np.diff(codes[order]) >= 0).all()


@given(classes=st.integers(1, 5), n=st.integers(5, 30), seed=st.integers(0, 99), labels=st.booleans())
def test_the_majorant_is_semidefinite_and_nowhere_below_gamma(classes: int, n: int, seed: int, labels: bool) -> None:
    rng = np.random.default_rng(seed)
    codes = np.unique(rng.integers(0, classes, n) ** 2 // classes, return_inverse=True)[1]
    gamma: Gamma = LabelGamma.of(codes)
    columns = np.eye(n)
    if not labels:
        gamma = Gamma(rng.standard_normal((n, classes)), rng.standard_normal(classes))
    moments = gamma.absolute_moments(np.zeros(n, dtype=np.intp), 1, columns)[0]
    B = moments.T @ gamma.majorant @ moments
    assert (np.abs(dense(gamma)) - 1e-12 <= B).all()
    assert np.linalg.eigvalsh(B)[0] >= -1e-10


def test_absolute_moments_are_sums_over_bins(gamma: Gamma, rows: Array, rng: np.random.Generator) -> None:
    bins = rng.integers(0, 4, 23)
    apart = gamma.absolute_moments(bins, 4, rows)
    together = gamma.absolute_moments(np.zeros(23, dtype=np.intp), 1, rows)
    assert apart.shape == (4, 3, 4)
    np.testing.assert_allclose(apart.sum(axis=0), together[0], atol=1e-12)
    only = gamma.absolute_moments(np.zeros(23, dtype=np.intp), 1, rows * (bins == 2)[:, None])
    np.testing.assert_allclose(apart[2], only[0], atol=1e-12)


def test_restricted_labels_are_centered_again_and_may_lose_a_class() -> None:
    full = LabelGamma.of(np.array([0, 1, 2, 0, 1, 0]))
    part = full.restricted(np.array([0, 2, 3]))
    np.testing.assert_allclose(dense(part), dense(LabelGamma.of(np.array([0, 1, 0]))), atol=1e-15)
    np.testing.assert_allclose(part.U.sum(axis=0), 0, atol=1e-15)


def test_restricted_factor_is_the_block_of_gamma(rng: np.random.Generator) -> None:
    full = Gamma(rng.standard_normal((9, 2)), np.array([1.0, -2.0]))
    rows = np.array([1, 4, 8])
    np.testing.assert_allclose(dense(full.restricted(rows)), dense(full)[np.ix_(rows, rows)], atol=1e-14)


def test_labels_cost_no_more_for_more_classes() -> None:
    two, ten = LabelGamma.of(np.arange(50) % 2), LabelGamma.of(np.arange(50) % 10)
    assert two.moment_flops(9, 4, 3) == ten.moment_flops(9, 4, 3) < Gamma(ten.U, ten.s).moment_flops(9, 4, 3)


@given(st.lists(st.integers(0, 3), min_size=2, max_size=30))
def test_balanced_classes_have_indicators_of_one_length(labels: list[int]) -> None:
    codes = np.unique(labels, return_inverse=True)[1]
    n, counts = len(codes), np.bincount(codes)
    Y = np.eye(len(counts))[codes] / np.sqrt(counts)
    H = np.eye(n) - 1 / n
    balanced = BalancedGamma.of(codes)
    np.testing.assert_allclose(dense(balanced), H @ Y @ Y.T @ H * n / len(counts), atol=1e-12)


def test_balancing_classes_of_one_size_changes_nothing() -> None:
    codes = np.arange(12) % 3
    np.testing.assert_allclose(dense(BalancedGamma.of(codes)), dense(LabelGamma.of(codes)), atol=1e-14)


def test_a_sample_of_balanced_classes_has_some_of_each_and_is_balanced_itself() -> None:
    codes = np.repeat([0, 1, 2], [500, 30, 6])
    gamma = BalancedGamma.of(codes)
    rows = gamma.sample(50, np.random.default_rng(0))
    assert np.bincount(codes[rows]).min() >= 5
    np.testing.assert_allclose(dense(gamma.restricted(rows)), dense(BalancedGamma.of(codes[rows])), atol=1e-13)


def test_a_half_has_half_of_every_class_however_small() -> None:
    """Standard errors from halves would be 0 for classes that are in all of them."""
    codes = np.repeat([0, 1, 2, 3], [40, 5, 4, 1])
    for gamma in (LabelGamma.of(codes), BalancedGamma.of(codes), ClassNeighborGamma.of(codes)):
        half = gamma.sample(25, np.random.default_rng(0), fewest=1)
        np.testing.assert_array_equal(np.bincount(codes[half]), [20, 2, 2, 1])
