"""Angles between subspaces, dominant eigenvectors, and signs."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.linalg import subspace_angles

from ism_core import Linear
from ism_core.arrays import Array
from ism_core.gamma import LabelGamma
from ism_core.linalg.subspaces import (
    corrected,
    count_nonzero_eigenvalues,
    dominant,
    eigenpairs,
    largest_angle,
    with_fixed_signs,
)
from ism_core.objective import Problem


def problem(X: Array) -> Problem:
    """Any problem with these rows."""
    return Problem.of(X, LabelGamma.of(np.arange(len(X)) % 2), Linear(), 1)


def orthonormal(rng: np.random.Generator, d: int, q: int) -> Array:
    return np.linalg.qr(rng.standard_normal((d, q)))[0]


@given(d=st.integers(2, 7), q=st.integers(1, 4), seed=st.integers(0, 999))
def test_largest_angle_is_the_largest_principal_angle(d: int, q: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    W, V = (orthonormal(rng, d, min(q, d)) for _ in range(2))
    assert largest_angle(W, V) == pytest.approx(subspace_angles(W, V).max(), abs=1e-7)


@pytest.mark.parametrize("angle", [1e-12, 1e-8, 1e-3, 0.7, np.pi / 2])
def test_largest_angle_is_precise_for_small_angles_too(angle: float, rng: np.random.Generator) -> None:
    base = orthonormal(rng, 5, 3)
    turned = base[:, :2].copy()
    turned[:, 1] = np.cos(angle) * base[:, 1] + np.sin(angle) * base[:, 2]
    assert largest_angle(base[:, :2], turned) == pytest.approx(angle, rel=1e-3)


def test_largest_angle_does_not_see_the_basis(rng: np.random.Generator) -> None:
    W = orthonormal(rng, 6, 3)
    assert largest_angle(W, W @ orthonormal(rng, 3, 3)) < 1e-14


@given(d=st.integers(2, 7), q=st.integers(1, 7), seed=st.integers(0, 999))
def test_dominant_eigenvectors_and_their_gap_are_those_of_a_full_decomposition(d: int, q: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    q = min(q, d)
    A = rng.standard_normal((d, d))
    A = A + A.T
    W, gap = dominant(A, q, problem(rng.standard_normal((9, d))))
    values, vectors = np.linalg.eigh(A)
    np.testing.assert_allclose(W.T @ W, np.eye(q), atol=1e-12)
    assert largest_angle(vectors[:, ::-1][:, :q], W) < 1e-6
    assert gap == pytest.approx(values[::-1][q - 1] - values[::-1][q]) if q < d else gap == np.inf


def test_dominant_fills_up_with_the_widest_directions_of_the_null_space(rng: np.random.Generator) -> None:
    basis = orthonormal(rng, 5, 5)
    phi = 3.0 * np.outer(basis[:, 0], basis[:, 0])
    X = (rng.standard_normal((200, 5)) * [1.0, 1.0, 6.0, 1.0, 3.0] + [0.0, 9.0, 0.0, 0.0, 0.0]) @ basis.T
    W, gap = dominant(phi, 3, problem(X))
    null = basis[:, 1:]
    widest = null @ np.linalg.eigh(null.T @ np.cov(X.T) @ null)[1][:, ::-1][:, :2]
    assert gap == pytest.approx(0, abs=1e-12)
    assert largest_angle(np.column_stack([basis[:, 0], widest]), W) < 1e-10


def test_dominant_takes_zero_before_negative_eigenvalues(rng: np.random.Generator) -> None:
    W, _ = dominant(np.diag([2.0, 0.0, -1.0]), 2, problem(rng.standard_normal((9, 3))))
    assert largest_angle(np.eye(3)[:, :2], W) < 1e-12


def test_eigenvalues_that_are_rounding_are_not_counted() -> None:
    values = np.array([5.0, 0.0, 1e-14, -2.0])
    assert count_nonzero_eigenvalues(values, 6.0) == 2
    assert count_nonzero_eigenvalues(values[1:], 1e-6) == 2


def test_eigenpairs_fall(rng: np.random.Generator) -> None:
    A = rng.standard_normal((6, 6))
    A = A + A.T
    values, vectors = eigenpairs(A, 4)
    np.testing.assert_allclose(values, np.linalg.eigvalsh(A)[::-1][:4], rtol=1e-10)
    np.testing.assert_allclose(A @ vectors, vectors * values, atol=1e-10)


@given(seed=st.integers(0, 999))
def test_fixed_signs_make_the_largest_entry_positive_and_change_nothing_else(seed: int) -> None:
    W = np.random.default_rng(seed).standard_normal((5, 3))
    fixed = with_fixed_signs(W)
    np.testing.assert_array_equal(np.abs(fixed), np.abs(W))
    np.testing.assert_array_equal(fixed, with_fixed_signs(-W))
    assert (fixed[np.abs(fixed).argmax(axis=0), range(3)] > 0).all()
    np.testing.assert_array_equal(np.abs(np.sign(fixed * W).sum(axis=0)), 5)  # a column turns as a whole


@given(d=st.integers(2, 8), q=st.integers(1, 4), seed=st.integers(0, 999))
def test_a_corrected_matrix_gives_what_was_pulled_and_is_the_nearest_to_do_so(d: int, q: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    W = orthonormal(rng, d, min(q, d))
    phi, other = (A + A.T for A in rng.standard_normal((2, d, d)))
    found = corrected(phi, W, other @ W)
    np.testing.assert_allclose(found @ W, other @ W, atol=1e-12)
    np.testing.assert_allclose(found, found.T, atol=1e-12)
    outside = np.eye(d) - W @ W.T
    aside = outside @ other @ outside  # what may be added to it: symmetric, and nothing along W
    assert np.vdot(found - phi, aside) == pytest.approx(0, abs=1e-10)
    assert np.linalg.norm(found - phi) <= np.linalg.norm(found + aside - phi) + 1e-12
    assert np.linalg.norm(found - phi) <= np.linalg.norm(other - phi) + 1e-12


def test_a_matrix_that_is_right_along_w_stays_as_it_is(rng: np.random.Generator) -> None:
    A, W = rng.standard_normal((6, 6)), orthonormal(rng, 6, 2)
    phi = A + A.T
    np.testing.assert_allclose(corrected(phi, W, phi @ W), phi, atol=1e-14)
    np.testing.assert_allclose(corrected(phi, np.eye(6), A.T @ A), A.T @ A, atol=1e-12)


def test_empty_directions_are_chosen_last_of_all(rng: np.random.Generator) -> None:
    X = rng.standard_normal((20, 5))
    X[:, 2] = 0
    phi = np.diag([-1.0, -2.0, 0.0, -3.0, -4.0])
    rows = Problem.of(X, LabelGamma.of(np.arange(20) % 2), Linear(), 1, np.eye(5)[:, [2]])
    assert rows.dimensions == 4
    W, gap = dominant(phi, 2, rows)
    assert largest_angle(W, np.eye(5)[:, :2]) < 1e-12
    assert gap == pytest.approx(1)
    np.testing.assert_array_equal(dominant(phi, 4, rows)[0][2], 0)
