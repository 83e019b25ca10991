"""A search that is told to end keeps the best so far and says so; its trials show the leader."""

from collections.abc import Callable

import numpy as np
import pytest
from sklearn.datasets import load_wine

from ism_core import Supervised, Trial, Unsupervised
from ism_core.linalg import Scaling
from ism_core.selection import Choice, fold_paths, iter_choose
from ism_core.solver import ReturnCapture

WINE = load_wine()
X, Y = WINE.data[::2], WINE.target[::2]


def finished(paradigm: Supervised | Unsupervised, after: int) -> tuple[list[Trial], Choice]:
    trials: list[Trial] = []
    finish: Callable[[], bool] = lambda: len(trials) >= after  # noqa: E731
    search = ReturnCapture(iter_choose(X, paradigm, finish=finish))
    for trial in search:
        trials.append(trial)
    return trials, search.value


@pytest.mark.parametrize("after", [1, 7, 25])
def test_a_finished_search_chooses_among_what_it_has_tried(after: int) -> None:
    trials, choice = finished(Supervised(Y), after)
    assert len(trials) == after
    assert choice.cut_short
    assert choice.reason.startswith("The search was finished early.")
    assert choice.chosen in choice.candidates
    assert len(choice.candidates) <= after
    assert choice.out_of_fold is not None
    assert len(choice.out_of_fold.rows) == len(choice.out_of_fold.predictions) <= len(X)


def test_a_search_that_is_finished_in_its_first_ascent_has_one_candidate(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fold_paths, "TICK_SECONDS", 0.0)  # so that the ascent gives signs of life
    _, choice = finished(Supervised(Y), 0)
    assert choice.cut_short
    assert choice.candidates == (choice.chosen,)


def test_a_search_that_nobody_finishes_is_not_cut_short() -> None:
    trials, choice = finished(Supervised(Y), 10**9)
    assert not choice.cut_short
    assert len(trials) > 25


def test_each_trial_shows_the_leader_whose_projection_separates_the_classes() -> None:
    trials, _ = finished(Supervised(Y), 12)
    for trial in trials:
        assert trial.leader is not None
        assert trial.leader.score == trial.best
        assert trial.leader.loadings.shape == (X.shape[1], trial.leader.q)
    leader = trials[-1].leader
    assert leader is not None
    P = Scaling.learned(X, "standard")[1] @ leader.loadings
    within = sum(P[each == Y].var(axis=0).sum() * (each == Y).mean() for each in range(3))
    assert within < 0.3 * P.var(axis=0).sum()


def test_a_clustering_that_is_finished_at_once_gets_the_default_setting() -> None:
    _, choice = finished(Unsupervised(3), 1)
    assert choice.cut_short
    assert np.isnan(choice.chosen.score)


def test_a_clustering_that_is_finished_later_chooses_among_the_clusterings_so_far() -> None:
    all_trials, complete = finished(Unsupervised(3), 10**9)
    second = next(place for place, trial in enumerate(all_trials) if trial.tried == 2)
    trials, choice = finished(Unsupervised(3), second + 1)
    assert choice.cut_short
    assert len(choice.candidates) == 2 < len(complete.candidates)
    leader = trials[-1].leader
    assert leader is not None
    assert leader.labels is not None
    assert len(leader.labels) == len(X)
