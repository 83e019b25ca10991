"""The search for a starting point: what is tried, what is kept."""

from itertools import islice

import numpy as np
import pytest

from ism_core import (
    Gaussian,
    Linear,
    Multiquadratic,
    Polynomial,
    RelativeGaussian,
    Squared,
    Supervised,
    iter_solve,
    solve,
)
from ism_core.gamma import LabelGamma
from ism_core.kernels import Kernel
from ism_core.linalg.subspaces import dominant, largest_angle
from ism_core.objective import Problem
from ism_core.solver.ascent import EvaluatedPoint
from ism_core.solver.options import SolveOptions
from ism_core.solver.result import ReturnCapture, Step
from ism_core.solver.starts import search as module
from ism_core.solver.starts.candidates import candidates, outlying_directions
from ism_core.solver.starts.search import Start, iter_search
from tests.ism_core.conftest import Labelled, Planted


def searched(problem: Problem, starts: int) -> tuple[list[Step], Start]:
    steps = ReturnCapture(iter_search(problem, starts, SolveOptions(), np.random.default_rng(0)))
    return list(steps), steps.value


@pytest.fixture
def problem(blobs: Labelled) -> Problem:
    kernel = Gaussian().fitted_to(blobs.X, np.random.default_rng(0))
    return Problem.of(blobs.X, LabelGamma.of(blobs.y), kernel, 2)


def test_one_start_is_the_papers_own(problem: Problem) -> None:
    steps, start = searched(problem, 1)
    assert steps == []
    np.testing.assert_array_equal(start.W, dominant(problem.initial_surrogate(), 2, problem)[0])
    assert start.phi is None


@pytest.mark.parametrize("kernel", [Linear(), Squared(), 2 * Linear() + Squared()], ids=repr)
def test_a_kernel_whose_phi_does_not_move_needs_no_search(kernel: Kernel, blobs: Labelled) -> None:
    many, one = (solve(blobs.X, Supervised(blobs.y), kernel, 2, starts=starts) for starts in (6, 1))
    np.testing.assert_array_equal(many.W, one.W)


def test_every_candidate_is_orthonormal(problem: Problem) -> None:
    pool = candidates(problem, np.random.default_rng(0))
    for _ in range(6):
        W = next(pool)
        np.testing.assert_allclose(W.T @ W, np.eye(2), atol=1e-12)


def test_the_best_of_all_that_were_tried_is_kept(problem: Problem) -> None:
    steps, (W, *_) = searched(problem, 6)
    assert len(steps) >= 6
    assert all(step.stage == "search" for step in steps)
    assert [step.iteration for step in steps] == list(range(len(steps)))
    assert problem.objective(W) == pytest.approx(max(step.objective for step in steps), rel=1e-5)


@pytest.mark.parametrize("kernel", ["gaussian", "polynomial", "multiquadratic"])
def test_more_starts_never_end_lower(kernel: str, wine: Labelled) -> None:
    reached = [
        solve(wine.X, Supervised(wine.y), kernel, 2, starts=starts, delta=1e-4).objective for starts in (1, 3, 6)
    ]
    assert reached[1] >= reached[0] * (1 - 1e-6)
    assert reached[2] >= reached[1] * (1 - 1e-6)


def test_a_heavy_tailed_column_is_found_though_the_papers_start_misses_it(rng: np.random.Generator) -> None:
    """A column that is 0 but for a few rows of one class holds the highest maximum of a polynomial of degree 3."""
    y = np.arange(120) % 2
    X = rng.standard_normal((120, 8))
    X[:, :2] += 0.9 * y[:, None]
    X[:, 7] = 0
    X[[1, 11, 21], 7] = 8.0
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    kernel = Polynomial(3, 1.0, 1.0)
    one, three = (solve(X, Supervised(y), kernel, 1, starts=starts) for starts in (1, 3))
    assert abs(three.W[7, 0]) > 0.9
    assert three.objective >= one.objective * (1 - 1e-9)


def test_the_direction_of_an_outlying_row_may_take_the_place_of_a_weak_one(rng: np.random.Generator) -> None:
    """Two rows of one class, far out along no column in particular, hold the highest maximum of degree 3."""
    y = np.arange(120) % 2
    X = rng.standard_normal((120, 8))
    X[:, :2] += 0.9 * y[:, None]
    direction = np.linalg.qr(rng.standard_normal((8, 1)))[0][:, 0]
    X[[1, 11]] = 14.0 * direction + 0.1 * rng.standard_normal((2, 8))
    problem = Problem.of(X - X.mean(axis=0), LabelGamma.of(y), Polynomial(3, 1.0, 1.0), 1)
    away = np.linalg.qr(np.column_stack([direction, np.eye(8)[:, 0]]))[0][:, [1]]
    outlying = list(outlying_directions(problem, away))
    assert max(abs(each @ direction) for each in outlying) > 0.98
    np.testing.assert_allclose(np.linalg.norm(outlying, axis=1), 1)
    better = module._exchanged(problem, EvaluatedPoint.at(problem, away), outlying, 0.01)
    assert better.objective > 2 * problem.objective(away)
    assert largest_angle(better.W, direction[:, None]) < 0.2
    assert len(list(outlying_directions(problem, direction[:, None]))) < len(outlying)  # which is not far from W then


@pytest.mark.parametrize(
    "kernel", [Gaussian(), RelativeGaussian(), Multiquadratic(), Gaussian() + Polynomial()], ids=repr
)
def test_a_search_on_a_sample_of_the_rows_ends_at_the_same_subspace(
    kernel: Kernel, planted: Planted, monkeypatch: pytest.MonkeyPatch
) -> None:
    on_all = solve(planted.X, Supervised(planted.labels), kernel, 2, delta=1e-5)
    monkeypatch.setattr(module, "WHOLE_FLOPS", 1e4)
    monkeypatch.setattr(module, "SAMPLE_FLOPS", 1e4)
    monkeypatch.setattr(module, "SAMPLE_ROWS", 60)
    steps = list(iter_solve(planted.X, Supervised(planted.labels), kernel, 2, delta=1e-5))
    problem = Problem.of(planted.X, LabelGamma.of(planted.labels), on_all.kernel, 2)
    assert steps[0].stage == "search"
    assert steps[0].objective != pytest.approx(problem.objective(steps[0].W), rel=0.05)  # it is that of fewer rows
    assert largest_angle(on_all.W, steps[-1].W) < 1e-3


def test_the_seed_decides_the_random_starts_and_nothing_before_them(problem: Problem) -> None:
    same, again, other = (list(islice(candidates(problem, np.random.default_rng(seed)), 5)) for seed in (0, 0, 1))
    np.testing.assert_array_equal(same, again)
    np.testing.assert_array_equal(same[:3], other[:3])
    assert largest_angle(same[3], other[3]) > 0.1


@pytest.mark.parametrize("q", [4, 5])
def test_exchanges_raise_j_of_a_polynomial_kernel_on_digits(
    q: int, digits: Labelled, monkeypatch: pytest.MonkeyPatch
) -> None:
    with_exchanges = solve(digits.X, Supervised(digits.y), "polynomial", q)
    monkeypatch.setattr(module, "MOST_EXCHANGES", 0)
    without = solve(digits.X, Supervised(digits.y), "polynomial", q)
    assert with_exchanges.objective > 1.05 * without.objective
