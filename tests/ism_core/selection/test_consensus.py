"""Settings of clusterings, chosen by what several clusterings agree on."""

import numpy as np
import pytest

from ism_core import (
    Alternative,
    Gaussian,
    InvalidInput,
    Polynomial,
    SemiSupervised,
    Unsupervised,
    UnsupervisedISM,
    solve,
)
from ism_core.arrays import Array, Ints
from ism_core.kernels import Kernel
from ism_core.metrics import nmi
from ism_core.selection import consensus
from ism_core.selection.choose import choose, iter_choose
from tests.ism_core.conftest import TwoClusterings


def clustered(X: Array, paradigm: Unsupervised, kernel: Kernel, q: int) -> Ints:
    labels = solve(X, paradigm, kernel, q, delta=consensus.DELTA).labels
    assert labels is not None
    return labels


def test_the_candidate_that_the_others_agree_with_most_is_taken(two_clusterings: TwoClusterings) -> None:
    choice = choose(two_clusterings.X, Unsupervised(2))
    assert choice.criterion == "consensus"
    assert choice.rows == 120
    assert choice.chosen.score == max(candidate.score for candidate in choice.candidates)
    assert all(0 <= candidate.score <= 1 and candidate.error is not None for candidate in choice.candidates)
    assert [type(candidate.kernel) for candidate in choice.candidates] == [Gaussian] * 4 + [Polynomial]


def test_scores_are_mean_nmi_with_the_other_candidates(two_clusterings: TwoClusterings) -> None:
    X = two_clusterings.X
    choice = choose(X, Unsupervised(4), Gaussian("auto"), 2, scale="none")
    labels = [clustered(X, Unsupervised(4), each.kernel, 2) for each in choice.candidates]
    for index, candidate in enumerate(choice.candidates):
        others = [nmi(labels[index], other) for place, other in enumerate(labels) if place != index]
        assert candidate.score == pytest.approx(np.mean(others))


def test_an_estimator_that_chooses_finds_clusters_that_are_there(two_clusterings: TwoClusterings) -> None:
    both = 2 * two_clusterings.clear + two_clusterings.faint
    fitted = UnsupervisedISM("auto", "auto", n_clusters=4).fit(two_clusterings.X)
    assert nmi(fitted.labels_, both) > 0.9
    assert fitted.choice_ is not None
    assert fitted.components_.shape == (4, 5)


def test_there_are_as_many_axes_as_clusters_unless_columns_are_fewer() -> None:
    X = np.random.default_rng(0).standard_normal((40, 3))
    assert choose(X, Unsupervised(2), "gaussian").chosen.q == 2
    assert choose(X, Unsupervised(5), "gaussian").chosen.q == 3
    assert choose(X, Unsupervised(5), "gaussian", 1, scale="auto").chosen.q == 1


def test_nothing_is_tried_where_only_one_candidate_is_left(two_clusterings: TwoClusterings) -> None:
    trials = list(iter_choose(two_clusterings.X, Unsupervised(2), "gaussian", "auto"))
    assert trials == []
    choice = choose(two_clusterings.X, Unsupervised(2), "gaussian", "auto")
    assert (choice.rows, choice.chosen.scale, choice.chosen.kernel) == (0, "standard", Gaussian())
    assert "default setting" in choice.reason


def test_guided_clusterings_are_chosen_with_their_guidance(two_clusterings: TwoClusterings) -> None:
    X, clear, faint = two_clusterings.X, two_clusterings.clear, two_clusterings.faint
    chosen = choose(X, Alternative(clear, 2), Gaussian("auto"), 1).chosen
    assert nmi(clustered(X, Alternative(clear, 2), chosen.kernel, 1), faint) > 0.9
    scores = np.where(np.arange(120) < 20, faint, np.nan)
    assert choose(X, SemiSupervised(scores, 2), Gaussian("auto"), 1).criterion == "consensus"


def test_many_rows_are_clustered_on_a_sample_that_holds_the_few_that_guide(
    two_clusterings: TwoClusterings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(consensus, "SAMPLE", 60)
    clear = two_clusterings.clear
    guided = np.concatenate([np.flatnonzero(clear == label)[-2:] for label in (0, 1)])
    scores = np.full(120, np.nan)
    scores[guided] = clear[guided]
    choice = choose(two_clusterings.X, SemiSupervised(scores, 2), Gaussian("auto"), 1)
    assert choice.rows == 60
    assert all(np.isfinite(candidate.score) for candidate in choice.candidates)


def test_too_few_rows_get_the_usual_setting_and_a_reason() -> None:
    X = np.random.default_rng(0).standard_normal((9, 3))
    choice = choose(X, Unsupervised(2))
    assert choice.rows == 0
    assert isinstance(choice.chosen.kernel, Gaussian)
    assert "too few rows" in choice.reason


def test_the_same_seed_gives_the_same_choice(two_clusterings: TwoClusterings) -> None:
    one, other = (choose(two_clusterings.X, Unsupervised(2), Gaussian("auto"), seed=3) for _ in range(2))
    assert [(each.kernel, each.score) for each in one.candidates] == [(e.kernel, e.score) for e in other.candidates]


def test_trials_tell_which_candidate_it_is(two_clusterings: TwoClusterings) -> None:
    trials = list(iter_choose(two_clusterings.X, Unsupervised(2), Gaussian("auto")))
    assert [trial.fold for trial in trials] == sorted(trial.fold for trial in trials)
    assert {trial.folds for trial in trials} == {4}
    assert trials[0].tried == 0
    assert trials[-1].tried == 4
    assert 0 < trials[-1].best <= 1


def test_bad_settings_are_refused_before_anything_is_tried(two_clusterings: TwoClusterings) -> None:
    with pytest.raises(InvalidInput, match="q is 9; it must be"):
        iter_choose(two_clusterings.X, Unsupervised(2), "auto", 9)
