"""A Γ that follows W: the values of each row are predicted by its neighbors."""

import itertools

import numpy as np
import pytest
from numpy.testing import assert_allclose

from ism_core import Gaussian, Supervised, SupervisedISM, solve
from ism_core.arrays import Array
from ism_core.kernels import Kernel
from ism_core.linalg import standardized
from ism_core.objective import ISOLATION, Problem, ValueNeighborGamma
from ism_core.selection.choose import choose
from ism_core.selection.held_out import dependence

KERNELS = [Gaussian(0.8), Gaussian(0.3) + 0.5 * Gaussian(2.0)]


@pytest.fixture
def rows(rng: np.random.Generator) -> tuple[Array, Array]:
    """Rows with two targets."""
    return rng.standard_normal((60, 5)), rng.standard_normal((60, 2))


def gamma(Y: Array) -> ValueNeighborGamma:
    found = Supervised(Y, "values", neighbors=True).target_gamma()
    assert isinstance(found, ValueNeighborGamma)
    return found


@pytest.mark.parametrize("kernel", KERNELS)
def test_j_is_the_variance_that_predictions_without_the_row_itself_explain(
    rows: tuple[Array, Array], kernel: Kernel
) -> None:
    X, Y = rows[0], standardized(rows[1])[0]
    W = np.linalg.qr(X[:5, :2])[0]
    P = X @ W
    squares = ((P[:, None] - P[None]) ** 2).sum(axis=2)
    K = sum(weight * term.value(squares) for weight, term in kernel.terms)
    np.fill_diagonal(K, 0)
    predicted = K @ Y / (K.sum(axis=1) + ISOLATION)[:, None]
    expected = (Y**2).sum() - ((Y - predicted) ** 2).sum()
    assert Problem.of(X, gamma(rows[1]), kernel, 2).objective(W) == pytest.approx(expected, rel=1e-10)


@pytest.mark.parametrize("kernel", KERNELS)
def test_twice_the_half_gradient_is_the_gradient_of_j(
    rows: tuple[Array, Array], kernel: Kernel, rng: np.random.Generator
) -> None:
    of = Problem.of(rows[0], gamma(rows[1]), kernel, 2)
    W, direction = np.linalg.qr(rng.standard_normal((5, 2)))[0], rng.standard_normal((5, 2))
    half_gradient, _ = of.half_gradient(W)
    along = (of.objective(W + 1e-5 * direction) - of.objective(W - 1e-5 * direction)) / 2e-5
    assert 2 * np.vdot(half_gradient, direction) == pytest.approx(along, rel=1e-6)
    assert_allclose(of.evaluate(W)[0] @ W, half_gradient, atol=1e-10)


def test_the_axes_of_two_targets_are_found_though_both_rise_and_fall_along_them(rng: np.random.Generator) -> None:
    X = rng.uniform(-2, 2, (400, 6))
    Y = np.column_stack([np.sin(2 * X[:, 0]), np.sin(2 * X[:, 1])]) + 0.1 * rng.standard_normal((400, 2))
    found = solve(X, Supervised(Y, neighbors=True), Gaussian(0.2), 2, starts="path", delta=0.1)
    objectives = [step.objective for step in found.steps]
    assert all(later >= earlier * (1 - 1e-9) for earlier, later in itertools.pairwise(objectives))
    assert np.linalg.norm(found.W[:2], ord="fro") ** 2 > 1.8  # 2 if the axes span the first two columns
    assert 0.8 * Y.size < found.objective <= Y.size


def test_dependence_is_zero_without_axes_and_on_average_for_shuffled_values(rng: np.random.Generator) -> None:
    P, y = rng.standard_normal((60, 2)), rng.standard_normal((60, 1))
    assert dependence(np.zeros((60, 2)), gamma(y), Gaussian(1.0)) == pytest.approx(0, abs=0.01)
    found = [dependence(P, gamma(rng.permutation(y)), Gaussian(0.5)) for _ in range(300)]
    assert abs(np.mean(found)) < 3 * np.std(found) / np.sqrt(len(found))


def test_a_choice_for_values_tries_neighbors_and_takes_the_best_score(rng: np.random.Generator) -> None:
    X = rng.uniform(-2, 2, (150, 4))
    y = np.sin(2 * X[:, 0]) + 0.1 * rng.standard_normal(150)
    model = SupervisedISM("auto", 1).fit(X, y)
    choice = model.choice_
    assert choice is not None
    assert {candidate.neighbors for candidate in choice.candidates} == {False, True}
    assert choice.chosen.neighbors
    assert choice.reason == "It has the best score."
    assert abs(model.components_[0, 0]) > 0.95
    given = choose(X, Supervised(y, neighbors=True), "auto", 1)
    assert {candidate.neighbors for candidate in given.candidates} == {True}
