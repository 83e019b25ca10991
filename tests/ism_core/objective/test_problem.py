"""Problems: which strategy they pick, and problems on some of their rows."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ism_core import Gaussian, Linear, Multiquadratic, Polynomial, Squared
from ism_core.arrays import Array
from ism_core.gamma import Gamma, LabelGamma
from ism_core.kernels import Kernel, exact_maps
from ism_core.objective import plan
from ism_core.objective.data import EvaluationOptions, Projections
from ism_core.objective.neighbors import ClassNeighborGamma
from ism_core.objective.problem import NeighborProblem, Problem
from ism_core.objective.strategies import ExactFeatures, Method, TruncatedFeatures, base
from tests.ism_core import reference
from tests.ism_core.family import EVERY, KERNELS

CLOSE = {"rtol": 1e-10, "atol": 1e-10}


def by(way: Method, X: Array, gamma: Gamma, kernel: Kernel, q: int) -> Problem:
    """The problem with its choice of way made for it."""
    problem = Problem.of(X, gamma, kernel, q).by_all_pairs()
    if way == "tiles":
        return problem
    return replace(problem, strategy=ExactFeatures(problem.data, exact_maps(kernel, q)))


@pytest.fixture(scope="module", params=EVERY)
def name(request: pytest.FixtureRequest) -> str:
    return request.param


@pytest.fixture(scope="module")
def kernel(name: str, rows: Array) -> Kernel:
    return EVERY[name].fitted_to(rows, np.random.default_rng(0))


@pytest.mark.parametrize("steep", [name for name in EVERY if name != "polynomial c=0"])
def test_first_surrogate_is_phi_with_the_derivative_at_zero(steep: str, rows: Array, gamma: Gamma) -> None:
    kernel = EVERY[steep].fitted_to(rows, np.random.default_rng(0))
    expected = reference.initial_surrogate(rows, gamma, kernel)
    np.testing.assert_allclose(Problem.of(rows, gamma, kernel, 2).initial_surrogate(), expected, rtol=1e-10, atol=1e-9)


def test_first_surrogate_keeps_the_sign_of_a_derivative_that_is_zero_at_zero(rows: Array, gamma: Gamma) -> None:
    flat = Problem.of(rows, gamma, KERNELS["polynomial c=0"], 2).initial_surrogate()
    np.testing.assert_allclose(flat, Problem.of(rows, gamma, Linear(), 2).initial_surrogate(), rtol=1e-12, atol=1e-12)
    assert np.abs(flat).max() > 1


@given(
    n=st.integers(2, 14), d=st.integers(1, 5), q=st.integers(1, 5), classes=st.integers(2, 4), seed=st.integers(0, 9)
)
def test_ways_agree_for_any_shape(n: int, d: int, q: int, classes: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    q = min(q, d)
    X, W = rng.standard_normal((n, d)), np.linalg.qr(rng.standard_normal((d, q)))[0]
    gamma = LabelGamma.of(np.unique(rng.integers(0, classes, n), return_inverse=True)[1])
    kernel = 0.5 * Squared() + Polynomial(3, 1.0, 0.3) + 2 * Linear()
    tiled, featured = (by(way, X, gamma, kernel, q) for way in ("tiles", "features"))
    np.testing.assert_allclose(tiled.evaluate(W)[0], featured.evaluate(W)[0], rtol=1e-8, atol=1e-8)
    np.testing.assert_allclose(tiled.half_gradient(W)[0], featured.half_gradient(W)[0], rtol=1e-8, atol=1e-8)
    assert tiled.objective(W) == pytest.approx(featured.objective(W), rel=1e-8, abs=1e-8)


def test_features_are_taken_for_many_rows_and_tiles_for_many_features(rng: np.random.Generator) -> None:
    def problem(n: int, q: int, kernel: Kernel) -> Problem:
        return Problem.of(rng.standard_normal((n, 12)), LabelGamma.of(np.arange(n) % 3), kernel, q)

    assert problem(2_000, 2, Polynomial(3, 1.0, 0.1)).method == "features"
    assert problem(60, 10, Polynomial(5, 1.0, 0.1)).method == "tiles"
    assert problem(60, 12, Polynomial(20, 1.0, 0.1)).method == "tiles"  # 226 million features
    assert problem(2_000, 2, Gaussian(1.0)).method == "tiles"  # it has no finite feature map
    assert problem(2_000, 2, Multiquadratic() + Linear()).method == "tiles"


def test_rows_within_a_budget_grow_with_it(rng: np.random.Generator) -> None:
    for kernel in (Gaussian(1.0), Linear()):
        problem = Problem.of(rng.standard_normal((400, 6)), LabelGamma.of(np.arange(400) % 2), kernel, 2)
        assert problem.rows_within(1e12) == 400
        few = problem.rows_within(2e3)
        assert 0 < few < 400
        assert problem.rows_within(6e3) > few


def test_a_restricted_problem_is_the_problem_of_its_rows(
    kernel: Kernel, rows: Array, gamma: Gamma, projection: Array
) -> None:
    chosen = np.array([0, 3, 4, 9, 15, 22])
    part = Problem.of(rows, gamma, kernel, 2).restricted(chosen)
    expected = reference.evaluate(rows[chosen], part.gamma, kernel.restricted(chosen, chosen), projection)
    np.testing.assert_allclose(part.evaluate(projection)[0], expected, rtol=1e-10, atol=1e-10)
    assert len(part.X) == 6


def test_a_problem_that_goes_back_to_all_pairs_has_no_tolerance(monkeypatch: pytest.MonkeyPatch) -> None:
    """A certificate would evaluate a sample with truncated features if it had."""
    monkeypatch.setattr(base, "SMALL_FLOPS", 0.0)
    rng = np.random.default_rng(5)
    X, W = rng.standard_normal((800, 6)), np.eye(6)[:, :2]
    problem = Problem.of(X, LabelGamma.of(np.arange(800) % 3), Gaussian(3.0), 2)
    truncated = problem.within([1e-4], W)
    assert (truncated.method, truncated.tolerance) == ("features", 1e-4)
    for exact in (truncated.within([1e-40], W), truncated.by_all_pairs()):
        assert (exact.method, exact.tolerance, exact.resolution) == ("tiles", 0.0, 0.0)


@pytest.fixture
def with_far_rows(monkeypatch: pytest.MonkeyPatch) -> Problem:
    """A problem of 3,000 rows, 20 of which lie far out."""
    monkeypatch.setattr(base, "SMALL_FLOPS", 0.0)
    X = np.random.default_rng(5).standard_normal((3_000, 6))
    X[:20] *= 15
    return Problem.of(X, LabelGamma.of((X[:, 0] > 0).astype(int)), Gaussian(3.0), 2)


def test_the_pairs_of_a_few_far_rows_are_exact(with_far_rows: Problem) -> None:
    W = np.eye(6)[:, :2]
    found = with_far_rows.within([1e-8, 1e-4], W)
    assert isinstance(found.strategy, TruncatedFeatures)
    assert found.strategy.far is not None
    lengths = np.linalg.norm((with_far_rows.X - with_far_rows.X.mean(axis=0)) @ W, axis=1)
    assert set(np.argsort(lengths)[-15:]) <= set(found.strategy.far)
    exact, J = with_far_rows.half_gradient(W)
    half_gradient, objective = found.half_gradient(W)
    bound = found.error_bound(W)
    assert np.linalg.norm(half_gradient - exact) <= bound.gradient <= 1e-8 * np.linalg.norm(exact)
    assert abs(objective - J) <= bound.objective + 1e-12 * J
    assert 2 * found.half_gradient_flops <= with_far_rows.half_gradient_flops


def test_far_rows_must_save_much(with_far_rows: Problem, monkeypatch: pytest.MonkeyPatch) -> None:
    W = np.eye(6)[:, :2]
    without = with_far_rows.restricted(np.arange(20, 3_000)).within([1e-8], W).strategy
    assert isinstance(without, TruncatedFeatures)
    assert without.far is None
    monkeypatch.setattr(plan, "FAR_GAIN", 1_000)
    assert with_far_rows.within([1e-8], W).method == "tiles"


def test_a_tight_tolerance_may_cost_a_few_times_more(with_far_rows: Problem, monkeypatch: pytest.MonkeyPatch) -> None:
    W = np.eye(6)[:, :2]
    assert with_far_rows.within([1e-8, 1e-4], W).tolerance == 1e-8
    monkeypatch.setattr(plan, "PREFERENCE", 1)
    assert with_far_rows.within([1e-8, 1e-4], W).tolerance == 1e-4


def test_the_sample_that_sizes_are_estimated_from_is_that_of_the_seed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(base, "SMALL_FLOPS", 0.0)
    X, W = np.random.default_rng(5).standard_normal((800, 6)), np.eye(6)[:, :2]
    gamma, samples = LabelGamma.of(np.arange(800) % 3), []
    monkeypatch.setattr(LabelGamma, "sample", lambda _, count, rng: samples.append(rng.random()) or np.arange(count))
    for seed in (0, 0, 1):
        Problem.of(X, gamma, Gaussian(3.0), 2, options=EvaluationOptions(seed=seed)).within([1e-4], W)
    assert samples[0] == samples[1] != samples[2]


def test_a_gamma_that_depends_on_w_has_a_problem_of_its_own_on_samples_too(rng: np.random.Generator) -> None:
    X = rng.standard_normal((60, 4))
    problem = Problem.of(X, ClassNeighborGamma.of(np.arange(60) % 3), Gaussian(1.0), 2)
    assert isinstance(problem, NeighborProblem)
    assert isinstance(problem.sampled(30, rng), NeighborProblem)
    assert problem.within([1e-4], np.eye(4)[:, :2]) is problem


def test_threads_that_share_projections_each_get_their_own(rng: np.random.Generator) -> None:
    X = rng.standard_normal((50, 5))
    shared, bases = Projections(X), [np.linalg.qr(rng.standard_normal((5, 2)))[0] for _ in range(8)]

    def are_right(W: Array) -> bool:
        return all(np.allclose(shared.projected(W), X @ W, atol=1e-12) for _ in range(300))

    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(are_right, bases))
