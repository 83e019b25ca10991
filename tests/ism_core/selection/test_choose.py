"""Settings that are chosen by cross-validation."""

from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_wine

from ism_core import Gaussian, InvalidInput, Linear, Multiquadratic, Polynomial, Supervised, SupervisedISM
from ism_core.arrays import Array, Ints
from ism_core.linalg import Scale, Scaling
from ism_core.selection.candidates import ScoredKernel
from ism_core.selection.choose import SAMPLE, choose, iter_choose
from tests.support.pairwise import with_thorough


@pytest.fixture(scope="module")
def rings() -> tuple[Array, Ints]:
    """Two classes, one around the other in two of thirty columns."""
    rng = np.random.default_rng(0)
    y = np.arange(240) % 2
    angle = rng.uniform(0, 2 * np.pi, 240)
    X = rng.standard_normal((240, 30))
    X[:, :2] = (0.5 + 1.5 * y)[:, None] * np.column_stack([np.cos(angle), np.sin(angle)])
    X[:, :2] += 0.1 * rng.standard_normal((240, 2))
    return X, y


def test_the_scores_that_a_choice_shows_are_those_of_unseen_rows(rng: np.random.Generator) -> None:
    """Labels that have nothing to do with the rows are told by chance, however narrow the kernel."""
    X, y = rng.standard_normal((200, 20)), np.arange(200) % 2
    choice = choose(X, Supervised(y), "auto", 2)
    assert all(abs(candidate.score - 0.5) < 0.15 for candidate in choice.candidates)


def test_the_choice_is_hardly_worse_than_the_best(rings: tuple[Array, Ints]) -> None:
    choice = choose(rings[0], Supervised(rings[1]), "auto", 2)
    best = max(choice.candidates, key=lambda candidate: candidate.score)
    assert best.score > 0.9
    assert best.error is not None
    assert best.score - choice.chosen.score <= best.error + 0.01
    assert choice.chosen in choice.candidates
    assert choice.criterion == "accuracy"
    assert choice.rows == 240


def test_a_narrower_kernel_is_chosen_where_the_median_distance_is_too_wide(rings: tuple[Array, Ints]) -> None:
    choice = choose(rings[0], Supervised(rings[1]), "auto", 2, scale="standard")
    widest = choice.candidates[0]
    assert isinstance(choice.chosen.kernel, Gaussian)
    assert isinstance(widest.kernel, Gaussian)
    assert float(choice.chosen.kernel.sigma) < 0.8 * float(widest.kernel.sigma)
    assert choice.chosen.score > widest.score + 0.05


def test_what_is_given_is_not_chosen() -> None:
    X, y = load_wine(return_X_y=True)
    choice = choose(X, Supervised(y), "linear", 2)
    assert {candidate.kernel for candidate in choice.candidates} == {Linear()}
    assert {candidate.scale for candidate in choice.candidates} == {"standard", "whiten"}
    choice = choose(X, Supervised(y), Gaussian(3.0), "auto", scale="none")
    assert {candidate.scale for candidate in choice.candidates} == {"none"}
    assert {candidate.q for candidate in choice.candidates} <= {1, 2, 3}
    assert len(choice.candidates) == len({candidate.q for candidate in choice.candidates})


@pytest.mark.parametrize("kernel", [Multiquadratic("auto"), Polynomial(degree=2, gamma="auto")])
def test_other_kernels_have_paths_too(kernel: Any) -> None:
    X, y = load_wine(return_X_y=True)
    choice = choose(X, Supervised(y), kernel, 2, scale="standard")
    assert len(choice.candidates) > 1
    assert all(type(candidate.kernel) is type(kernel) for candidate in choice.candidates)
    assert choice.chosen.score > 0.95


@pytest.mark.parametrize(("scale", "share"), [("standard", 1.0), ("whiten", 0.5)])
def test_candidates_begin_at_the_median_distance_of_all_rows_or_at_half_of_it(scale: Scale, share: float) -> None:
    X, y = load_wine(return_X_y=True)
    choice = choose(X, Supervised(y), "auto", 2, scale=scale)
    median = Gaussian().fitted_to(Scaling.learned(X, scale, y)[1], np.random.default_rng(0)).sigma
    widest = choice.candidates[0].kernel
    assert isinstance(widest, Gaussian)
    assert widest.sigma == pytest.approx(share * median)


def test_three_rows_more_are_a_lead_and_two_are_not() -> None:
    """Of a hundred, judged in folds whose rows to learn from are nearly the same."""
    better, other = (ScoredKernel("standard", 2, False, False, 0) for _ in range(2))
    for more, ahead in ((2, False), (3, True)):
        other.scores = [np.ones(50), np.ones(50)]
        other.scores[0][:more] = 0
        better.scores = [np.ones(50), np.ones(50)]
        assert better.is_ahead_of(other) == ahead
        assert not other.is_ahead_of(better)


def test_no_more_axes_are_taken_than_help(rng: np.random.Generator) -> None:
    """Two classes along one direction need one axis, six classes in a plane two, and six in as many directions more."""
    X = rng.standard_normal((240, 12))
    X[:, 11] = X[:, 10] + 0.05 * rng.standard_normal(240)  # two collinear columns of noise
    linear = (X[:, :3] @ [1, 0.8, -0.6] + 0.3 * rng.standard_normal(240) > 0).astype(int)
    assert choose(X, Supervised(linear)).chosen.q == 1
    y = np.arange(240) % 6
    angle = y * np.pi / 3
    planar = 0.5 * rng.standard_normal((240, 8))
    planar[:, :2] += 4 * np.column_stack([np.cos(angle), np.sin(angle)])
    assert choose(planar, Supervised(y), "auto", "auto").chosen.q == 2
    spread = rng.standard_normal((240, 8))
    spread[np.arange(240), y] += 4
    assert choose(spread, Supervised(y), "auto", "auto").chosen.q > 2


@pytest.mark.parametrize("kind", with_thorough(["xor", "product", "ring"], ["xor"]))
def test_columns_that_matter_only_together_are_found(rng: np.random.Generator, kind: str) -> None:
    X = rng.standard_normal((300, 15))
    x0, x1 = X[:, 0], X[:, 1]
    y = {"xor": (x0 * x1 > 0).astype(int), "ring": (x0**2 + x1**2 > 1.4).astype(int), "product": x0 * x1}[kind]
    fitted = SupervisedISM("auto", "auto").fit(X, y)
    assert fitted.choice_ is not None
    assert fitted.choice_.chosen.q == 2
    assert fitted.feature_importances_[:2].sum() > 0.8


def test_nothing_more_is_tried_once_no_row_is_missed(rng: np.random.Generator) -> None:
    y = np.arange(90) % 3
    X = rng.standard_normal((90, 4))
    X[:, :3] += 40 * np.eye(3)[y]
    choice = choose(X, Supervised(y))
    assert choice.chosen.score == 1
    assert max(candidate.q for candidate in choice.candidates) == choice.chosen.q < 3


def test_real_targets_are_scored_by_r2(rng: np.random.Generator) -> None:
    X = rng.standard_normal((150, 6))
    choice = choose(X, Supervised(np.tanh(2 * X[:, 2]) + 0.1 * rng.standard_normal(150)), "auto", 1)
    assert choice.criterion == "r2"
    assert 0.5 < choice.chosen.score <= 1


def test_many_rows_are_searched_on_a_sample(rng: np.random.Generator) -> None:
    n = SAMPLE + 500
    y = np.repeat([0, 1], [n - 20, 20])
    X = rng.standard_normal((n, 3)) + 3 * y[:, None]
    choice = choose(X, Supervised(y), "linear", 1, scale="auto")
    assert SAMPLE <= choice.rows <= SAMPLE + 10


def test_too_few_rows_get_the_usual_setting_and_a_reason() -> None:
    X, y = load_wine(return_X_y=True)
    choice = choose(X[55:63], Supervised(y[55:63]), "auto", "auto")
    assert choice.rows == 0
    assert choice.chosen.scale == "standard"
    assert choice.chosen.q == 1
    assert "too few rows" in choice.reason
    lonely = np.array([0] * 29 + [1])
    assert choose(X[:30], Supervised(lonely), "auto", 2).rows == 0


def test_trials_tell_how_far_a_choice_is() -> None:
    X, y = load_wine(return_X_y=True)
    trials = list(iter_choose(X, Supervised(y), "linear", "auto"))
    tried = [trial.tried for trial in trials]
    assert tried == sorted(tried)  # on a busy machine, some trials are repeated as a sign of life
    assert set(tried) == set(range(1, tried[-1] + 1))
    assert {trial.folds for trial in trials} == {5}
    assert trials[0].fold == 1
    assert 0.9 < trials[-1].best <= 1


def test_bad_settings_are_refused_before_anything_is_tried() -> None:
    X, y = load_wine(return_X_y=True)
    for wrong, sentence in (
        ({"q": 14}, 'q is 14; it must be "auto" or a whole number from 1 to the 13'),
        ({"q": "many"}, "q is 'many'"),
        ({"scale": "robust"}, "scale is 'robust'"),
        ({"kernel": "round"}, "kernel is 'round'"),
    ):
        with pytest.raises(InvalidInput, match=sentence):
            iter_choose(X, Supervised(y), **wrong)
