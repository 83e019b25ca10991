"""Linear and squared kernels: the eigenvectors of a Φ of low rank beside those of all of Φ."""

import numpy as np
import pytest

from ism_core import Linear, Squared, Supervised, solve
from ism_core.gamma import Gamma, LabelGamma
from ism_core.kernels import Kernel
from ism_core.linalg.subspaces import dominant, largest_angle
from ism_core.objective import Problem
from ism_core.solver.starts import constant_derivative_maximum

CONSTANT_DERIVATIVE = [Linear(), Squared(), 0.5 * Linear() + 2.0 * Squared()]


def labelled(rng: np.random.Generator, q: int, kernel: Kernel, n: int = 90, d: int = 40) -> Problem:
    y = np.arange(n) % 3
    X = rng.standard_normal((n, d)) * np.geomspace(2, 0.3, d)
    X[:, :5] += rng.standard_normal((3, 5))[y]
    return Problem.of(X, LabelGamma.of(y), kernel, q)


@pytest.mark.parametrize("q", [1, 2])
@pytest.mark.parametrize("kernel", CONSTANT_DERIVATIVE, ids=repr)
def test_the_point_is_the_dominant_subspace_of_phi(kernel: Kernel, q: int, rng: np.random.Generator) -> None:
    problem = labelled(rng, q, kernel)
    point, gap = constant_derivative_maximum(problem)
    phi, J = problem.evaluate(point.W)
    W, expected = dominant(phi, q, problem)
    assert largest_angle(W, point.W) < 1e-7
    assert gap == pytest.approx(expected, abs=1e-9 * np.linalg.norm(phi))
    assert point.objective == pytest.approx(J, rel=1e-12)
    np.testing.assert_allclose(point.phi, phi, atol=1e-10 * np.abs(phi).max())
    np.testing.assert_allclose(point.half_gradient, phi @ point.W, atol=1e-10 * np.abs(phi).max())
    assert point.gradient < 1e-12


@pytest.mark.parametrize("kernel", CONSTANT_DERIVATIVE, ids=repr)
def test_what_is_left_is_filled_up_with_the_widest_directions(kernel: Kernel, rng: np.random.Generator) -> None:
    problem = labelled(rng, 4, kernel)
    point, gap = constant_derivative_maximum(problem)
    phi, _ = problem.evaluate(point.W)
    assert gap == 0
    assert largest_angle(dominant(phi, 4, problem)[0], point.W) < 1e-3
    np.testing.assert_allclose(point.W.T @ point.W, np.eye(4), atol=1e-12)
    assert (np.diff(point.eigenvalues) <= 0).all()


@pytest.mark.parametrize("kernel", CONSTANT_DERIVATIVE, ids=repr)
def test_a_gamma_whose_rows_do_not_add_up_to_nothing_is_solved_too(kernel: Kernel, rng: np.random.Generator) -> None:
    X = rng.standard_normal((60, 30))
    gamma = Gamma(np.abs(rng.standard_normal((60, 2))), np.array([1.0, -0.5]))
    problem = Problem.of(X, gamma, kernel, 2)
    point, gap = constant_derivative_maximum(problem)
    phi, J = problem.evaluate(point.W)
    W, expected = dominant(phi, 2, problem)
    assert largest_angle(W, point.W) < 1e-7
    assert point.objective == pytest.approx(J, rel=1e-10)
    assert gap == pytest.approx(expected, abs=1e-9 * np.linalg.norm(phi))


def test_directions_that_no_row_has_anything_of_are_kept_out(rng: np.random.Generator) -> None:
    X = np.zeros((60, 40))
    X[:, 10:16] = rng.standard_normal((60, 6))
    result = solve(X, Supervised(np.arange(60) % 2), "linear", 5)
    assert np.abs(result.W[:10]).max() < 1e-9
    assert np.abs(result.W[16:]).max() < 1e-9
    assert "J depends on 1 of the 5 axes only" in result.warnings[0]


def test_fewer_directions_than_asked_for_are_told(rng: np.random.Generator) -> None:
    X = np.zeros((60, 40))
    X[:, 10:12] = rng.standard_normal((60, 2))
    result = solve(X, Supervised(np.arange(60) % 2), "linear", 3)
    assert "X varies along 2 of its 40 dimensions only" in result.warnings[0]
