"""The competitors of the paper are what they say: feasible, stationary where they end, within their time."""

import time
from collections.abc import Callable, Iterator

import numpy as np
import pytest
from threadpoolctl import threadpool_limits

from benchmarks.datasets import load, synthetic
from benchmarks.paper.experiments.competitors import (
    COMPETITORS,
    Found,
    Objective,
    dimension_growth,
    grassmann,
    relative_gradient,
    stiefel,
)
from benchmarks.speed.transcription import label_gamma
from benchmarks.speed.transcription import objective as objective_of
from ism_core import Gaussian, Polynomial, Supervised, solve
from ism_core.arrays import Array, Ints
from ism_core.kernels import Kernel, as_kernel

Competitor = Callable[[Objective, int, float], Found]

LONG = 60.0  # seconds, which nothing here needs
PROBLEMS = {"planted, gaussian": 2, "planted, polynomial": 2, "wine, gaussian": 3, "wine, polynomial": 3}


@pytest.fixture(autouse=True, scope="module")
def one_thread() -> Iterator[None]:
    """Products of matrices this small are slower on several threads."""
    with threadpool_limits(1):
        yield


def table(name: str) -> tuple[Array, Ints]:
    if name == "wine":
        wine = load("wine")
        return wine.standardized, wine.y
    return synthetic(150, 8, 3, informative=3)


def problem(name: str) -> tuple[Objective, int]:
    data, kernel = name.split(", ")
    X, y = table(data)
    return Objective(
        X, Supervised(y).target_gamma(), as_kernel(kernel).fitted_to(X, np.random.default_rng(0))
    ), PROBLEMS[name]


@pytest.mark.parametrize(
    "kernel", [Gaussian(1.5), Polynomial(3, 1.0, 0.5), Gaussian(2.0) + 0.1 * Polynomial(3, 0.5, 0.5)]
)
@pytest.mark.parametrize("rows", [60, 600])
def test_the_objective_is_j_and_its_gradient_matches_differences(kernel: Kernel, rows: int) -> None:
    X, y = synthetic(rows, 5, 3, informative=2)
    gamma, rng = Supervised(y).target_gamma(), np.random.default_rng(1)
    W = np.linalg.qr(rng.standard_normal((5, 2)))[0]
    objective = Objective(X, gamma, kernel)
    value, gradient = objective.value_and_gradient(W)
    expected = sum(weight * objective_of(X, label_gamma(y), term, W) for weight, term in kernel.terms)
    assert value == pytest.approx(expected, rel=1e-9)
    step = 1e-5 * rng.standard_normal(W.shape)
    change = objective.value_and_gradient(W + step)[0] - objective.value_and_gradient(W - step)[0]
    assert change == pytest.approx(2 * np.vdot(gradient, step), rel=1e-5)


@pytest.mark.parametrize("name", PROBLEMS)
@pytest.mark.parametrize("competitor", [stiefel, grassmann])
def test_sm_and_gm_end_at_a_stationary_point(name: str, competitor: Competitor) -> None:
    objective, q = problem(name)
    found = competitor(objective, q, LONG)
    value, G = objective.value_and_gradient(found.W)
    assert found.finished
    assert found.objective == pytest.approx(value, rel=1e-12)
    assert relative_gradient(found.W, G) < 1e-4


@pytest.mark.parametrize("name", PROBLEMS)
def test_each_column_of_dg_is_stationary_given_those_before_it(name: str) -> None:
    objective, q = problem(name)
    found = dimension_growth(objective, q, LONG)
    assert found.finished
    assert found.objective == pytest.approx(objective.value_and_gradient(found.W)[0], rel=1e-12)
    for k in range(1, q + 1):
        G = objective.value_and_gradient(found.W[:, :k])[1]
        aside = G[:, -1] - found.W[:, :k] @ (found.W[:, :k].T @ G[:, -1])
        assert np.linalg.norm(aside) < 1e-4 * np.linalg.norm(G[:, -1])


@pytest.mark.parametrize("name", PROBLEMS)
def test_all_competitors_are_orthonormal_and_none_exceeds_ism(name: str) -> None:
    objective, q = problem(name)
    X, y = table(name.split(", ")[0])
    best = solve(X, Supervised(y), objective.kernel, q, delta=1e-6, starts=20).objective
    for competitor in COMPETITORS.values():
        found = competitor(objective, q, LONG)
        np.testing.assert_allclose(found.W.T @ found.W, np.eye(q), atol=1e-10)
        assert found.objective <= best * (1 + 1e-6)


@pytest.mark.parametrize("name", COMPETITORS)
def test_a_time_limit_ends_the_run_with_the_best_w_so_far(name: str) -> None:
    X, y = synthetic(1_500, 40, 5)
    objective = Objective(X, Supervised(y).target_gamma(), as_kernel("gaussian").fitted_to(X, np.random.default_rng(0)))
    start = objective.value_and_gradient(np.linalg.qr(np.random.default_rng(0).standard_normal((40, 5)))[0])[0]
    began = time.perf_counter()
    found = COMPETITORS[name](objective, 5, 0.05)
    assert time.perf_counter() - began < 1.05
    assert not found.finished
    assert found.W.shape == (40, 5)
    np.testing.assert_allclose(found.W.T @ found.W, np.eye(5), atol=1e-10)
    assert found.objective == pytest.approx(objective.value_and_gradient(found.W)[0], rel=1e-10)
    assert found.objective >= start or name == "DG"


@pytest.mark.parametrize("name", COMPETITORS)
def test_a_time_limit_of_zero_gives_an_orthonormal_w(name: str) -> None:
    objective, q = problem("wine, gaussian")
    found = COMPETITORS[name](objective, q, 0.0)
    assert not found.finished
    np.testing.assert_allclose(found.W.T @ found.W, np.eye(q), atol=1e-10)


@pytest.mark.parametrize("name", COMPETITORS)
def test_a_seed_gives_the_same_result_again(name: str) -> None:
    objective, q = problem("planted, polynomial")
    once, again = (COMPETITORS[name](objective, q, LONG) for _ in range(2))
    np.testing.assert_array_equal(once.W, again.W)
