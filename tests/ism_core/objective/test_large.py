"""Problems whose Φ is dear: a makeshift Φ, set right along W, leads to the same maximum as the true one."""

from collections.abc import Callable, Generator
from dataclasses import replace
from typing import Any, TypeVar

import numpy as np
import pytest

from ism_core import Gaussian, Linear, Multiquadratic, Polynomial, RelativeGaussian, Supervised, solve
from ism_core.arrays import Array
from ism_core.engines.base import Threads
from ism_core.gamma import Gamma, LabelGamma
from ism_core.kernels import Kernel, taylor_maps
from ism_core.linalg.subspaces import dominant, largest_angle
from ism_core.objective import data as data_module
from ism_core.objective.data import EvaluationOptions
from ism_core.objective.problem import Problem
from ism_core.objective.strategies import TruncatedFeatures, all_pairs
from ism_core.objective.strategies import base as strategies_module
from ism_core.solver import certificate
from ism_core.solver.ascent import Ascent, EvaluatedPoint, iter_ascend
from ism_core.solver.ascent.spectral import SpectralAscent
from ism_core.solver.options import SolveOptions
from ism_core.solver.result import ReturnCapture, Step
from ism_core.solver.starts import search as starts_module
from tests.ism_core.conftest import Labelled, Planted

T = TypeVar("T")

CURVED = [Gaussian(), RelativeGaussian(), Multiquadratic(), Polynomial(), Gaussian() + Linear()]


@pytest.fixture
def everything_is_dear(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where Φ costs anything it counts as much, and what may be done on a sample is."""
    monkeypatch.setattr(strategies_module, "SMALL_FLOPS", 0.0)
    monkeypatch.setattr(all_pairs, "PAIR_FLOPS", 0.0)  # as with thousands of columns: Φ(W)W is the cheaper one
    monkeypatch.setattr(starts_module, "WHOLE_FLOPS", 1e4)
    monkeypatch.setattr(starts_module, "SAMPLE_FLOPS", 1e4)
    monkeypatch.setattr(starts_module, "SAMPLE_ROWS", 30)
    monkeypatch.setattr(certificate, "SAMPLE_FLOPS", 1e4)


def turned(d: int, q: int, seed: int = 0) -> Array:
    return np.linalg.qr(np.random.default_rng(seed).standard_normal((d, q)))[0]


def drive(ascent: Generator[Step, None, Ascent[EvaluatedPoint]]) -> tuple[list[Step], EvaluatedPoint]:
    steps = ReturnCapture(ascent)
    return list(steps), steps.value.point


def falls(steps: list[Step]) -> float:
    J = np.array([step.objective for step in steps])
    return float(np.max((J[:-1] - J[1:]) / np.abs(J[1:]), initial=0.0))


def labelled(data: Labelled, kernel: Kernel, q: int = 2) -> Problem:
    return Problem.of(data.X, LabelGamma.of(data.y), kernel.fitted_to(data.X, np.random.default_rng(0)), q)


class Counting:
    """Counts what a problem is asked for."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.calls: list[str] = []
        for name in ("evaluate", "half_gradient"):
            monkeypatch.setattr(Problem, name, self._counted(name, getattr(Problem, name)))

    def _counted(self, name: str, method):
        def counted(problem: Problem, W: Array, *half_gradient: Any) -> tuple[Array, float]:
            self.calls.append(name)
            return method(problem, W, *half_gradient)

        return counted


@pytest.mark.parametrize("kernel", CURVED, ids=repr)
def test_a_dear_problem_is_solved_like_a_cheap_one(
    kernel: Kernel, planted: Planted, request: pytest.FixtureRequest
) -> None:
    cheap = solve(planted.X, Supervised(planted.labels), kernel, 2, delta=1e-5, tolerance=0)
    request.getfixturevalue("everything_is_dear")
    dear = solve(planted.X, Supervised(planted.labels), kernel, 2, delta=1e-5, tolerance=0)
    assert dear.converged
    assert dear.objective == pytest.approx(cheap.objective, rel=1e-6)
    assert largest_angle(cheap.W, dear.W) < 1e-4
    assert dear.certificate.second_order
    assert falls(list(dear.steps)) < 1e-12


@pytest.mark.usefixtures("everything_is_dear")
@pytest.mark.parametrize("kernel", CURVED, ids=repr)
def test_a_makeshift_phi_ends_where_the_true_one_leaves_w(
    kernel: Kernel, wdbc: Labelled, monkeypatch: pytest.MonkeyPatch
) -> None:
    problem, W = labelled(wdbc, kernel).by_all_pairs(), turned(30, 2)
    assert problem.half_gradient_flops < problem.flops / 4
    known = problem.restricted(np.arange(0, 569, 3)).evaluate(W)[0]
    with monkeypatch.context() as patch:
        counting = Counting(patch)
        steps, point = drive(iter_ascend(problem, W, 1e-6, 300, similar_phi=known))
    assert counting.calls.count("half_gradient") > 2 * counting.calls.count("evaluate")
    assert falls(steps) < 1e-12
    phi, J = problem.evaluate(point.W)
    assert point.objective == pytest.approx(J, rel=1e-10)
    np.testing.assert_allclose(point.phi @ point.W, phi @ point.W, atol=1e-9 * np.linalg.norm(phi))
    assert largest_angle(point.W, dominant(phi, 2, problem)[0]) < 1e-4


@pytest.mark.usefixtures("everything_is_dear")
def test_a_gamma_with_both_signs_climbs_by_a_makeshift_phi_too(blobs: Labelled) -> None:
    rng = np.random.default_rng(4)
    gamma = Gamma(rng.standard_normal((60, 4)), np.array([1.0, 0.5, -1.0, -3.0]))
    for kernel in (Gaussian(2.0), Polynomial(3, 1.0, 0.2), Multiquadratic()):
        steps, point = drive(iter_ascend(Problem.of(blobs.X, gamma, kernel, 2), turned(5, 2), 1e-4, 300))
        assert falls(steps) < 1e-12
        assert point.gradient < 1e-5


@pytest.mark.usefixtures("everything_is_dear")
def test_all_of_phi_is_bought_once_corrections_have_cost_as_much(
    wine: Labelled, monkeypatch: pytest.MonkeyPatch
) -> None:
    problem = labelled(wine, Gaussian())
    cost = problem.strategy.cost._replace(surrogate=3.5 * problem.half_gradient_flops)
    monkeypatch.setitem(vars(problem.strategy), "cost", cost)
    counting = Counting(monkeypatch)
    ascent = SpectralAscent(problem, 0.01)
    point = ascent.init(turned(13, 2))
    assert not point.surrogate_error
    doubts = []
    for seed in range(1, 9):
        point = ascent.evaluate(point, turned(13, 2, seed))
        doubts.append(point.surrogate_error)
    assert counting.calls == ["evaluate", *["half_gradient"] * 3, "evaluate", *["half_gradient"] * 3, "evaluate"]
    assert [surrogate_error > 0 for surrogate_error in doubts] == [True, True, True, False, True, True, True, False]
    assert doubts[0] < doubts[1] < doubts[2]


def test_all_of_phi_is_taken_at_every_step_where_it_is_cheap(wine: Labelled, monkeypatch: pytest.MonkeyPatch) -> None:
    counting = Counting(monkeypatch)
    problem = labelled(wine, Gaussian())
    drive(iter_ascend(problem, turned(13, 2), 0.01, 300, similar_phi=np.eye(13)))
    assert set(counting.calls) == {"evaluate"}


@pytest.mark.usefixtures("everything_is_dear")
def test_a_known_phi_is_used_where_it_fits_whatever_its_scale(wine: Labelled, monkeypatch: pytest.MonkeyPatch) -> None:
    problem, W = labelled(wine, Gaussian()), turned(13, 2)
    phi, J = problem.evaluate(W)
    counting = Counting(monkeypatch)
    for scale in (1e-6, 1.0, 1e6):
        point = SpectralAscent(problem, 0.01, scale * phi).init(W)
        np.testing.assert_allclose(point.phi, phi, rtol=1e-9, atol=1e-9 * np.abs(phi).max())
        assert point.objective == pytest.approx(J)
    assert counting.calls == ["half_gradient"] * 3
    for unlike in (-phi, np.zeros_like(phi), np.diag(np.arange(13.0))):
        np.testing.assert_array_equal(SpectralAscent(problem, 0.01, unlike).init(W).phi, phi)
    assert counting.calls[3:] == ["half_gradient", "evaluate"] * 3


@pytest.mark.usefixtures("everything_is_dear")
def test_a_point_is_made_sure_of_where_doubt_might_hide_a_direction(wine: Labelled) -> None:
    problem, W = labelled(wine, Gaussian()), turned(13, 2)
    true = EvaluatedPoint.at(problem, W)
    assert SpectralAscent(problem, 0.01)._with_certain_gap(true) is true
    size = float(np.linalg.norm(true.phi))
    gap = dominant(true.phi, 2, problem)[1]
    little, much = (replace(true, surrogate_error=surrogate_error) for surrogate_error in (1e-4 * size, gap))
    assert SpectralAscent(problem, 0.01)._with_certain_gap(little) is little
    sure = SpectralAscent(problem, 1e-9)._with_certain_gap(much)
    assert sure.surrogate_error == 0
    np.testing.assert_allclose(sure.phi, true.phi, rtol=1e-12)


@pytest.mark.usefixtures("everything_is_dear")
@pytest.mark.parametrize("alike", [True, False])
def test_a_phi_that_is_set_right_along_w_asks_for_that_once(
    alike: bool, wine: Labelled, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whether a known Φ does at the start or not, Φ(W)W is pulled to see, and never again there."""
    problem, W = labelled(wine, Gaussian()), turned(13, 2)
    maps, fewer = (taylor_maps(problem.kernel, 2, degree) for degree in (12, 3))
    problem = replace(problem, strategy=TruncatedFeatures(problem.data, maps, coarse_maps=fewer))
    assert problem.strategy.is_corrected
    phi, objective = problem.evaluate(W)
    known = phi if alike else np.diag(np.arange(13.0))
    counting = Counting(monkeypatch)
    point = SpectralAscent(problem, 0.01, known).init(W)
    assert counting.calls == (["half_gradient"] if alike else ["half_gradient", "evaluate"])
    assert point.objective == pytest.approx(objective, rel=1e-12)
    np.testing.assert_allclose(point.phi, phi, atol=1e-12 * np.linalg.norm(phi))


@pytest.mark.usefixtures("everything_is_dear")
def test_a_better_direction_that_a_makeshift_phi_hides_is_found(
    rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A known Φ without the best direction leaves a start at the next best there, but for what it is off."""
    X = rng.standard_normal((80, 20))
    problem = Problem.of(X, Gamma(X[:, :3] * [3.0, 2.0, 1.9], np.ones(3)), Gaussian(20.0), 1)
    phi, _ = problem.evaluate(np.eye(20)[:, :1])
    best, second = np.linalg.eigh(phi)[1][:, ::-1][:, :2].T
    noise = 0.3 * (second @ phi @ second) * turned(20, 1)
    hidden = phi - np.outer(best, best) * (best @ phi @ best) + second[:, None] @ noise.T + noise @ second[None]
    counting = Counting(monkeypatch)
    steps, point = drive(iter_ascend(problem, second[:, None], 0.01, 300, similar_phi=hidden))
    assert counting.calls[0] == "half_gradient"
    assert largest_angle(steps[0].W, second[:, None]) < 1e-9
    assert largest_angle(point.W, best[:, None]) < 0.2


@pytest.mark.usefixtures("everything_is_dear")
def test_a_search_goes_through_growing_samples(digits: Labelled) -> None:
    problem = labelled(Labelled(digits.X[:600], digits.y[:600]), Polynomial(3, 1.0, 0.02))
    search = ReturnCapture(starts_module.iter_search(problem, 2, SolveOptions(), np.random.default_rng(0)))
    steps = list(search)
    start = search.value
    assert all(step.stage == "search" for step in steps)
    assert [step.iteration for step in steps] == list(range(len(steps)))
    assert start.phi is not None
    J = [step.objective for step in steps[-2:]]  # Σ over 4 times the rows on either side: of the last two samples
    assert J[1] > 2 * J[0]
    assert problem.objective(start.W) > 2 * J[1]


def test_little_work_is_not_sent_elsewhere(wine: Labelled, monkeypatch: pytest.MonkeyPatch) -> None:
    class Elsewhere(Threads):
        """Counts what it is given to do."""

        calls = 0

        def total(self, work: Callable[..., T], items: int, *args: Any) -> T:
            self.calls += 1
            return super().total(work, items, *args)

    engine, W = Elsewhere(), turned(13, 2)
    kernel = Gaussian().fitted_to(wine.X, np.random.default_rng(0))
    problem = Problem.of(wine.X, LabelGamma.of(wine.y), kernel, 2, options=EvaluationOptions(engine=engine))
    there = problem.evaluate(W), problem.half_gradient(W)
    assert engine.calls == 0
    monkeypatch.setattr(data_module.in_memory, "REMOTE_FLOPS", 0.0)
    here = problem.evaluate(W), problem.half_gradient(W)
    assert engine.calls > 0
    for ours, theirs in zip(here, there, strict=True):
        np.testing.assert_allclose(ours[0], theirs[0], rtol=1e-11)
        assert ours[1] == pytest.approx(theirs[1], rel=1e-12)
