"""solve and iter_solve: what holds for every kernel and every paradigm."""

from itertools import pairwise

import numpy as np
import pytest

from ism_core import (
    Alternative,
    Gaussian,
    Multiquadratic,
    Polynomial,
    Result,
    SemiSupervised,
    Squared,
    Step,
    Stop,
    Supervised,
    Unsupervised,
    iter_solve,
    solve,
)
from ism_core.arrays import Array
from ism_core.kernels import Kernel
from ism_core.linalg.subspaces import largest_angle
from ism_core.objective import Problem
from ism_core.paradigms import Paradigm
from tests.ism_core.conftest import Labelled
from tests.ism_core.family import NAMES

MIXED = Gaussian() + 0.1 * Polynomial()
KERNELS = [*NAMES, MIXED]
PARADIGMS = ["supervised", "real targets", "unsupervised", "semi-supervised", "alternative"]


def paradigm(name: str, data: Labelled) -> Paradigm:
    match name:
        case "supervised":
            return Supervised(data.y)
        case "real targets":
            return Supervised(data.X @ [1.0, -0.5, 0.2, 0.0, 0.0])
        case "unsupervised":
            return Unsupervised(3)
        case "semi-supervised":
            return SemiSupervised(data.y, 3)
    return Alternative(data.y % 2, 3)


def drain(steps) -> tuple[list[Step], Result]:
    taken = []
    while True:
        try:
            taken.append(next(steps))
        except StopIteration as end:
            return taken, end.value


def rotation(d: int, seed: int = 0) -> Array:
    return np.linalg.qr(np.random.default_rng(seed).standard_normal((d, d)))[0]


@pytest.fixture(params=KERNELS, ids=str, scope="module")
def kernel(request: pytest.FixtureRequest) -> Kernel | str:
    return request.param


@pytest.fixture(params=PARADIGMS, scope="module")
def result(request: pytest.FixtureRequest, kernel: Kernel | str, blobs: Labelled) -> Result:
    return solve(blobs.X, paradigm(request.param, blobs), kernel, 2)


def test_columns_are_orthonormal(result: Result) -> None:
    np.testing.assert_allclose(result.W.T @ result.W, np.eye(2), atol=1e-12)
    assert result.certificate.orthonormality < 1e-12


def test_columns_stand_in_the_order_of_their_eigenvalues(result: Result) -> None:
    assert (np.diff(result.eigenvalues) <= 0).all()


def test_the_largest_entry_of_every_column_is_positive(result: Result) -> None:
    assert (result.W[np.abs(result.W).argmax(axis=0), [0, 1]] > 0).all()


def test_objective_never_falls_within_a_round(result: Result) -> None:
    for before, after in pairwise(result.steps):
        assert before.stage == after.stage == "ascent"
        if before.round == after.round:
            assert after.objective >= before.objective - 1e-12 * abs(before.objective)


def test_rounds_and_iterations_only_go_up(result: Result) -> None:
    assert (np.diff([step.iteration for step in result.steps]) == 1).all()
    assert result.steps[0].iteration == 0
    assert (np.diff([step.round for step in result.steps]) >= 0).all()
    assert result.iterations == result.steps[-1].iteration


def test_the_last_step_is_the_result(result: Result) -> None:
    np.testing.assert_array_equal(result.steps[-1].W, result.W)
    np.testing.assert_array_equal(result.steps[-1].eigenvalues, result.eigenvalues)
    assert result.steps[-1].objective == result.objective


def test_the_kernel_of_a_result_is_bound_to_the_data(result: Result) -> None:
    assert all("median" not in repr(term) and "auto" not in repr(term) for _, term in result.kernel.terms)


@pytest.mark.parametrize("kernel", ["polynomial", "relative_gaussian", MIXED], ids=str)
@pytest.mark.parametrize("name", PARADIGMS)
def test_the_same_seed_gives_the_same_result_to_the_bit(name: str, kernel: Kernel | str, blobs: Labelled) -> None:
    first, again = (solve(blobs.X, paradigm(name, blobs), kernel, 2, seed=7, starts=4) for _ in range(2))
    np.testing.assert_array_equal(first.W, again.W)
    np.testing.assert_array_equal(first.eigenvalues, again.eigenvalues)
    assert first.objective == again.objective
    if first.labels is not None:
        np.testing.assert_array_equal(first.labels, again.labels)


def test_eigenvalues_belong_to_the_columns(kernel: Kernel | str, blobs: Labelled) -> None:
    supervised = Supervised(blobs.y)
    result = solve(blobs.X, supervised, kernel, 2)
    phi, J = Problem.of(blobs.X, supervised.target_gamma(), result.kernel, 2).evaluate(result.W)
    np.testing.assert_allclose(result.W.T @ phi @ result.W, np.diag(result.eigenvalues), atol=1e-9 * np.abs(phi).max())
    assert result.objective == pytest.approx(J, rel=1e-10)


@pytest.mark.parametrize("kernel", ["gaussian", "multiquadratic", "polynomial"])
@pytest.mark.parametrize("name", PARADIGMS)
def test_turning_x_turns_the_subspace_with_it(kernel: str, name: str, blobs: Labelled) -> None:
    R = rotation(5)
    plain, turned = (solve(X, paradigm(name, blobs), kernel, 2, starts=1, delta=1e-5) for X in (blobs.X, blobs.X @ R))
    assert turned.objective == pytest.approx(plain.objective, rel=1e-8)
    assert largest_angle(plain.W, R @ turned.W) < 1e-4


@pytest.mark.parametrize("kernel", ["gaussian", "squared", MIXED], ids=str)
@pytest.mark.parametrize("name", PARADIGMS)
def test_the_order_of_the_rows_does_not_matter(kernel: Kernel | str, name: str, blobs: Labelled) -> None:
    order = np.random.default_rng(1).permutation(60)
    shuffled = Labelled(blobs.X[order], blobs.y[order])
    plain = solve(blobs.X, paradigm(name, blobs), kernel, 2, starts=1, delta=1e-5)
    other = solve(shuffled.X, paradigm(name, shuffled), kernel, 2, starts=1, delta=1e-5)
    assert other.objective == pytest.approx(plain.objective, rel=1e-6)  # real targets are factored to 1e-6
    assert largest_angle(plain.W, other.W) < 1e-4


@pytest.mark.parametrize(
    "kernel", ["gaussian", "multiquadratic", "squared", "relative_gaussian", Gaussian() + Squared()], ids=str
)
@pytest.mark.parametrize(("offset", "close"), [(10.0, 1e-6), (1e4, 1e-6), (1e8, 1e-4)])
def test_an_offset_does_not_matter_where_only_differences_count(
    kernel: Kernel | str, offset: float, close: float, blobs: Labelled
) -> None:
    far = blobs.X + offset * np.array([1.0, -1.0, 0.5, 1.0, -2.0])
    plain, moved = (solve(X, Supervised(blobs.y), kernel, 2, starts=1, delta=1e-5) for X in (blobs.X, far))
    assert moved.objective == pytest.approx(plain.objective, rel=close)
    assert largest_angle(plain.W, moved.W) < close


@pytest.mark.parametrize("scale", [1e-8, 1e-3, 1e6])
@pytest.mark.parametrize("kernel", ["gaussian", "relative_gaussian", "squared", "linear"])
def test_the_unit_of_x_does_not_matter_to_kernels_that_scale_with_it(
    kernel: str, scale: float, blobs: Labelled
) -> None:
    plain, scaled = (solve(X, Supervised(blobs.y), kernel, 2, starts=1) for X in (blobs.X, scale * blobs.X))
    np.testing.assert_allclose(scaled.W, plain.W, atol=1e-7)


def test_x_is_left_as_it_was(kernel: Kernel | str, blobs: Labelled) -> None:
    X = blobs.X.copy() + 3.0
    before = X.copy()
    solve(X, Supervised(blobs.y), kernel, 2)
    np.testing.assert_array_equal(X, before)


@pytest.mark.parametrize("convert", [np.asfortranarray, np.ndarray.tolist, lambda X: X.astype(np.float32)])
def test_x_may_come_in_any_layout(convert, blobs: Labelled) -> None:
    plain = solve(blobs.X, Supervised(blobs.y), "gaussian", 2)
    np.testing.assert_allclose(solve(convert(blobs.X), Supervised(blobs.y), "gaussian", 2).W, plain.W, atol=1e-4)


# ---- iter_solve


@pytest.mark.parametrize("name", PARADIGMS)
def test_iterate_yields_steps_and_returns_what_solve_returns(name: str, blobs: Labelled) -> None:
    steps, result = drain(iter_solve(blobs.X, paradigm(name, blobs), "gaussian", 2, starts=4))
    solved = solve(blobs.X, paradigm(name, blobs), "gaussian", 2, starts=4)
    np.testing.assert_array_equal(result.W, solved.W)
    assert result.objective == solved.objective
    assert all(isinstance(step, Step) for step in steps)
    ascent = [step for step in steps if step.stage == "ascent"]
    assert len(ascent) == len(result.steps)
    assert all(a is b for a, b in zip(ascent, result.steps, strict=True))


def test_the_search_comes_before_the_ascent(blobs: Labelled) -> None:
    steps, _ = drain(iter_solve(blobs.X, Supervised(blobs.y), "gaussian", 2, starts=4))
    stages = [step.stage for step in steps]
    searched = stages.count("search")
    assert searched >= 4
    assert stages == ["search"] * searched + ["ascent"] * (len(stages) - searched)
    assert steps[searched].objective >= max(step.objective for step in steps[:searched]) * (1 - 1e-12)


def test_every_step_has_a_w_in_the_columns_of_x(blobs: Labelled) -> None:
    wide = np.column_stack([blobs.X, np.zeros(60), blobs.X[:, 0]])  # the solver works in 5 dimensions, W has 7
    for name in PARADIGMS:
        for step in iter_solve(wide, paradigm(name, blobs), "gaussian", 2, starts=2):
            assert step.W.shape == (7, 2)
            np.testing.assert_allclose(step.W.T @ step.W, np.eye(2), atol=1e-12)


# ---- directions that carry nothing


@pytest.mark.parametrize("kernel", ["linear", "squared"])
def test_directions_beyond_the_classes_are_the_widest_ones_and_the_result_says_so(kernel: str, wine: Labelled) -> None:
    result = solve(wine.X, Supervised(wine.y), kernel, 4)
    assert any("J depends on 2 of the 4 axes only" in warning for warning in result.warnings)
    assert result.converged
    informative, rest = result.W[:, :2], result.W[:, 2:]
    np.testing.assert_allclose(result.eigenvalues[2:], 0, atol=1e-8 * result.eigenvalues[0])
    left = np.linalg.qr(np.hstack([informative, np.eye(13)]))[0][:, 2:13]
    widest = left @ np.linalg.eigh(left.T @ wine.X.T @ wine.X @ left)[1][:, -2:]
    assert largest_angle(widest, rest) < 1e-6


@pytest.mark.parametrize("kernel", ["linear", "squared"])
def test_as_many_directions_as_the_classes_tell_apart_bring_no_warning(kernel: str, wine: Labelled) -> None:
    assert solve(wine.X, Supervised(wine.y), kernel, 2).warnings == ()


@pytest.mark.parametrize("kernel", NAMES)
def test_more_directions_than_x_has_are_completed_and_the_result_says_so(kernel: str, rng: np.random.Generator) -> None:
    X = rng.standard_normal((30, 2)) @ rng.standard_normal((2, 6))
    X -= X.mean(axis=0)
    result = solve(X, Supervised(np.arange(30) % 3), kernel, 4)
    np.testing.assert_allclose(result.W.T @ result.W, np.eye(4), atol=1e-10)
    assert any("X varies along 2 of its 6 dimensions only" in warning for warning in result.warnings)
    assert np.linalg.matrix_rank(X @ result.W, tol=1e-8) == 2


@pytest.mark.parametrize("kernel", ["linear", "gaussian", "multiquadratic"])
@pytest.mark.parametrize("name", PARADIGMS)
def test_copies_of_columns_share_their_weight(kernel: str, name: str, blobs: Labelled) -> None:
    X = np.column_stack([blobs.X, blobs.X[:, 0]])
    result = solve(X, paradigm(name, blobs), kernel, 2)
    np.testing.assert_allclose(result.W[0], result.W[5], atol=1e-8)
    np.testing.assert_allclose(result.W.T @ result.W, np.eye(2), atol=1e-12)


@pytest.mark.parametrize("kernel", ["squared", "polynomial", "relative_gaussian"])
@pytest.mark.parametrize("name", PARADIGMS)
def test_all_directions_may_be_asked_for(kernel: str, name: str, blobs: Labelled) -> None:
    result = solve(blobs.X, paradigm(name, blobs), kernel, 5)
    np.testing.assert_allclose(result.W.T @ result.W, np.eye(5), atol=1e-12)
    assert result.certificate.gradient < 1e-12


def test_a_sum_is_solved_for_the_sum_not_for_a_part(blobs: Labelled) -> None:
    kernel = 40 * Gaussian(2.0) + Squared() + 2 * Multiquadratic()
    result = solve(blobs.X, Supervised(blobs.y), kernel, 2, delta=1e-6)
    problem = Problem.of(blobs.X, Supervised(blobs.y).target_gamma(), kernel, 2)
    assert result.objective == pytest.approx(problem.objective(result.W), rel=1e-10)
    for _, term in kernel.terms:
        part = solve(blobs.X, Supervised(blobs.y), term, 2, delta=1e-6)
        assert problem.objective(part.W) < result.objective


def test_no_step_is_wasted_once_delta_is_met(blobs: Labelled) -> None:
    fine, rough = (solve(blobs.X, Supervised(blobs.y), "gaussian", 2, delta=d, starts=1) for d in (1e-6, 0.1))
    assert rough.iterations < fine.iterations
    assert rough.stop is fine.stop is Stop.CONVERGED
    assert rough.objective <= fine.objective * (1 + 1e-12)
