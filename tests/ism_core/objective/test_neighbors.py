"""A Γ that follows W: the values of each row are predicted by its neighbors; and the compiled sums for it."""

import itertools
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager

import numpy as np
import pytest
from numpy.testing import assert_allclose

from ism_core import Gaussian, Supervised, SupervisedISM, solve
from ism_core.arrays import Array
from ism_core.engines import LOCAL
from ism_core.kernels import Kernel
from ism_core.linalg import standardized
from ism_core.objective import (
    ISOLATION,
    EvaluationOptions,
    NeighborGamma,
    Precision,
    Problem,
    ValueNeighborGamma,
    pairs,
)
from ism_core.objective.data import in_memory
from ism_core.selection.choose import choose
from ism_core.selection.held_out import dependence

LIMIT: dict[Precision, float] = {"double": 1e-12, "single": 2e-5}
KERNEL = Gaussian(0.9)
TARGETS = ("classes", "one value", "two values")
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


def many_rows(n: int, kind: str) -> tuple[Array, NeighborGamma]:
    """Return rows that are far from 0, with a Γ of classes or values."""
    rng = np.random.default_rng(n)
    X = 3 + rng.standard_normal((n, 5))
    targets = {"classes": np.arange(n) % 3, "one value": X[:, 0] ** 2, "two values": X[:, :2] ** 2}
    gamma = Supervised(targets[kind], "classes" if kind == "classes" else "values", neighbors=True).target_gamma()
    assert isinstance(gamma, NeighborGamma)
    return X, gamma


def evaluated(n: int, kind: str, q: int, precision: Precision, kernel: Kernel = KERNEL) -> tuple[Array, float, float]:
    """Return Φ(W)W, its J, and J computed alone."""
    X, gamma = many_rows(n, kind)
    W = np.linalg.qr(np.random.default_rng(0).standard_normal((5, q)))[0]
    problem = Problem.of(X, gamma, kernel, q, options=EvaluationOptions(precision=precision))
    half_gradient, objective = problem.half_gradient(W)
    return half_gradient, objective, problem.objective(W)


@pytest.fixture
def compiled(monkeypatch: pytest.MonkeyPatch) -> Callable[[bool], None]:
    def use(wanted: bool) -> None:
        monkeypatch.setattr(pairs, "COMPILED_ROWS", 0 if wanted else 10**9)
        monkeypatch.setattr(in_memory, "MOST_ROWS", 0)

    return use


@pytest.mark.parametrize("precision", ["double", "single"])
@pytest.mark.parametrize("q", [1, 2, 3])
@pytest.mark.parametrize("kind", TARGETS)
@pytest.mark.parametrize("n", [5, 259, 701])
def test_compiled_sums_are_those_of_numpy(
    n: int, kind: str, q: int, precision: Precision, compiled: Callable[[bool], None]
) -> None:
    """259 and 701 are no multiples of the rows that are summed at a time."""
    for kernel in (KERNEL, 2.0 * KERNEL):
        compiled(True)
        found = evaluated(n, kind, q, precision, kernel)
        compiled(False)
        wanted = evaluated(n, kind, q, "double", kernel)
        np.testing.assert_allclose(found[0], wanted[0], rtol=0, atol=LIMIT[precision] * np.abs(wanted[0]).max())
        np.testing.assert_allclose(found[1:], wanted[1:], rtol=0, atol=LIMIT[precision] * n)


@pytest.mark.parametrize("kind", TARGETS)
def test_the_number_of_threads_does_not_change_a_bit(
    kind: str, compiled: Callable[[bool], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    compiled(True)
    monkeypatch.setattr(in_memory, "THREAD_FLOPS", 0)
    found = []
    for threads in (1, 2, 4):
        monkeypatch.setattr("ism_core.engines.base.own_threads", _allowed(threads))
        found.append(evaluated(1_100, kind, 2, "single"))
    for other in found[1:]:
        np.testing.assert_array_equal(other[0], found[0][0])
        assert other[1:] == found[0][1:]


def _allowed(threads: int) -> Callable[[], AbstractContextManager[int]]:
    @contextmanager
    def allowed() -> Iterator[int]:
        yield threads

    return allowed


def test_other_kernels_than_one_gaussian_are_left_to_tiles() -> None:
    X, gamma = many_rows(2_000, "classes")
    for kernel in (KERNEL + Gaussian(2.0), KERNEL):
        found = pairs.neighbor_pairs_of(X[:, :2], kernel, gamma, np.float64, LOCAL)
        assert (found is not None) == (kernel is KERNEL)
