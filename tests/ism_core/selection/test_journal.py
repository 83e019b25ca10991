"""The same choice, whoever computes the scores: one process or two, one thread or four, in one go or resumed."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn.datasets import load_wine
from threadpoolctl import threadpool_limits

from ism_core import Choice, Supervised, choose, iter_choose
from ism_core.arrays import Array
from ism_core.selection import Journal
from ism_core.solver import ReturnCapture

WINE = load_wine()
X, PARADIGM = WINE.data[::2, :6], Supervised(WINE.target[::2])


@pytest.fixture(scope="module")
def alone() -> Choice:
    return choose(X, PARADIGM)


def assert_same(choice: Choice, other: Choice) -> None:
    assert [(each.kernel, each.q, each.scale, each.score) for each in choice.candidates] == [
        (each.kernel, each.q, each.scale, each.score) for each in other.candidates
    ]
    assert choice.chosen.kernel == other.chosen.kernel
    assert choice.out_of_fold is not None
    assert other.out_of_fold is not None
    assert choice.out_of_fold.corrected == other.out_of_fold.corrected
    np.testing.assert_array_equal(choice.out_of_fold.predictions, other.out_of_fold.predictions)


def test_a_second_process_does_not_change_the_choice(alone: Choice) -> None:
    assert_same(choose(X, PARADIGM, may_fork=True), alone)


def test_the_number_of_threads_does_not_change_the_choice() -> None:
    """A sixth of the rows, because this is a choice three times, and few rows on many threads take long."""
    rows = slice(None, None, 6)
    one, *others = (_chosen(threads, rows) for threads in (1, 2, 4))
    for other in others:
        assert_same(one, other)


@pytest.mark.thorough
def test_the_number_of_threads_does_not_change_a_choice_that_narrows_kernels_on_many_rows() -> None:
    """These rows are more than 2.5 times a sample, and their sums run on all threads."""
    rng = np.random.default_rng(0)
    X = rng.uniform(-2, 2, (2_100, 3))
    y = np.sin(3 * X[:, 0]) + 0.1 * rng.standard_normal(2_100)
    one, *others = (_chosen(threads, slice(None), X, y) for threads in (1, 2, 4))
    assert "were tried on 2,100 rows" in one.reason
    for other in others:
        assert_same(one, other)


def _chosen(threads: int, rows: slice, X: Array = WINE.data[:, :6], y: Array = WINE.target) -> Choice:
    with threadpool_limits(threads, user_api="blas"):
        return choose(X[rows], Supervised(y[rows]))


def test_a_choice_resumes_from_its_journal(alone: Choice) -> None:
    journal: Journal = {}
    search = iter_choose(X, PARADIGM, journal=journal)
    tried = 0
    while len(journal) < 8:
        tried = next(search).tried
    search.close()
    known = sum(map(len, journal.values()))
    assert known >= tried / 2
    stored = {key: [replace(score, kernel=None, loadings=None) for score in journal[key]] for key in journal}
    resumed = ReturnCapture(iter_choose(X, PARADIGM, journal=stored))
    assert min(trial.tried for trial in resumed) > known  # what the journal has is not computed again
    assert_same(resumed.value, alone)
