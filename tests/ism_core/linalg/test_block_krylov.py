"""Eigenvectors from products alone, against a full decomposition."""

import numpy as np
import pytest

from ism_core.arrays import Array
from ism_core.linalg import block_krylov as krylov
from ism_core.linalg.subspaces import largest_angle


def symmetric(values: Array, seed: int = 0) -> tuple[Array, Array]:
    """A matrix with these eigenvalues, and its eigenvectors."""
    vectors = np.linalg.qr(np.random.default_rng(seed).standard_normal((len(values), len(values))))[0]
    return (vectors * values) @ vectors.T, vectors


@pytest.mark.parametrize("tolerance", [1e-2, 1e-5, 1e-9])
def test_the_space_is_as_near_as_asked_for(tolerance: float) -> None:
    values = np.concatenate([[1.0, 0.8, 0.75], 0.7 * 0.95 ** np.arange(197)])
    A, vectors = symmetric(values)
    found = krylov.largest(lambda V: A @ V, krylov.block(None, 200, 3, 0), 3, tolerance, 100)
    assert largest_angle(vectors[:, :3], found.vectors) < tolerance
    np.testing.assert_allclose(found.values, values[:3], rtol=tolerance)
    np.testing.assert_allclose(found.vectors.T @ found.vectors, np.eye(3), atol=1e-10)


def test_a_start_that_is_near_saves_products() -> None:
    A, vectors = symmetric(1 / np.arange(1, 301))
    near = vectors[:, :4] + 1e-3 * np.random.default_rng(1).standard_normal((300, 4)) / 300**0.5
    cold, warm = (
        krylov.largest(lambda V: A @ V, krylov.block(start, 300, 4, 0), 4, 1e-5, 100) for start in (None, near)
    )
    assert largest_angle(cold.vectors, warm.vectors) < 2e-5
    assert warm.products < cold.products


def test_equal_eigenvalues_come_to_an_end() -> None:
    """Which vectors of a space of equals are found is nobody's business."""
    A, _ = symmetric(np.concatenate([np.ones(6), np.zeros(94)]))
    found = krylov.largest(lambda V: A @ V, krylov.block(None, 100, 3, 0), 3, 1e-6, 50)
    assert found.products < 5
    np.testing.assert_allclose(A @ found.vectors, found.vectors, atol=1e-6)


@pytest.mark.parametrize("n", [3, 8, 17])
def test_a_few_rows_are_solved_exactly(n: int) -> None:
    A, vectors = symmetric(np.arange(n, 0, -1.0))
    found = krylov.largest(lambda V: A @ V, krylov.block(None, n, 2, 0), 2, 1e-12, 100)
    np.testing.assert_allclose(found.values, [n, n - 1])
    assert largest_angle(vectors[:, :2], found.vectors) < 1e-9
