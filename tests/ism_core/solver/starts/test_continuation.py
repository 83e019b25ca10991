"""The path from wide kernels to narrow ones."""

from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from ism_core import Gaussian, InvalidInput, Multiquadratic, Polynomial, Supervised, Unsupervised, choose, solve
from ism_core.gamma import LabelGamma
from ism_core.kernels import Kernel, median_distance
from ism_core.linalg import RowSpace, standardized
from ism_core.objective import ClassNeighborGamma, Problem
from ism_core.solver.starts.candidates import initial_surrogate
from ism_core.solver.starts.continuation import WIDTH_RATIO, first_width, kernel_width, path_kernels, with_width
from tests.ism_core.conftest import Labelled


@pytest.fixture(scope="module")
def median(wdbc: Labelled) -> float:
    return median_distance(wdbc.X, np.random.default_rng(0))


def supervised(data: Labelled, kernel: Kernel) -> Problem:
    return Problem.of(data.X, Supervised(data.y).target_gamma(), kernel, 2)


def test_a_path_begins_at_the_median_distance_and_narrows_step_by_step(wdbc: Labelled, median: float) -> None:
    kernels = path_kernels(supervised(wdbc, Gaussian(0.2 * median)), wdbc.X, np.random.default_rng(0), asked=False)
    found = [kernel_width(kernel) for kernel in kernels if isinstance(kernel, Gaussian)]
    assert found[0] == median
    assert found[-1] == 0.2 * median
    assert all(after / before == pytest.approx(WIDTH_RATIO) for before, after in pairwise(found[:-1]))
    assert WIDTH_RATIO**1.5 < found[-1] / found[-2] < WIDTH_RATIO**0.4


def test_a_kernel_as_wide_as_the_median_has_no_path(wdbc: Labelled, median: float) -> None:
    problem, rng = supervised(wdbc, Gaussian(0.8 * median)), np.random.default_rng(0)
    assert path_kernels(problem, wdbc.X, rng, asked=False) == []
    assert path_kernels(problem, wdbc.X, rng, asked=True) == [Gaussian(0.8 * median)]


def test_where_neighbors_count_a_path_begins_at_half_the_median_distance_of_projected_rows(wdbc: Labelled) -> None:
    gamma, kernel, rng = ClassNeighborGamma.of(wdbc.y), Gaussian(0.1), np.random.default_rng(0)
    problem = Problem.of(wdbc.X, gamma, kernel, 2)
    kernels = path_kernels(problem, wdbc.X, rng, asked=True)
    assert isinstance(kernels[0], Gaussian)
    assert kernel_width(kernels[0]) == pytest.approx(0.5 * median_distance(wdbc.X @ initial_surrogate(problem).W, rng))
    assert kernels[-1] == kernel


@pytest.mark.parametrize("kernel", [Gaussian(2.0), Multiquadratic(2.0), Polynomial(gamma=0.25)])
def test_widths_are_lengths_for_all_kernels_that_have_one(kernel: Any) -> None:
    assert kernel_width(kernel) == pytest.approx(2.0)
    assert kernel_width(with_width(kernel, 0.5)) == pytest.approx(0.5)


def test_a_narrow_gaussian_ends_higher_by_the_path_than_from_the_papers_own_start(digits: Labelled) -> None:
    """W of a path is handed on from kernel to kernel; from Φ0, the narrow kernel finds none as good."""
    X, paradigm = standardized(digits.X[:500])[0], Supervised(digits.y[:500])
    kernel = Gaussian(0.12 * median_distance(X, np.random.default_rng(0)))
    by_path, alone = (solve(X, paradigm, kernel, 2, starts=starts) for starts in (None, 1))
    assert by_path.objective > 1.002 * alone.objective
    assert by_path.converged


@pytest.mark.parametrize("kernel", [Multiquadratic(0.5), Polynomial(degree=2, gamma=0.5)])
def test_other_kernels_follow_a_path_if_they_are_asked_to(kernel: Any, wine: Labelled) -> None:
    """And end at a maximum, as from any other start."""
    result = solve(wine.X, Supervised(wine.y), kernel, 2, starts="path")
    assert result.converged
    assert result.certificate.second_order
    assert result.kernel == kernel


def test_a_path_is_refused_where_there_is_none(wine: Labelled) -> None:
    with pytest.raises(InvalidInput, match="only Gaussian, multiquadratic and polynomial kernels have a width"):
        solve(wine.X, Supervised(wine.y), "linear", 2, starts="path")
    with pytest.raises(InvalidInput, match="not available for clusterings; give a number, or None"):
        solve(wine.X, Unsupervised(3), "gaussian", 2, starts="path")
    with pytest.raises(InvalidInput, match="starts is 'road'"):
        solve(wine.X, Supervised(wine.y), "gaussian", 2, starts="road")  # type: ignore[arg-type]


@pytest.mark.parametrize("kernel", [Gaussian("auto"), Multiquadratic("auto"), Polynomial(gamma="auto")])
def test_a_width_that_is_to_be_chosen_must_be_chosen_first(kernel: Any, wine: Labelled) -> None:
    with pytest.raises(InvalidInput, match="call `choose`, use an estimator"):
        solve(wine.X, Supervised(wine.y), kernel, 2)


def test_the_path_of_a_polynomial_counts_the_columns_of_the_table_and_not_those_of_its_row_space(
    rng: np.random.Generator,
) -> None:
    """With 30 rows in 90 columns, γ is scored in a row space of 19 dimensions and returned for one of 29."""
    X, y, kernel = rng.standard_normal((30, 90)), np.arange(30) % 3, Polynomial(gamma=1.0)
    for rows in (np.arange(20), np.arange(30)):
        space = RowSpace.of(X[rows], 2)
        problem = Problem.of(space.Z, LabelGamma.of(y[rows]), kernel, 2, space.null_directions)
        assert problem.X.shape[1] < 90
        assert first_width(problem, X[rows], rng) == pytest.approx(np.sqrt(90))


def test_a_choice_for_more_columns_than_rows_returns_the_polynomial_that_it_scored(rng: np.random.Generator) -> None:
    X = rng.standard_normal((30, 90))
    choice = choose(X, Supervised(np.arange(30) % 3), Polynomial(gamma="auto"), 1, scale="standard")
    widest = choice.candidates[0].kernel
    assert isinstance(widest, Polynomial)
    assert widest.gamma == pytest.approx(1 / 90)
