"""Tables of two to five rows: a result with an orthonormal W, or a sentence that says why not."""

import numpy as np
import pytest

from ism_core import Alternative, InvalidInput, SemiSupervised, Supervised, Unsupervised, solve
from ism_core.arrays import Array
from ism_core.paradigms import Paradigm
from tests.ism_core.family import NAMES


def tables(n: int, rng: np.random.Generator) -> dict[str, Array]:
    anything = rng.standard_normal((n, 3))
    constant = anything.copy()
    constant[:, 0] = 0.1
    found = {"anything": anything, "zeros and ones": rng.integers(0, 2, (n, 3)).astype(float)}
    if n <= 3:
        found |= {"a constant column": constant, "all the same": np.repeat(anything[:1], n, axis=0)}
    return found


def paradigms(n: int, rng: np.random.Generator) -> dict[str, Paradigm]:
    labels, target = np.arange(n) % 2, rng.standard_normal(n)
    return {
        "labels": Supervised(labels),
        "target": Supervised(target),
        "two clusters": Unsupervised(2),
        "a cluster for each row": Unsupervised(n),
        "scores": SemiSupervised(target, 2),
        "alternative": Alternative(labels, 2),
    }


@pytest.mark.parametrize("kernel", NAMES)
@pytest.mark.parametrize("paradigm", paradigms(2, np.random.default_rng(0)))
def test_few_rows_give_a_result_or_a_sentence(kernel: str, paradigm: str) -> None:
    solved = 0
    for n in (2, 3, 5):
        rng = np.random.default_rng(n)
        for table in tables(n, rng).values():
            try:
                result = solve(table, paradigms(n, rng)[paradigm], kernel, 2, max_iter=5)
            except InvalidInput as refused:
                assert str(refused).endswith(".")  # noqa: PT017
                continue
            solved += 1
            np.testing.assert_allclose(result.W.T @ result.W, np.eye(2), atol=1e-10)
            assert np.isfinite(result.objective)
            assert np.isfinite(result.eigenvalues).all()
            assert result.labels is None or len(result.labels) == n
    assert solved > 0


@pytest.mark.parametrize("kernel", ["linear", "squared", "polynomial", "multiquadratic"])
def test_rows_that_coincide_are_solved_where_no_scale_is_needed(kernel: str) -> None:
    result = solve(np.ones((6, 3)), Supervised(np.arange(6) % 2), kernel, 2)
    np.testing.assert_allclose(result.W.T @ result.W, np.eye(2), atol=1e-12)
    assert result.warnings


def test_one_column_has_one_answer() -> None:
    x = np.random.default_rng(0).standard_normal((20, 1))
    for kernel in NAMES:
        np.testing.assert_allclose(solve(x, Supervised(np.arange(20) % 2), kernel, 1).W, [[1.0]])


@pytest.mark.parametrize("kernel", NAMES)
def test_many_columns_and_few_rows_give_as_many_directions_as_there_are(kernel: str) -> None:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((5, 200))
    X -= X.mean(axis=0)
    result = solve(X, Supervised([0, 1, 0, 1, 1]), kernel, 6)
    np.testing.assert_allclose(result.W.T @ result.W, np.eye(6), atol=1e-10)
    assert any("X varies along 4 of its 200 dimensions" in warning for warning in result.warnings)


@pytest.mark.parametrize("kernel", NAMES)
@pytest.mark.parametrize("scale", [1e-150, 1e-100, 1e30, 1e100, 1e160, 1e300])
def test_units_beyond_reason_give_a_result_or_a_sentence(kernel: str, scale: float) -> None:
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((12, 3)), np.arange(12) % 2
    with np.errstate(all="ignore"):
        try:
            result = solve(scale * X, Supervised(y), kernel, 2, max_iter=20)
        except InvalidInput as refused:
            assert str(refused).endswith(".")  # noqa: PT017
            return
    np.testing.assert_allclose(result.W.T @ result.W, np.eye(2), atol=1e-10)
    assert np.isfinite(result.objective)
