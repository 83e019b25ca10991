"""What holds at the end of an ascent, wherever it began."""

import numpy as np
import pytest

from ism_core import Gaussian, Supervised, solve
from ism_core.arrays import Array, Ints
from ism_core.linalg import row_space as rowspace


def test_the_tolerance_holds_where_an_ascent_ends(rng: np.random.Generator) -> None:
    y = np.arange(4000) % 3
    X = rng.standard_normal((4000, 6)) * [3, 3, 0.2, 0.2, 0.2, 0.2]
    X[:, 0] += 4 * y
    X[:, 1] += 5 * (y == 1)
    W = np.eye(6)[:, [2, 3]]
    W[0, 0] = 0.1
    result = solve(X, Supervised(y), Gaussian(4.0), 2, tolerance=1e-6, initial_W=W)
    assert result.error.gradient <= 1e-6


@pytest.fixture
def wide(monkeypatch: pytest.MonkeyPatch) -> tuple[Array, Ints]:
    monkeypatch.setattr(rowspace, "LARGEST", 60)
    monkeypatch.setattr(rowspace, "SAMPLE", 30)
    rng = np.random.default_rng(0)
    y = np.arange(120) % 3
    X = 0.3 * rng.standard_normal((120, 8)) @ rng.standard_normal((8, 150)) + 0.2 * rng.standard_normal((120, 150))
    X[:, 0] += 3 * y
    X[:, 1] += 3 * (y == 1)
    return X - X.mean(axis=0), y


def test_many_directions_may_be_asked_of_a_wide_table(wide: tuple[Array, Ints]) -> None:
    X, y = wide
    assert solve(X, Supervised(y), "gaussian", 100, max_iter=3).W.shape == (150, 100)


def test_a_solve_of_a_wide_table_goes_on_from_where_it_ended(wide: tuple[Array, Ints]) -> None:
    X, y = wide
    whole = solve(X, Supervised(y), "gaussian", 2, delta=1e-4)
    resumed = solve(X, Supervised(y), "gaussian", 2, delta=1e-4, initial_W=whole.W)
    assert resumed.steps[0].objective == pytest.approx(whole.objective, rel=1e-6)
