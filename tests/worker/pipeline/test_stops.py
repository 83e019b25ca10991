"""The stops of a tour: the best candidates whose axes differ."""

import numpy as np

from ism_core import Choice, Gaussian
from ism_core.selection import Candidate
from worker.pipeline.stops import MOST_STOPS, MOST_WEIGHTS, stops_of

X = np.random.default_rng(0).standard_normal((60, 5))
AXES = np.eye(5)


def candidate(score: float, *columns: int, tilt: float = 0.0) -> Candidate:
    loadings = AXES[:, columns].copy()
    loadings[4] += tilt
    return Candidate(Gaussian(1.0), "standard", len(columns), False, score, None, 0.0, loadings=loadings)


def choice_of(*candidates: Candidate) -> Choice:
    return Choice("accuracy", candidates, candidates[0], len(X), "It has the best score.")


def test_stops_are_the_best_candidates_whose_axes_differ() -> None:
    chosen, other, alike = candidate(0.8, 0, 1), candidate(0.9, 2, 3), candidate(0.85, 2, 3, tilt=0.1)
    worse = candidate(0.5, 0, 2)
    assert stops_of(choice_of(chosen, worse, alike, other), X) == [other, worse]


def test_an_axis_of_the_chosen_plane_is_no_stop() -> None:
    chosen = candidate(0.9, 0, 1)
    assert stops_of(choice_of(chosen, candidate(0.8, 1), candidate(0.7, 0, 1)), X) == []


def test_stops_fit_into_the_picture_and_into_the_result() -> None:
    chosen = candidate(0.9, 0)
    plane, space = candidate(0.8, 1, 2), candidate(0.85, 1, 2, 3)
    assert stops_of(choice_of(chosen, space, plane), X) == [plane]
    many = [candidate(0.9 - place / 100, *pair) for place, pair in enumerate(np.ndindex(5, 5)) if pair[0] < pair[1]]
    assert len(stops_of(choice_of(chosen, *many), X)) <= MOST_STOPS
    large = Candidate(Gaussian(1.0), "standard", 2, False, 1.0, None, 0.0, loadings=np.zeros((MOST_WEIGHTS, 2)))
    assert large not in stops_of(choice_of(chosen, large, plane), X)
