"""Results of checks are kept for the next job on the same description: they are those of a description seen first."""

import random

from ism_jobs.checks import problems
from ism_jobs.checks.job import KEPT_RESULTS
from ism_jobs.tables import Description
from tests.ism_jobs.checks.test_job import REFUSED, WINE, spec


def test_earlier_jobs_on_a_data_set_do_not_change_what_is_said_of_a_job() -> None:
    cases = [(description, each) for description, each, *_ in REFUSED] * 2
    random.Random(0).shuffle(cases)
    for description, each in cases:
        fresh = Description.model_validate(description.model_dump())
        assert problems(each, description) == problems(each, fresh)


def test_the_way_of_dates_and_text_is_not_mixed_up() -> None:
    for _ in range(2):
        for fields in ({}, {"features": "all"}, {"features": ["ash"]}, {"missing": "drop"}, {"dates": "number"}):
            fresh = Description.model_validate(WINE.model_dump())
            assert problems(spec(q=4, **fields), WINE) == problems(spec(q=4, **fields), fresh)


def test_many_different_jobs_are_checked_with_few_results_kept() -> None:
    for number in range(2 * KEPT_RESULTS):
        names = [name for place, name in enumerate(("alcohol", "ash", "hue", "year")) if number >> place & 1]
        features = [*names, f"unknown{number}"]
        assert [error.field for error in problems(spec(features=features), WINE)] == [f"features.{len(names)}"]
