"""A Γ that follows W: the share that each row's own class has among its neighbors; values that neighbors predict."""

import itertools
import sys

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.datasets import load_wine

from ism_core import Gaussian, InvalidInput, Polynomial, Supervised, SupervisedISM, solve
from ism_core.arrays import Array, Ints
from ism_core.kernels import Kernel
from ism_core.linalg import Scaling, standardized
from ism_core.objective import ISOLATION, ClassNeighborGamma, EvaluationOptions, Precision, Problem
from ism_core.selection.choose import choose
from ism_core.solver.starts import first_width
from tests.ism_core.conftest import Labelled

KERNELS = [Gaussian(0.8), Gaussian(0.3) + 0.5 * Gaussian(2.0)]


@pytest.fixture
def rows(rng: np.random.Generator) -> tuple[Array, Ints]:
    return rng.standard_normal((60, 5)), rng.integers(0, 3, 60)


def problem(X: Array, codes: Ints, kernel: Kernel, precision: Precision = "double") -> Problem:
    return Problem.of(X, ClassNeighborGamma.of(codes), kernel, 2, options=EvaluationOptions(precision=precision))


@pytest.mark.parametrize("kernel", KERNELS)
def test_j_adds_up_the_shares_of_each_rows_own_class(rows: tuple[Array, Ints], kernel: Kernel) -> None:
    X, codes = rows
    W = np.linalg.qr(X[:5, :2])[0]
    P = X @ W
    squares = ((P[:, None] - P[None]) ** 2).sum(axis=2)
    K = sum(weight * term.value(squares) for weight, term in kernel.terms)
    np.fill_diagonal(K, 0)
    own = (K * (codes[:, None] == codes)).sum(axis=1)
    expected = (own / (K.sum(axis=1) + ISOLATION)).sum()
    assert problem(X, codes, kernel).objective(W) == pytest.approx(expected, rel=1e-10)


@pytest.mark.parametrize("kernel", KERNELS)
def test_twice_the_pull_is_the_gradient_of_j(
    rows: tuple[Array, Ints], kernel: Kernel, rng: np.random.Generator
) -> None:
    of = problem(*rows, kernel)
    W, direction = np.linalg.qr(rng.standard_normal((5, 2)))[0], rng.standard_normal((5, 2))
    half_gradient, _ = of.half_gradient(W)
    along = (of.objective(W + 1e-5 * direction) - of.objective(W - 1e-5 * direction)) / 2e-5
    assert 2 * np.vdot(half_gradient, direction) == pytest.approx(along, rel=1e-6)
    assert_allclose(of.evaluate(W)[0] @ W, half_gradient, atol=1e-10)


def test_single_precision_gives_j_to_five_digits_and_its_gradient_to_four(rows: tuple[Array, Ints]) -> None:
    W = np.linalg.qr(rows[0][:5, :2])[0]
    double, single = (problem(*rows, Gaussian(0.5), each).half_gradient(W) for each in ("double", "single"))
    assert single[1] == pytest.approx(double[1], rel=1e-5)
    assert_allclose(single[0], double[0], atol=1e-4 * np.abs(double[0]).max())


def test_j_never_goes_down_and_ends_at_a_maximum() -> None:
    data = load_wine()
    X = standardized(data.data)[0]
    result = solve(X, Supervised(data.target, neighbors=True), Gaussian(0.5), 2)
    objectives = [step.objective for step in result.steps]
    assert all(later >= earlier * (1 - 1e-9) for earlier, later in itertools.pairwise(objectives))
    assert result.converged
    assert result.certificate.second_order
    assert 0.95 * len(X) < result.objective <= len(X)


def test_rows_with_no_neighbors_count_for_nothing(rows: tuple[Array, Ints]) -> None:
    X, codes = rows
    X[0] = 1e3
    found = solve(X, Supervised(codes, neighbors=True), Gaussian(0.01), 2)
    assert np.isfinite(found.W).all()
    assert found.objective <= len(X)


def test_classes_around_each_other_are_kept_apart_where_wide_kernels_mix_them(rng: np.random.Generator) -> None:
    """Stripes that take turns along one column, beside others that vary more."""
    stripe = rng.integers(0, 6, 300)
    X = rng.standard_normal((300, 6)) * 3
    X[:, 0] = stripe + 0.1 * rng.standard_normal(300)
    found = solve(X, Supervised(stripe % 2, neighbors=True), Gaussian(0.2), 1, starts="path")
    assert abs(found.W[0, 0]) > 0.95


def test_it_is_for_kernels_that_tell_how_near_rows_are(rows: tuple[Array, Ints]) -> None:
    X, codes = rows
    with pytest.raises(InvalidInput, match="neighbors is 'yes'; it must be True or False"):
        Supervised(codes, neighbors="yes")  # type: ignore[arg-type]
    with pytest.raises(InvalidInput, match="balance cannot be combined with neighbors"):
        Supervised(codes, balance=True, neighbors=True)
    with pytest.raises(InvalidInput, match="neighbors needs a kernel whose values measure nearness"):
        solve(X, Supervised(codes, neighbors=True), Polynomial(), 2)


def test_a_choice_tries_neighbors_too_and_what_it_takes_can_be_given() -> None:
    X, y = load_wine(return_X_y=True)
    X, y = X[::2, :5], y[::2]
    choice = choose(X, Supervised(y), "auto", 2)
    assert {candidate.neighbors for candidate in choice.candidates} == {False, True}
    given = choose(X, Supervised(y, neighbors=True), "auto", 2)
    assert {candidate.neighbors for candidate in given.candidates} == {True}
    chosen = SupervisedISM("auto", 2, neighbors=True).fit(X, y)
    assert chosen.choice_ is not None
    taken = chosen.choice_.chosen
    again = SupervisedISM(taken.kernel, 2, scale=taken.scale, starts="path", delta=0.1, neighbors=True).fit(X, y)
    assert_allclose(again.components_, chosen.components_, atol=1e-8)


def test_a_width_that_fewer_rows_were_judged_with_gets_narrower_for_all_of_them(wdbc: Labelled) -> None:
    paradigm = Supervised(wdbc.y, neighbors=True)
    widest = choose(wdbc.X, paradigm, "auto", 2, scale="standard").candidates[0].kernel
    X = Scaling.learned(wdbc.X, "standard")[1]
    begin = first_width(Problem.of(X, ClassNeighborGamma.of(wdbc.y), Gaussian(1.0), 2), X, np.random.default_rng(0))
    assert isinstance(widest, Gaussian)
    assert widest.sigma == pytest.approx(begin * (2 / 3) ** (1 / 6), rel=1e-3)  # three folds, two of them to learn from


def test_where_a_sample_was_searched_narrower_kernels_are_tried_on_more_rows(
    rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch
) -> None:
    X = rng.uniform(-2, 2, (600, 4))
    squares = (np.floor(X[:, 0]) + 2 * np.floor(X[:, 1])).astype(int) % 4
    monkeypatch.setattr(sys.modules["ism_core.selection.choose"], "SAMPLE", 150)
    choice = choose(X, Supervised(squares, neighbors=True), "auto", 2, scale="standard")
    widths = [each.kernel.sigma for each in choice.candidates if isinstance(each.kernel, Gaussian)]
    tried_again = [place for place in range(1, len(widths)) if widths[place] > widths[place - 1]]
    assert len(tried_again) == 1  # all others are each narrower than the last
    again = choice.candidates[tried_again[0] :]
    assert len(again) > 1
    assert choice.chosen is max(again, key=lambda candidate: candidate.score)
    assert "tried on 600 rows" in choice.reason
    assert 150 <= choice.rows < 160


def test_given_kernels_have_no_neighbors(rng: np.random.Generator) -> None:
    choice = choose(rng.standard_normal((60, 4)), Supervised(np.arange(60) % 2), Gaussian("auto"), 1, scale="standard")
    assert {candidate.neighbors for candidate in choice.candidates} == {False}
