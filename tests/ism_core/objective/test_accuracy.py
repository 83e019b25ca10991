"""What a solve may save by being less exact, and what it then says about its error."""

from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from ism_core import (
    Gaussian,
    InvalidInput,
    Linear,
    Multiquadratic,
    Polynomial,
    RelativeGaussian,
    SemiSupervised,
    Squared,
    Supervised,
    Unsupervised,
    solve,
)
from ism_core.arrays import Array
from ism_core.gamma import Gamma, LabelGamma
from ism_core.kernels import Kernel
from ism_core.linalg.subspaces import largest_angle
from ism_core.metrics import nmi
from ism_core.objective.data import EvaluationOptions
from ism_core.objective.problem import Problem
from ism_core.objective.strategies import ExactFeatures
from ism_core.objective.strategies import base as strategies_module
from ism_core.objective.truncation import Magnitudes
from ism_core.solver.ascent.evaluated_point import EvaluatedPoint
from ism_core.solver.certificate import error, is_exact_enough
from tests.ism_core.conftest import Labelled, Planted, TwoClusterings

EPS = float(np.finfo(np.float64).eps)


@pytest.fixture(scope="module")
def many() -> Labelled:
    """800 rows in three classes: more than features of a gaussian in the plane, so that those pay."""
    rng = np.random.default_rng(5)
    y = np.arange(800) % 3
    X = rng.standard_normal((800, 6)) * [1.0, 1.0, 0.3, 0.3, 2.0, 2.0]
    X[:, 0] += 2.0 * y
    X[:, 1] += 3.0 * (y == 1)
    return Labelled(X, y)


@pytest.fixture
def nothing_is_small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(strategies_module, "SMALL_FLOPS", 0.0)


def of(data: Labelled, kernel: Kernel, gamma: Gamma | None = None, options: EvaluationOptions | None = None) -> Problem:
    return Problem.of(data.X, gamma or LabelGamma.of(data.y), kernel, 2, options=options)


def maps_of(problem: Problem) -> Any:
    assert isinstance(problem.strategy, ExactFeatures)
    return problem.strategy.maps


def axes(*columns: int) -> Array:
    return np.eye(6)[:, columns]


def true_errors(problem: Problem, W: Array) -> Magnitudes:
    """Of J and Φ(W)W, against sums over all pairs, relative to them."""
    (half_gradient, J), (exact, exact_J) = (each.half_gradient(W) for each in (problem, problem.by_all_pairs()))
    return Magnitudes(abs(J / exact_J - 1), float(np.linalg.norm(half_gradient - exact) / np.linalg.norm(exact)))


@pytest.mark.usefixtures("nothing_is_small")
@pytest.mark.parametrize("kernel", [Gaussian(3.0), Gaussian(4.0) + Linear(), Gaussian(3.0) + Gaussian(5.0)], ids=repr)
@pytest.mark.parametrize("signed", [False, True])
def test_features_are_cut_where_the_bound_is_within_the_tolerance_and_it_holds(
    kernel: Kernel, signed: bool, many: Labelled
) -> None:
    rng = np.random.default_rng(0)
    gamma = Gamma(rng.standard_normal((800, 3)), np.array([1.0, -0.6, 0.3])) if signed else None
    W = np.linalg.qr(rng.standard_normal((6, 2)))[0]
    counts = []
    for tolerance in (1e-3, 1e-5, 1e-8):
        problem = of(many, kernel, gamma).within([tolerance], W)
        assert problem.method == "features"
        found = error(problem, EvaluatedPoint.at(problem, W))
        assert found.kind == "bound"
        assert (
            is_exact_enough(error(problem, EvaluatedPoint.at(problem, W)), problem.tolerance) or signed
        )  # whose J may be next to nothing, on a sample above all
        true = true_errors(problem, W)
        assert true.objective <= found.objective + 1e-12
        assert true.gradient <= found.gradient + 1e-12
        counts.append(max(each.derivative.count for each in maps_of(problem)))
    assert counts[0] < counts[1] < counts[2]


@pytest.mark.usefixtures("nothing_is_small")
def test_the_first_tolerance_that_pays_is_taken(many: Labelled) -> None:
    problem, W = of(many, Gaussian(3.0)), axes(0, 1)
    tight, loose, both, none = (
        problem.within(tolerances, W) for tolerances in ([1e-8], [1e-4], [1e-40, 1e-4], [1e-40])
    )
    assert (tight.tolerance, loose.tolerance) == (1e-8, 1e-4)
    assert maps_of(both) == maps_of(loose) != maps_of(tight)
    assert none.method == problem.within([0.0], W).method == "tiles"


@pytest.mark.usefixtures("nothing_is_small")
@pytest.mark.parametrize("kernel", [Multiquadratic(), RelativeGaussian(), Gaussian(3.0) + Multiquadratic()], ids=repr)
def test_kernels_that_cannot_be_cut_stay_with_tiles(kernel: Kernel, many: Labelled) -> None:
    fitted = kernel.fitted_to(many.X, np.random.default_rng(0))
    assert of(many, fitted).within([1e-4], axes(0, 1)).method == "tiles"


@pytest.mark.parametrize("kernel", [Linear(), Squared(), Polynomial(3, 1.0, 0.1), Linear() + Squared()], ids=repr)
def test_exact_features_are_not_touched(kernel: Kernel, many: Labelled) -> None:
    for options in (EvaluationOptions(), EvaluationOptions(features=64)):
        problem = of(many, kernel, options=options)
        assert problem.within([1e-4], axes(0, 1)) is problem


def test_a_small_problem_is_not_cut(many: Labelled) -> None:
    problem = of(many, Gaussian(3.0))
    assert problem.is_small
    assert problem.within([1e-4], axes(0, 1)).method == "tiles"


def test_features_are_cut_anew_for_another_w(many: Labelled, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where they are so cheap that the problem counts as small with them."""
    narrow, wide = axes(2, 3), axes(4, 0)
    problem = of(many, Gaussian(3.0))
    monkeypatch.setattr(strategies_module, "SMALL_FLOPS", 0.9 * problem.flops)
    once = problem.within([1e-6], narrow)
    assert once.is_small
    again = once.within([1e-6], wide)
    assert not is_exact_enough(error(once, EvaluatedPoint.at(once, wide)), once.tolerance)
    assert is_exact_enough(error(again, EvaluatedPoint.at(again, wide)), again.tolerance)


@pytest.mark.usefixtures("nothing_is_small")
def test_a_solve_tells_how_far_off_it_may_be(many: Labelled) -> None:
    supervised = Supervised(many.y)
    exact = solve(many.X, supervised, Gaussian(3.0), 2, delta=1e-3, tolerance=0)
    assert exact.method == "tiles"
    assert (exact.error.kind, exact.error.objective, exact.error.gradient) == ("rounding", EPS, EPS)
    usual = solve(many.X, supervised, Gaussian(3.0), 2, delta=1e-3)
    assert usual.error.gradient < 1e-5
    for tolerance in (1e-8, 1e-5):
        result = solve(many.X, supervised, Gaussian(3.0), 2, delta=1e-3, tolerance=tolerance)
        J = of(many, Gaussian(3.0)).objective(result.W)
        assert (result.method, result.error.kind) == ("features", "bound")
        assert type(result.error.objective) is type(result.error.gradient) is float
        assert 0 < result.error.gradient < tolerance
        assert abs(result.objective / J - 1) <= result.error.objective < tolerance
        assert pytest.approx(exact.objective, rel=1e-4) == J
        assert largest_angle(result.W, exact.W) < 1e-2


@pytest.mark.parametrize("kernel", [Gaussian(), Multiquadratic(), Gaussian() + Polynomial()], ids=repr)
@pytest.mark.parametrize("paradigm", ["supervised", "unsupervised"])
def test_random_features_are_taken_where_asked_for_and_their_error_is_estimated(
    kernel: Kernel, paradigm: str, planted: Planted
) -> None:
    """On problems that are small, too."""
    asked = Supervised(planted.labels) if paradigm == "supervised" else Unsupervised(3)
    estimates = []
    for count in (32, 512):
        result = solve(planted.X, asked, kernel, 2, approximation={"features": count})
        assert result.method == "random features"
        assert result.error.kind == "estimate"
        assert 0 < result.error.objective < 0.2
        assert 0 < result.error.gradient < 0.5
        estimates.append(result.error.gradient)
        if paradigm == "supervised":
            exact = Problem.of(planted.X, LabelGamma.of(planted.labels), result.kernel, 2).objective(result.W)
            assert abs(result.objective / exact - 1) == pytest.approx(result.error.objective, rel=0.2, abs=1e-5)
    assert estimates[1] < estimates[0]


@pytest.mark.parametrize("kernel", [Gaussian(), Multiquadratic()], ids=repr)
def test_random_features_find_what_all_pairs_find(
    kernel: Kernel, planted: Planted, two_clusterings: TwoClusterings
) -> None:
    asked = {"features": 2_048}
    exact, random = (
        solve(planted.X, Supervised(planted.labels), kernel, 2, approximation=each) for each in (None, asked)
    )
    assert largest_angle(exact.W, random.W) < 0.05
    labels = solve(two_clusterings.X, Unsupervised(2), kernel, 1, approximation=asked).labels
    assert nmi(labels, two_clusterings.clear) > 0.95


@pytest.mark.parametrize("kernel", [Gaussian(1.5), Multiquadratic()], ids=repr)
@pytest.mark.parametrize("q", [1, 2, 4])
def test_j_of_random_features_is_of_the_span_and_what_is_pulled_is_its_gradient(
    q: int, kernel: Kernel, blobs: Labelled, rng: np.random.Generator
) -> None:
    """Though the features are those of one basis of W."""
    start, W = (np.linalg.qr(rng.standard_normal((5, q)))[0] for _ in range(2))
    turn = np.linalg.qr(rng.standard_normal((q, q)))[0]
    problem = Problem.of(blobs.X, LabelGamma.of(blobs.y), kernel, q, options=EvaluationOptions(features=64)).within(
        [], start
    )
    phi, J = problem.evaluate(W)
    assert problem.objective(W) == pytest.approx(J, rel=1e-12)
    assert problem.objective(W @ turn) == pytest.approx(J, rel=1e-12)
    half_gradient, same = problem.half_gradient(W)
    assert same == pytest.approx(J, rel=1e-12)
    np.testing.assert_allclose(
        problem.half_gradient(W @ turn)[0], half_gradient @ turn, atol=1e-11 * np.abs(half_gradient).max()
    )
    np.testing.assert_allclose(phi @ W, half_gradient, atol=1e-11 * np.abs(half_gradient).max())
    numerical = np.zeros_like(W)
    for index in np.ndindex(W.shape):
        move = np.zeros_like(W)
        move[index] = 1e-6
        numerical[index] = (problem.objective(W + move) - problem.objective(W - move)) / 2e-6
    np.testing.assert_allclose(2 * half_gradient, numerical, atol=1e-7 * np.abs(half_gradient).max())


def test_ascents_by_random_features_come_to_an_end(wine: Labelled) -> None:
    for kernel in (Gaussian(), Multiquadratic()):
        for count in (128, 1_024):
            result = solve(wine.X, Supervised(wine.y), kernel, 2, approximation={"features": count})
            assert result.converged
            J = [step.objective for step in result.steps]
            assert all(after >= before * (1 - 1e-12) for before, after in pairwise(J))
    assert solve(wine.X, SemiSupervised(wine.y, 3), "gaussian", 2, approximation={"features": 256}).converged


def test_an_estimate_on_a_sample_is_of_the_same_order(many: Labelled, monkeypatch: pytest.MonkeyPatch) -> None:
    problem = of(many, Gaussian(3.0), options=EvaluationOptions(features=64)).within([], axes(0, 1))
    point = EvaluatedPoint.at(problem, axes(0, 1))
    on_all = error(problem, point)
    monkeypatch.setattr("ism_core.solver.certificate.ESTIMATE_ROWS", 300)
    on_some = error(problem, point)
    assert on_some != on_all
    assert on_all.gradient / 3 < on_some.gradient < 3 * on_all.gradient


@pytest.mark.parametrize("kernel", [RelativeGaussian(), Gaussian() + RelativeGaussian()], ids=repr)
def test_local_scales_have_no_random_features(kernel: Kernel, blobs: Labelled) -> None:
    for paradigm in (Supervised(blobs.y), Unsupervised(3)):
        with pytest.raises(InvalidInput, match="relative Gaussian kernel has no random features") as caught:
            solve(blobs.X, paradigm, kernel, 2, approximation={"features": 64})
        assert caught.value.parameter == "approximation"


@pytest.mark.parametrize("kernel", [Gaussian(), RelativeGaussian(), Multiquadratic(), Polynomial()], ids=repr)
def test_single_precision_is_near_double(kernel: Kernel, planted: Planted) -> None:
    double, single = (
        solve(planted.X, Supervised(planted.labels), kernel, 2, delta=1e-3, precision=precision)
        for precision in ("double", "single")
    )
    assert single.converged
    assert single.objective == pytest.approx(double.objective, rel=1e-6)
    assert largest_angle(single.W, double.W) < 3e-4
    assert single.W.dtype == np.float64
    if single.method == "tiles":
        assert single.error.objective == 1e-6


@pytest.mark.parametrize("kernel", [Gaussian(), RelativeGaussian(), Multiquadratic()], ids=repr)
def test_second_derivatives_do_not_drown_in_single_precision(kernel: Kernel, wdbc: Labelled) -> None:
    double, single = (
        solve(wdbc.X, Supervised(wdbc.y), kernel, 2, precision=precision).certificate
        for precision in ("double", "single")
    )
    assert single.second_order
    assert single.curvature == pytest.approx(double.curvature, abs=1e-3)


def test_what_is_asked_for_twice_is_found_twice(many: Labelled) -> None:
    """Random features are those of the seed."""
    one, again, other = (
        solve(many.X, Supervised(many.y), Gaussian(3.0), 2, approximation={"features": 64}, seed=seed)
        for seed in (0, 0, 1)
    )
    np.testing.assert_array_equal(one.W, again.W)
    assert one.objective != other.objective
