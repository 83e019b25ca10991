"""Polynomial kernels from moments: the same J and Φ as from the rows, and leaps that lead where steps do."""

import importlib

import numpy as np
import pytest

from ism_core import Gaussian, Linear, Polynomial, Supervised, iter_solve
from ism_core.arrays import Array
from ism_core.gamma import Gamma, LabelGamma
from ism_core.kernels import Kernel
from ism_core.linalg import row_passes as rows
from ism_core.linalg.subspaces import largest_angle, orthonormal
from ism_core.objective import Problem
from ism_core.solver.ascent import PolynomialMoments, ascend, can_leap, has_moments
from tests.ism_core.conftest import Labelled

ascents = importlib.import_module("ism_core.solver.ascent.ascend")

POLYNOMIALS = {
    "cubic": Polynomial(3, 1.0, 0.3),
    "without a constant": Polynomial(3, 0.0, 0.3),
    "square": Polynomial(2, 2.0, 0.3),
    "fourth power": Polynomial(4, 0.5, 0.1),
    "a sum": Polynomial(3, 1.0, 0.2) + 0.5 * Polynomial(2, 0.0, 0.5),
}


@pytest.fixture(params=["labels", "signed"])
def weights(request: pytest.FixtureRequest, rng: np.random.Generator) -> Gamma:
    if request.param == "labels":
        return LabelGamma.of(np.arange(150) % 3)
    return Gamma(rng.standard_normal((150, 4)), np.array([1.0, 2.0, -1.0, -0.5]))


def frame(rng: np.random.Generator, rows: int, columns: int) -> Array:
    return np.linalg.qr(rng.standard_normal((rows, columns)))[0]


@pytest.mark.parametrize("name", POLYNOMIALS)
def test_within_the_space_phi_and_objective_are_those_of_the_rows(
    name: str, weights: Gamma, rng: np.random.Generator
) -> None:
    problem = Problem.of(rng.standard_normal((150, 20)) + 0.3, weights, POLYNOMIALS[name], 3)
    basis, V = frame(rng, 20, 8), frame(rng, 8, 3)
    moments = PolynomialMoments.of(problem, basis)
    assert moments is not None
    phi, objective = moments.evaluate(V)
    expected, J = problem.evaluate(basis @ V)
    np.testing.assert_allclose(phi, basis.T @ expected @ basis, atol=1e-12 * np.abs(expected).max())
    assert objective == pytest.approx(J, rel=1e-12)
    np.testing.assert_allclose(moments.half_gradient(V)[0], phi @ V)
    Z = problem.X @ basis
    np.testing.assert_allclose(moments.scatter, np.cov(Z.T, bias=True) * len(Z), atol=1e-10)


def test_rows_that_a_pass_has_projected_are_not_projected_again(
    weights: Gamma, rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch
) -> None:
    problem = Problem.of(rng.standard_normal((150, 20)), weights, Polynomial(2, 1.0, 0.1), 3)
    basis, outside = frame(rng, 20, 8), frame(rng, 20, 3)
    PolynomialMoments.of(problem, basis)
    inside = basis @ frame(rng, 8, 3)
    anew = []
    monkeypatch.setattr(rows, "projected", lambda X, W: anew.append(W) or X @ W)
    for W in (inside, outside):
        np.testing.assert_allclose(problem.projections.projected(W), problem.X @ W, atol=1e-13)
    assert [W is outside for W in anew] == [True]


@pytest.mark.parametrize("kernel", [Gaussian(1.0), Linear(), Polynomial(3) + Gaussian(1.0), Polynomial(1, 1.0, 1.0)])
def test_other_kernels_have_no_moments(kernel: Kernel, blobs: Labelled) -> None:
    fitted = kernel.fitted_to(blobs.X, np.random.default_rng(0))
    problem = Problem.of(blobs.X, LabelGamma.of(blobs.y), fitted, 2)
    assert not has_moments(problem, 4)
    assert PolynomialMoments.of(problem, np.eye(5)[:, :4]) is None
    assert not can_leap(problem)


def test_moments_that_would_not_fit_are_not_made(blobs: Labelled) -> None:
    problem = Problem.of(blobs.X, LabelGamma.of(blobs.y), Polynomial(3, 1.0, 1.0), 2)
    assert has_moments(problem, 50)
    assert not has_moments(problem, 5_000)
    assert not has_moments(
        Problem.of(problem.X, problem.gamma, Polynomial(20, 1.0, 1.0), problem.q), 2
    )  # 3^19 products on the way


@pytest.fixture
def heavy(rng: np.random.Generator) -> Problem:
    """Classes that differ along a few directions, in 60 columns of which some are almost always 0."""
    y = np.arange(3_000) % 3
    X = rng.standard_normal((3_000, 60))
    X[:, :4] += rng.standard_normal((3, 4))[y]
    X[:, 50:] *= rng.random((3_000, 10)) < 0.01
    X[:, 50:] /= X[:, 50:].std(axis=0)
    return Problem.of(X, LabelGamma.of(y), Polynomial(3, 1.0, 1 / 60), 3)


def test_leaps_end_where_steps_stay(heavy: Problem, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Problem, "is_small", False)
    W = frame(np.random.default_rng(5), 60, 3)
    assert can_leap(heavy)
    leapt = ascend(heavy, W, 1e-4, 50)
    assert leapt.stop.converged
    assert leapt.point.gradient < 1e-5
    monkeypatch.setattr(ascents, "can_leap", lambda problem: False)
    stepped = ascend(heavy, leapt.point.W, 1e-6, 300)
    assert stepped.point.objective == pytest.approx(leapt.point.objective, rel=1e-9)
    assert largest_angle(leapt.point.W, stepped.point.W) < 1e-4


def test_a_leap_takes_fewer_passes_over_the_rows_than_steps(heavy: Problem, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Problem, "is_small", False)
    W = frame(np.random.default_rng(5), 60, 3)
    leapt = ascend(heavy, W, 1e-3, 300).iteration
    monkeypatch.setattr(ascents, "can_leap", lambda problem: False)
    assert leapt < ascend(heavy, W, 1e-3, 300).iteration


def test_a_search_within_a_space_tells_j_of_all_rows_and_finds_their_far_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    """4 of 2,000 rows hold the highest maximum: a sample would have one of them or none."""
    rng = np.random.default_rng(3)
    y = np.arange(2_000) % 2
    X = rng.standard_normal((2_000, 30))
    X[:, 0] += 1.5 * y
    direction = frame(rng, 30, 1)
    X[:8:2] += 14 * direction.T
    kernel = Polynomial(3, 1.0, 1.0)
    monkeypatch.setattr(Problem, "is_small", False)
    steps = list(iter_solve(X, Supervised(y), kernel, 1))
    problem = Problem.of(X, LabelGamma.of(y), kernel, 1)
    searched = [step for step in steps if step.stage == "search"]
    assert len(searched) >= 3
    for step in searched:
        assert step.objective == pytest.approx(problem.objective(step.W), rel=1e-9)
    assert largest_angle(steps[-1].W, direction) < 0.3


def test_orthonormal_leaves_out_what_is_there_already(rng: np.random.Generator) -> None:
    V = rng.standard_normal((10, 3))
    basis = orthonormal(np.hstack([V, V @ rng.standard_normal((3, 2)), np.zeros((10, 1)), np.eye(10)]), 6)
    np.testing.assert_allclose(basis.T @ basis, np.eye(6), atol=1e-14)
    np.testing.assert_allclose(V, basis[:, :3] @ (basis[:, :3].T @ V), atol=1e-12)
