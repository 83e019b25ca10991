"""Pairs of rows that guide a clustering."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import normalized_mutual_info_score

from ism_core import Gaussian, InvalidInput, Linked, SemiSupervisedISM, Unsupervised, choose, solve
from ism_core.paradigms.links import Links

ROWS = 12
PAIRS = st.lists(st.tuples(st.integers(0, ROWS - 1), st.integers(0, ROWS - 1)).filter(lambda p: p[0] != p[1]))


def two_clusterings(seed: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return rows with an obvious clustering, in two columns, and a weaker one in a third column."""
    rng = np.random.default_rng(seed)
    obvious, hidden = rng.integers(2, size=(2, 200))
    X = rng.standard_normal((200, 6)) + np.outer(4 * obvious, [1, 1, 0, 0, 0, 0]) + np.outer(4 * hidden, np.eye(6)[2])
    return (X - X.mean(axis=0)) / X.std(axis=0), obvious, hidden


def pairs_of(labels: np.ndarray, count: int) -> tuple[np.ndarray, np.ndarray]:
    """Return pairs of rows of the same cluster, and of different clusters."""
    pairs = np.random.default_rng(1).permutation(len(labels))[: 2 * count].reshape(-1, 2)
    same = labels[pairs[:, 0]] == labels[pairs[:, 1]]
    return pairs[same], pairs[~same]


def test_pairs_lead_to_a_clustering_that_is_not_found_without_them() -> None:
    X, obvious, hidden = two_clusterings()
    must, cannot = pairs_of(hidden, 40)
    free = solve(X, Unsupervised(2), Gaussian(1.5), 1)
    linked = solve(X, Linked(must, cannot, 2, len(X)), Gaussian(1.5), 1)
    assert normalized_mutual_info_score(obvious, free.labels) > 0.9
    assert normalized_mutual_info_score(hidden, linked.labels) > 0.7
    assert np.abs(linked.W[2, 0]) > 0.9


def test_a_choice_of_settings_keeps_the_pairs() -> None:
    X, _, hidden = two_clusterings()
    must, cannot = pairs_of(hidden, 40)
    model = SemiSupervisedISM("auto", 1, n_clusters=2, must_link=must, cannot_link=cannot).fit(X)
    assert (model.labels_[must[:, 0]] == model.labels_[must[:, 1]]).all()
    assert (model.labels_[cannot[:, 0]] != model.labels_[cannot[:, 1]]).all()
    choice = choose(X, Linked(must, cannot, 2, len(X)), q=1)
    assert choice.chosen.kernel == model.choice_.chosen.kernel


@settings(max_examples=50, deadline=None)
@given(PAIRS, PAIRS, st.sets(st.integers(0, ROWS - 1)))
def test_groups_agree_with_the_pairs_and_with_those_among_some_rows(must: list, cannot: list, some: set) -> None:
    try:
        links = Links.of(must, cannot, ROWS)
    except InvalidInput:  # no pairs, or pairs that contradict each other
        return
    assert all(links.groups[one] == links.groups[other] >= 0 for one, other in must)
    assert all(links.groups[one] != links.groups[other] for one, other in cannot)
    gamma = links.gamma
    assert np.abs(np.linalg.eigvalsh((gamma.U * gamma.s) @ gamma.U.T)).max() < 1 + 1e-9
    assert np.abs(gamma.U.sum(axis=0)).max() < 1e-9
    rows = np.array(sorted(some), dtype=int)
    few = links.restricted(rows)
    place = {row: number for number, row in enumerate(rows)}
    among = [(place[one], place[other]) for one, other in must if one in place and other in place]
    assert all(few.groups[one] == few.groups[other] >= 0 for one, other in among)
    apart = {tuple(sorted(pair)) for pair in few.apart.tolist()}
    for one, other in cannot:
        if one in place and other in place:
            assert tuple(sorted((few.groups[place[one]], few.groups[place[other]]))) in apart


def test_too_few_clusters_for_all_pairs_are_said() -> None:
    X, _, _ = two_clusterings()
    result = solve(X, Linked([[0, 1]], [[0, 2], [2, 3], [0, 3]], 2, len(X)), Gaussian(1.5), 1)
    assert result.labels[0] == result.labels[1]
    assert any("1 pair of rows" in warning for warning in result.warnings)


@pytest.mark.parametrize(
    ("must", "cannot", "said"),
    [
        ([], [], "have no pairs"),
        ([[0, 1], [1, 2]], [[0, 2]], "pair [0, 2]"),
        ([[0, 12]], [], "numbered from 0 to 11"),
        ([[0.5, 1]], [], "pairs of row numbers"),
        ([0, 1], [], "pairs of row numbers"),
    ],
)
def test_bad_pairs_get_a_sentence(must: list, cannot: list, said: str) -> None:
    with pytest.raises(InvalidInput, match=said.replace("[", r"\[")):
        Linked(must, cannot, 2, ROWS)


def test_pairs_are_not_combined_with_scores() -> None:
    with pytest.raises(InvalidInput, match="cannot be combined"):
        SemiSupervisedISM("gaussian", must_link=[[0, 1]]).fit(np.eye(4), [0, 0, 1, 1])
