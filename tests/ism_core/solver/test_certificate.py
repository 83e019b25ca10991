"""Certificates: what they say is what a dense computation says."""

import numpy as np
import pytest

from ism_core import Gaussian, Linear, Multiquadratic, Polynomial, Supervised, solve
from ism_core.arrays import Array
from ism_core.gamma import Gamma, LabelGamma
from ism_core.kernels import Kernel
from ism_core.objective import Problem
from ism_core.solver.ascent import EvaluatedPoint, ascend
from ism_core.solver.certificate import beyond_saddle, certify
from tests.ism_core.conftest import Labelled
from tests.ism_core.family import NAMES


def dense_curvature(problem: Problem, W: Array, step: float = 1e-3) -> float:
    """The largest second derivative of J along curves on the manifold, over 2‖Φ‖, from J alone."""
    d, q = W.shape
    outside = np.linalg.qr(np.hstack([W, np.random.default_rng(0).standard_normal((d, d - q))]))[0][:, q:]
    directions = [outside[:, [i]] @ np.eye(q)[[j]] for i in range(d - q) for j in range(q)]

    def height(Z: Array) -> float:
        left, _, right = np.linalg.svd(W + Z, full_matrices=False)
        return problem.objective(left @ right)

    def second(Z: Array) -> float:
        return (height(step * Z) - 2 * problem.objective(W) + height(-step * Z)) / step**2

    size = len(directions)
    hessian = np.empty((size, size))
    for a in range(size):
        for b in range(size):
            hessian[a, b] = (second(directions[a] + directions[b]) - second(directions[a] - directions[b])) / 4
    return float(np.linalg.eigvalsh(hessian)[-1]) / (2 * np.linalg.norm(problem.evaluate(W)[0]))


@pytest.mark.parametrize("kernel", NAMES)
def test_a_finished_solve_is_certified(kernel: str, blobs: Labelled) -> None:
    certificate = solve(blobs.X, Supervised(blobs.y), kernel, 2, delta=1e-6).certificate
    assert certificate.gradient < 1e-6
    assert certificate.orthonormality < 1e-12
    assert certificate.second_order
    assert certificate.curvature < 1e-6
    assert certificate.eigengap > 0


@pytest.mark.parametrize("kernel", [Gaussian(2.0), Multiquadratic(), Polynomial(3, 1.0, 0.2)], ids=repr)
def test_curvature_is_the_largest_second_derivative_of_j(kernel: Kernel, blobs: Labelled) -> None:
    result = solve(blobs.X, Supervised(blobs.y), kernel, 2, delta=1e-8)
    problem = Problem.of(blobs.X, LabelGamma.of(blobs.y), kernel, 2)
    dense = dense_curvature(problem, result.W)
    assert dense < 0
    assert result.certificate.curvature == pytest.approx(dense, rel=0.1)
    assert result.certificate.curvature <= dense + 1e-4  # from below


def test_eigengap_is_that_of_the_full_decomposition(blobs: Labelled) -> None:
    result = solve(blobs.X, Supervised(blobs.y), Gaussian(2.0), 2, delta=1e-10)
    phi = Problem.of(blobs.X, LabelGamma.of(blobs.y), Gaussian(2.0), 2).evaluate(result.W)[0]
    values = np.linalg.eigvalsh(phi)[::-1]
    np.testing.assert_allclose(result.eigenvalues, values[:2], rtol=1e-6)
    assert result.certificate.eigengap == pytest.approx(values[1] - values[2], rel=1e-6)


@pytest.fixture(params=[4, 12, 40])
def straight(request: pytest.FixtureRequest) -> Problem:
    """Φ does not depend on W, and has the eigenvalues 1, 4, …, d² along the axes."""
    d = request.param
    return Problem.of(np.eye(d), Gamma(np.eye(d), np.arange(1.0, d + 1) ** 2), Linear(), 2)


@pytest.mark.parametrize("below", [2, 3])
def test_a_stationary_point_that_is_no_maximum_is_told(below: int, straight: Problem) -> None:
    """W spans the largest eigenvector and the second or third next, so that a better one is left outside."""
    d = len(straight.X)
    W = np.eye(d)[:, [d - 1, d - 1 - below]]
    certificate = certify(straight, EvaluatedPoint.at(straight, W), np.random.default_rng(0))
    values = np.arange(1.0, d + 1) ** 2
    assert certificate.gradient < 1e-14
    assert certificate.eigengap == pytest.approx(values[d - 1 - below] - values[d - 2])
    assert not certificate.second_order
    assert certificate.curvature > 0


def test_the_maximum_of_a_straight_kernel_is_told(straight: Problem) -> None:
    d = len(straight.X)
    certificate = certify(straight, EvaluatedPoint.at(straight, np.eye(d)[:, -2:]), np.random.default_rng(0))
    assert certificate.second_order
    assert certificate.eigengap == pytest.approx((d - 1) ** 2 - (d - 2) ** 2)


@pytest.mark.parametrize("seed", range(8))
def test_a_saddle_with_one_way_up_among_many_down_is_told(seed: int) -> None:
    """One of 116 directions rises, by little: the exchange of the last column for the eigenvector next to it."""
    values = np.sort(np.random.default_rng(seed).uniform(0, 1, 60))[::-1]
    problem = Problem.of(np.eye(60), Gamma(np.eye(60), values), Linear(), 2)
    certificate = certify(problem, EvaluatedPoint.at(problem, np.eye(60)[:, [0, 2]]), np.random.default_rng(0))
    assert certificate.eigengap < 0
    assert not certificate.second_order


def test_a_minimum_is_not_taken_for_a_maximum(straight: Problem) -> None:
    certificate = certify(
        straight, EvaluatedPoint.at(straight, np.eye(len(straight.X))[:, :2]), np.random.default_rng(0)
    )
    assert not certificate.second_order


def test_a_saddle_of_a_curved_kernel_is_told(blobs: Labelled) -> None:
    """Columns that mean nothing to Γ leave W = their axes stationary, far from the maximum."""
    X = np.column_stack([blobs.X, np.tile([1.0, -1.0, 0.0], 20).repeat(1)])
    symmetric = np.vstack([X, X * [1, 1, 1, 1, 1, -1]])
    problem = Problem.of(symmetric, LabelGamma.of(np.tile(blobs.y, 2)), Gaussian(2.0), 1)
    point = EvaluatedPoint.at(problem, np.eye(6)[:, [5]])
    certificate = certify(problem, point, np.random.default_rng(0))
    assert certificate.gradient < 1e-10
    assert not certificate.second_order


def test_nothing_is_outside_where_q_is_d(blobs: Labelled) -> None:
    certificate = solve(blobs.X, Supervised(blobs.y), "gaussian", 5).certificate
    assert certificate.eigengap is certificate.curvature is None
    assert certificate.second_order


def beside_a_saddle() -> tuple[Problem, Array]:
    """Two classes that coincide along the first axis, which lies in the middle between two maxima of J."""
    noise = 0.1 * np.random.default_rng(0).standard_normal((60, 2))
    noise = np.vstack([noise, noise * [1, -1]])
    centers = np.array([[-1, 0.5], [-1, -0.5], [1, 0]])
    X = (noise + centers[:, None]).reshape(-1, 2)
    problem = Problem.of(X, LabelGamma.of(np.repeat([0, 1, 2], 120)), Gaussian(0.5), 1)
    return problem, np.array([[1.0], [1e-5]])


def test_a_saddle_point_has_a_higher_point_beyond_it_and_a_maximum_has_none() -> None:
    problem, W = beside_a_saddle()
    saddle = ascend(problem, W, 0.01, 50)
    assert saddle.stop.converged, "otherwise this test shows nothing"
    higher = beyond_saddle(problem, saddle.point, np.random.default_rng(0))
    assert higher is not None
    top = ascend(problem, higher, 1e-6, 50).point
    assert top.objective > 1.2 * saddle.point.objective
    assert beyond_saddle(problem, top, np.random.default_rng(0)) is None


def test_the_certificate_of_an_ascent_that_stopped_beside_a_saddle_says_so() -> None:
    problem, W = beside_a_saddle()
    halted, reached = (ascend(problem, W, delta, 50) for delta in (0.01, 1e-8))
    assert halted.stop.converged
    assert not certify(problem, halted.point, np.random.default_rng(0)).second_order
    assert certify(problem, reached.point, np.random.default_rng(0)).second_order
    assert reached.point.objective > 1.2 * halted.point.objective
