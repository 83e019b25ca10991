"""Rows and columns both too many: W is sought in the space of a sample of the rows, widened until nothing is left."""

import tracemalloc
from itertools import pairwise

import numpy as np
import pytest

from ism_core import Supervised, Unsupervised, solve
from ism_core.linalg import row_space as rowspace
from ism_core.linalg.row_space import RowSpace
from ism_core.linalg.subspaces import largest_angle
from ism_core.metrics import nmi
from tests.ism_core.conftest import Labelled


@pytest.fixture(scope="module")
def wide() -> Labelled:
    """120 rows in 150 columns, three classes along two of them."""
    rng = np.random.default_rng(0)
    y = np.arange(120) % 3
    X = 0.3 * rng.standard_normal((120, 8)) @ rng.standard_normal((8, 150)) + 0.2 * rng.standard_normal((120, 150))
    X[:, 0] += 3 * y
    X[:, 1] += 3 * (y == 1)
    return Labelled(X - X.mean(axis=0), y)


@pytest.fixture
def small_spaces(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rowspace, "LARGEST", 60)
    monkeypatch.setattr(rowspace, "SAMPLE", 30)


@pytest.mark.parametrize(
    "kernel", ["gaussian", "relative_gaussian", "multiquadratic", "polynomial", "linear", "squared"]
)
def test_widening_ends_at_the_maximum_over_all_directions(
    kernel: str, wide: Labelled, request: pytest.FixtureRequest
) -> None:
    whole = solve(wide.X, Supervised(wide.y), kernel, 2, delta=1e-4)
    request.getfixturevalue("small_spaces")
    widened = solve(wide.X, Supervised(wide.y), kernel, 2, delta=1e-4)
    assert widened.converged
    assert widened.objective == pytest.approx(whole.objective, rel=1e-6)
    assert largest_angle(whole.W, widened.W) < 1e-3
    np.testing.assert_allclose(widened.W.T @ widened.W, np.eye(2), atol=1e-12)
    assert widened.certificate.gradient < 1e-5 + 1e-9
    assert widened.warnings == ()


@pytest.mark.usefixtures("small_spaces")
def test_the_steps_of_widened_spaces_are_one_ascent(wide: Labelled) -> None:
    result = solve(wide.X, Supervised(wide.y), "gaussian", 2, delta=1e-4)
    J = [step.objective for step in result.steps]
    assert all(after >= before * (1 - 1e-12) for before, after in pairwise(J))
    assert [step.iteration for step in result.steps] == list(range(len(J)))
    assert all(step.W.shape == (150, 2) for step in result.steps)


@pytest.mark.usefixtures("small_spaces")
def test_max_iter_holds_over_all_spaces_and_the_gradient_that_is_left_is_told(wide: Labelled) -> None:
    result = solve(wide.X, Supervised(wide.y), "gaussian", 2, delta=1e-6, max_iter=2)
    assert result.iterations <= 3
    assert result.certificate.gradient > 1e-4


@pytest.mark.usefixtures("small_spaces")
def test_clusterings_of_wide_tables_are_found(wide: Labelled) -> None:
    apart = 12.0 * np.eye(150)[:3]
    result = solve(wide.X + apart[wide.y], Unsupervised(3), "gaussian", 2)
    assert result.converged
    assert nmi(result.labels, wide.y) > 0.95


@pytest.mark.usefixtures("small_spaces")
def test_a_widened_space_keeps_what_it_had(wide: Labelled, rng: np.random.Generator) -> None:
    space = RowSpace.of(wide.X, 2)
    assert space.basis.shape == (150, 32)
    outside = space.outside(lambda: (rng.standard_normal((120, 2)), 0.0))
    assert np.abs(space.basis.T @ outside).max() < 1e-12 * np.abs(outside).max()
    more = space.widened(outside)
    assert more.basis.shape == (150, 34)
    np.testing.assert_array_equal(more.basis[:, :32], space.basis)
    np.testing.assert_allclose(more.basis.T @ more.basis, np.eye(34), atol=1e-12)
    np.testing.assert_allclose(more.Z, wide.X @ more.basis, atol=1e-12)


def test_no_matrix_has_as_many_rows_and_columns_as_x_has_columns(
    rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rowspace, "LARGEST", 60)
    monkeypatch.setattr(rowspace, "SAMPLE", 30)
    n, d = 200, 3_000
    y = np.arange(n) % 2
    X = rng.standard_normal((n, d))
    X[:, 0] += 20 * y
    tracemalloc.start()
    try:
        solve(X, Supervised(y), "gaussian", 2, max_iter=10)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 8 * d * d / 2  # X itself is a fifteenth of that
