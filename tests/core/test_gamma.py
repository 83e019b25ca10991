"""Γ as a low-rank product."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from ism_core.arrays import Array
from ism_core.gamma import Gamma, LabelGamma
from tests.core.reference import dense


@given(st.lists(st.integers(0, 3), min_size=2, max_size=30))
def test_gamma_of_labels_is_the_centred_matrix_of_same_class(labels: list[int]) -> None:
    codes = np.unique(labels, return_inverse=True)[1]
    n = len(codes)
    H = np.eye(n) - 1 / n
    same = (codes[:, None] == codes[None, :]).astype(float)
    np.testing.assert_allclose(dense(LabelGamma.of(codes)), H @ same @ H, atol=1e-13)


def test_moments_are_products_with_every_column_of_u(rows: Array, gamma: Gamma, rng: np.random.Generator) -> None:
    """Added block by block, in any order."""
    F = rng.standard_normal((23, 3))
    total = np.zeros((3, 4, 3))
    for block in (slice(16, 23), slice(0, 9), slice(9, 16)):
        gamma.add_moments(total, block, rows[block], F[block])
    expected = [rows.T @ np.diag(u) @ F for u in gamma.U.T]
    np.testing.assert_allclose(gamma.finished(total), expected, atol=1e-12)


def test_restricted_labels_are_centred_again_and_may_lose_a_class() -> None:
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
    assert two.moment_flops(4, 3) == ten.moment_flops(4, 3) < Gamma(ten.U, ten.s).moment_flops(4, 3)
