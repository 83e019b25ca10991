"""Estimates of the time that is left."""

import json
import math

import numpy as np
import pytest

from ism_core import Step
from worker.progress import JobClock, Progress


def step(iteration: int, change: float | None, angle: float | None = 0.1, stage: str = "ascent") -> Step:
    return Step(stage, 0, iteration, 1.0, np.ones(1), change, angle, 0.1, np.eye(1))


@pytest.mark.parametrize("delta", [1.0, 0.01, 1e-300])
@pytest.mark.parametrize("factor", [0.1, 1.0, 3.0, 0.0])
@pytest.mark.parametrize("folds", [0, 5])
def test_an_estimate_is_none_or_a_time(delta: float, factor: float, folds: int) -> None:
    clock, change = JobClock(10, folds), 0.5
    found = [clock.after_step(step(0, None, None), 0, delta)]
    for iteration in range(1, 13):  # a job that goes on may pass max_iter
        found.append(clock.after_step(step(iteration, change, change), iteration, delta))
        change *= factor
    assert found[:2] == [None, None]
    assert all(seconds is not None and 0 <= seconds < math.inf for seconds in found[2:])


def test_the_search_tells_nothing() -> None:
    assert JobClock(100, 0).after_step(step(3, 0.1, stage="search"), 3, 0.01) is None


def test_folds_that_are_done_tell_how_long_the_others_take() -> None:
    clock = JobClock(100, 4)
    assert clock.after_fold(0, 0.0) is None
    assert clock.after_fold(2, 0.0) >= 0
    assert clock.after_fold(4, 0.0) == 0


def test_progress_is_json() -> None:
    document = Progress("ascent", 3, 100, 1.5, None, 0.1, 1.23456, None).document()
    assert json.loads(json.dumps(document, allow_nan=False)) == document
    assert document["elapsed_seconds"] == 1.235
    assert document["remaining_seconds"] is None
