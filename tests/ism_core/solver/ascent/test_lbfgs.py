"""Up a J whose Γ follows W, by gradients alone."""

from itertools import pairwise

import numpy as np
import pytest

from ism_core import Gaussian
from ism_core.arrays import Array
from ism_core.objective import ClassNeighborGamma, Problem
from ism_core.solver.ascent import Ascent, LbfgsAscent, iter_moves
from ism_core.solver.ascent.lbfgs import GradientPoint
from ism_core.solver.result import ReturnCapture, Step, Stop
from ism_core.solver.starts.candidates import initial_surrogate
from tests.ism_core.conftest import Labelled


@pytest.fixture(scope="module")
def problem(wdbc: Labelled) -> Problem:
    return Problem.of(wdbc.X, ClassNeighborGamma.of(wdbc.y), Gaussian(0.5), 2)


def climbed(problem: Problem, W: Array, delta: float, most: int = 300) -> tuple[list[Step], Ascent[GradientPoint]]:
    moves = ReturnCapture(iter_moves(LbfgsAscent(problem, delta), W, most))
    return [move.as_step() for move in moves], moves.value


@pytest.fixture(scope="module")
def whole(problem: Problem) -> tuple[list[Step], Ascent[GradientPoint]]:
    """A climb with a small delta."""
    return climbed(problem, initial_surrogate(problem).W, 1e-10, 1_000)


def test_every_step_goes_up_and_keeps_the_columns_orthonormal(problem: Problem) -> None:
    steps, _ = climbed(problem, initial_surrogate(problem).W, 0.01)
    assert all(after.objective > before.objective for before, after in pairwise(steps))
    for step in steps:
        np.testing.assert_allclose(step.W.T @ step.W, np.eye(2), atol=1e-12)
        assert step.objective == pytest.approx(problem.objective(step.W), rel=1e-12)


def test_with_a_small_delta_it_ends_where_the_gradient_is_next_to_nothing(
    problem: Problem, whole: tuple[list[Step], Ascent[GradientPoint]]
) -> None:
    steps, end = whole
    assert end.stop is not Stop.MAX_ITER
    assert steps[-1].gradient < 1e-4
    half_gradient = problem.half_gradient(end.point.W)[0]
    assert np.linalg.norm(half_gradient - end.point.W @ (end.point.W.T @ half_gradient)) < 1e-4 * np.linalg.norm(
        half_gradient
    )


def test_it_ends_once_three_steps_together_have_gained_next_to_nothing(problem: Problem) -> None:
    steps, end = climbed(problem, initial_surrogate(problem).W, 0.1)
    gains = [after.objective - before.objective for before, after in zip(steps, steps[3:], strict=False)]
    enough = [0.003 * 0.1 * step.objective for step in steps[3:]]
    assert end.stop.converged
    assert [gain < least for gain, least in zip(gains, enough, strict=True)] == [False] * (len(gains) - 1) + [True]


def test_where_it_stopped_for_want_of_steps_it_says_so_and_another_climb_goes_on(problem: Problem) -> None:
    steps, end = climbed(problem, initial_surrogate(problem).W, 1e-6, 4)
    assert (end.stop, end.iteration, len(steps)) == (Stop.MAX_ITER, 4, 5)
    again, _ = climbed(problem, end.point.W, 1e-6)
    assert again[0].objective == pytest.approx(steps[-1].objective, rel=1e-12)
    assert again[-1].objective > steps[-1].objective


def test_at_a_maximum_it_stays(problem: Problem, whole: tuple[list[Step], Ascent[GradientPoint]]) -> None:
    steps, end = climbed(problem, whole[1].point.W, 0.01)
    assert end.stop.converged
    assert steps[-1].objective == pytest.approx(steps[0].objective, rel=1e-6)


def test_rows_that_say_nothing_lead_nowhere() -> None:
    alone = Problem.of(np.eye(6) * 1e3, ClassNeighborGamma.of(np.arange(6) % 2), Gaussian(0.01), 2)
    steps, end = climbed(alone, np.eye(6)[:, :2], 0.01)
    assert len(steps) == 1
    assert end.stop is Stop.FIXED_POINT
