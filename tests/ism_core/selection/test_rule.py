"""The decision rule among candidates, and scores that are corrected for the choice of the best."""

import numpy as np
import pytest

from ism_core.linalg import Scale
from ism_core.selection.candidates import ScoredKernel
from ism_core.selection.rule import corrected_score, decide


def candidate(
    q: int = 2, scale: Scale = "standard", place: int = 0, neighbors: bool = False, linear: bool = False
) -> ScoredKernel:
    return ScoredKernel(scale, q, neighbors, False, place, linear=linear)


def rows(*correct: int) -> np.ndarray:
    """Scores of 100 rows for each candidate, of which so many are 1."""
    return np.array([np.arange(100) < count for count in correct], dtype=float)


def test_the_smallest_q_within_one_standard_error_is_chosen() -> None:
    candidates = [candidate(q=1), candidate(q=2), candidate(q=3)]
    assert decide(candidates, rows(90, 91, 92))[0] == 0
    assert decide(candidates, rows(70, 91, 92))[0] == 1
    assert decide(candidates, rows(70, 80, 92))[0] == 2


def test_whitened_rows_and_wide_kernels_are_simpler() -> None:
    candidates = [candidate(place=0), candidate(place=1), candidate(scale="whiten", place=3)]
    assert decide(candidates, rows(91, 92, 91)) == (2, 1)
    assert decide(candidates, rows(91, 92, 80)) == (0, 1)
    assert decide(candidates, rows(80, 92, 80)) == (1, 1)


def test_a_squared_kernel_is_chosen_if_it_leads_the_choice_among_the_others_on_rows_that_are_scaled_alike() -> None:
    wide, linear, other = candidate(scale="whiten"), candidate(scale="whiten", linear=True), candidate(linear=True)
    best = candidate(scale="whiten", place=3)
    assert decide([wide, best, linear], rows(90, 91, 92)) == (2, 2)
    assert decide([wide, best, linear], rows(90, 91, 90)) == (0, 1)
    assert decide([wide, best, other], rows(90, 91, 92)) == (0, 2)
    assert decide([linear, other], rows(90, 91)) == (1, 1)


def test_with_few_rows_for_each_column_the_better_of_the_simplest_candidates_of_both_scalings_is_chosen() -> None:
    candidates = [candidate(scale=scale, place=place) for scale in ("standard", "whiten") for place in (0, 1)]
    assert decide(candidates, rows(91, 91, 90, 92), prefer_whitened=False) == (0, 3)
    assert decide(candidates, rows(90, 92, 91, 91), prefer_whitened=False) == (2, 1)
    assert decide(candidates, rows(91, 92, 80, 80), prefer_whitened=False) == (0, 1)


def test_for_values_the_best_candidate_of_the_smallest_good_q_is_chosen() -> None:
    candidates = [candidate(scale="whiten"), candidate(place=3, neighbors=True), candidate(q=3)]
    assert decide(candidates, rows(91, 92, 93), are_values=True) == (1, 1)
    assert decide(candidates, rows(71, 72, 93), are_values=True) == (2, 2)


def test_neighbors_are_chosen_only_if_they_lead_by_more_than_one_standard_error() -> None:
    candidates = [candidate(), candidate(neighbors=True, place=2), candidate(neighbors=True, place=4)]
    assert decide(candidates, rows(90, 91, 92)) == (0, 2)
    assert decide(candidates, rows(80, 91, 92)) == (2, 2)
    assert decide(candidates[1:], rows(91, 92)) == (1, 1)


def test_the_corrected_score_of_guesses_is_chance(rng: np.random.Generator) -> None:
    """The best of 40 guesses is right more often than chance on the rows that it was chosen on, not on others."""
    candidates = [candidate(place=place) for place in range(40)]
    best, corrected = [], []
    for _ in range(10):
        scores = rng.integers(0, 2, (40, 100)).astype(float)
        best.append(scores.mean(axis=1).max())
        corrected.append(corrected_score(candidates, scores, 1 - scores, np.ones(100), rng).score)
    assert np.mean(best) > 0.58
    assert np.mean(corrected) == pytest.approx(0.5, abs=0.03)


def test_without_a_choice_there_is_nothing_to_correct(rng: np.random.Generator) -> None:
    found = corrected_score([candidate()], rows(80), 1 - rows(80), np.ones(100), rng)
    assert found.score == pytest.approx(0.8)
    assert found.error == pytest.approx(1.5 * 0.4 / 10)
