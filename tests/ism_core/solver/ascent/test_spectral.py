"""The iteration from one W: J never falls, and it ends where it says it does."""

from itertools import pairwise

import numpy as np
import pytest

from ism_core import Gaussian, Stop
from ism_core.arrays import Array
from ism_core.gamma import Gamma, LabelGamma
from ism_core.linalg.subspaces import dominant, largest_angle
from ism_core.objective import Problem
from ism_core.solver.ascent import EvaluatedPoint, iter_ascend
from ism_core.solver.ascent.loop import Move
from ism_core.solver.result import ReturnCapture, Step
from tests.ism_core.conftest import Labelled
from tests.ism_core.family import EVERY


def climb(
    problem: Problem, W: Array, delta: float = 0.01, max_iter: int = 300
) -> tuple[list[Step], EvaluatedPoint, Stop]:
    steps = ReturnCapture(iter_ascend(problem, W, delta, max_iter))
    return list(steps), steps.value.point, steps.value.stop


def falls(steps: list[Step]) -> float:
    """The largest fall of J from one step to the next, as a share of it."""
    J = np.array([step.objective for step in steps])
    return float(np.max((J[:-1] - J[1:]) / np.abs(J[1:]), initial=0.0))


def start(d: int, q: int, seed: int = 0) -> Array:
    return np.linalg.qr(np.random.default_rng(seed).standard_normal((d, q)))[0]


@pytest.fixture
def wdbc_gaussian(wdbc: Labelled) -> Problem:
    kernel = Gaussian().fitted_to(wdbc.X, np.random.default_rng(0))
    return Problem.of(wdbc.X, LabelGamma.of(wdbc.y), kernel, 2)


@pytest.mark.parametrize("name", EVERY)
@pytest.mark.parametrize("seed", [0, 1])
def test_objective_never_falls_for_a_fixed_gamma(name: str, seed: int, blobs: Labelled) -> None:
    kernel = EVERY[name].fitted_to(blobs.X, np.random.default_rng(0))
    steps, point, stop = climb(Problem.of(blobs.X, LabelGamma.of(blobs.y), kernel, 2), start(5, 2, seed))
    assert falls(steps) < 1e-12
    assert stop.converged
    assert point.objective == steps[-1].objective
    assert steps[-1].objective > steps[0].objective


@pytest.mark.parametrize("name", EVERY)
def test_objective_never_falls_for_a_gamma_with_both_signs(name: str, blobs: Labelled) -> None:
    rng = np.random.default_rng(4)
    kernel = EVERY[name].fitted_to(blobs.X, rng)
    gamma = Gamma(rng.standard_normal((60, 4)), np.array([1.0, 0.5, -1.0, -3.0]))
    steps, _, _ = climb(Problem.of(blobs.X, gamma, kernel, 2), start(5, 2))
    assert falls(steps) < 1e-12


def test_settled_eigenvalues_are_no_end_while_the_gradient_is_large(wdbc_gaussian: Problem) -> None:
    far = EvaluatedPoint.at(wdbc_gaussian, start(30, 2))
    assert not Move(1, far, before=far).is_within(0.01)
    _, end, _ = climb(wdbc_gaussian, far.W, delta=0.001)
    assert Move(1, end, before=end).is_within(0.01)


def test_plain_iteration_falls_and_flips_on_wdbc_where_ours_climbs(wdbc_gaussian: Problem) -> None:
    """Replacing W by the eigenvectors of Φ(W) turns by a right angle and back for ever; the shift settles."""
    problem = wdbc_gaussian
    W = dominant(problem.initial_surrogate(), 2, problem)[0]
    plain, angles = [problem.objective(W)], []
    V = W
    for _ in range(12):
        before, V = V, dominant(problem.evaluate(V)[0], 2, problem)[0]
        plain.append(problem.objective(V))
        angles.append(largest_angle(before, V))
    assert min(np.diff(plain)) < 0
    assert angles[-1] > 1

    steps, point, stop = climb(problem, W)
    assert falls(steps) < 1e-12
    assert stop.converged
    assert point.objective > max(plain)


def test_a_step_tells_how_far_it_went(blobs: Labelled) -> None:
    kernel = Gaussian().fitted_to(blobs.X, np.random.default_rng(0))
    steps, point, _ = climb(Problem.of(blobs.X, LabelGamma.of(blobs.y), kernel, 2), start(5, 2), delta=1e-4)
    assert len(steps) > 3
    assert steps[0].change is steps[0].angle is None
    for before, after in pairwise(steps):
        moved = np.linalg.norm(after.eigenvalues - before.eigenvalues) / np.linalg.norm(after.eigenvalues)
        assert after.change == pytest.approx(moved)
        assert after.angle == pytest.approx(largest_angle(before.W, after.W), abs=1e-8)
    assert [step.iteration for step in steps] == list(range(len(steps)))
    np.testing.assert_array_equal(steps[-1].W, point.W)


def test_convergence_means_that_change_angle_and_gradient_are_within_delta(blobs: Labelled) -> None:
    kernel = Gaussian().fitted_to(blobs.X, np.random.default_rng(0))
    problem = Problem.of(blobs.X, LabelGamma.of(blobs.y), kernel, 2)
    for delta in (0.1, 1e-2, 1e-4, 1e-6):
        steps, point, stop = climb(problem, start(5, 2), delta)
        assert stop is Stop.CONVERGED
        assert steps[-1].change < delta
        assert steps[-1].angle < delta / 10
        assert point.gradient < delta / 10


def test_a_point_that_is_its_own_surrogates_eigenspace_is_a_fixed_point(blobs: Labelled) -> None:
    problem = Problem.of(blobs.X, LabelGamma.of(blobs.y), EVERY["linear"], 2)
    W = dominant(problem.evaluate(start(5, 2))[0], 2, problem)[0]
    steps, point, stop = climb(problem, W)
    assert stop is Stop.FIXED_POINT
    assert len(steps) == 1
    assert largest_angle(W, point.W) < 1e-12


def test_max_iter_ends_the_climb(blobs: Labelled) -> None:
    kernel = Gaussian().fitted_to(blobs.X, np.random.default_rng(0))
    steps, _, stop = climb(Problem.of(blobs.X, LabelGamma.of(blobs.y), kernel, 2), start(5, 2), 1e-8, max_iter=2)
    assert stop is Stop.MAX_ITER
    assert [step.iteration for step in steps] == [0, 1, 2]


def test_a_point_turns_its_columns_to_eigenvectors_in_falling_order(rows: Array, gamma: Gamma) -> None:
    problem = Problem.of(rows, gamma, Gaussian(1.5), 3)
    W = start(4, 3)
    point = EvaluatedPoint.at(problem, W)
    assert largest_angle(W, point.W) < 1e-12
    np.testing.assert_allclose(point.W.T @ point.phi @ point.W, np.diag(point.eigenvalues), atol=1e-10)
    assert (np.diff(point.eigenvalues) <= 0).all()
    assert point.objective == pytest.approx(problem.objective(W), rel=1e-12)


def test_the_gradient_of_a_point_is_that_of_j_along_the_manifold(rows: Array, gamma: Gamma) -> None:
    problem = Problem.of(rows, gamma, Gaussian(1.5), 2)
    point = EvaluatedPoint.at(problem, start(4, 2))
    inward = 2 * problem.half_gradient(point.W)[0]
    along = inward - point.W @ (point.W.T @ inward)
    assert point.gradient == pytest.approx(np.linalg.norm(along) / (2 * np.linalg.norm(point.phi)), rel=1e-10)
    assert EvaluatedPoint.at(Problem.of(rows, gamma, Gaussian(1.5), 4), start(4, 4)).gradient < 1e-14
