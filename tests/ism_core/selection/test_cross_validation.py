"""Candidates are compared by their scores row by row, with corrected standard errors."""

import numpy as np
import pytest

from ism_core.selection.candidates import ScoredKernel
from ism_core.selection.rule import OVERLAP_CORRECTION


def candidate(*folds: list[float]) -> ScoredKernel:
    return ScoredKernel("standard", 2, False, False, 0, [np.array(fold) for fold in folds])


def test_the_shown_error_is_the_one_that_decides() -> None:
    zero, scored = candidate([0.0] * 4, [0.0] * 4), candidate([0, 1, 1, 1], [1, 0, 1, 1])
    rows = np.array([0, 1, 1, 1, 1, 0, 1, 1])
    assert scored.error == pytest.approx(OVERLAP_CORRECTION * rows.std() / np.sqrt(8))
    errors = scored.score / scored.error
    assert scored.is_ahead_of(zero, errors * 0.999)
    assert not scored.is_ahead_of(zero, errors * 1.001)


def test_candidates_are_compared_over_the_folds_that_both_saw() -> None:
    short, long = candidate([1, 1, 1, 0]), candidate([1, 1, 1, 0], [0, 0, 0, 0])
    assert not short.is_ahead_of(long)
    assert not long.is_ahead_of(short)


def test_a_candidate_may_lead_if_it_avoids_every_second_error_to_come() -> None:
    few, many = ([1.0] * 20, [1.0] * 16 + [0.0] * 4), ([1.0] * 20, [1.0] * 12 + [0.0] * 8)
    level, behind = candidate([1.0] * 20), candidate([1.0] * 18 + [0.0] * 2)
    assert not level.may_lead(candidate(*few))
    assert level.may_lead(candidate(*many))
    assert not behind.may_lead(candidate(*many))
