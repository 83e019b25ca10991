"""Clusterings of many rows: found on a sample first, then on all rows by products alone."""

from collections.abc import Callable

import numpy as np
import pytest

from ism_core import Alternative, Result, SemiSupervised, Step, Unsupervised, iter_solve, solve
from ism_core.linalg.subspaces import largest_angle
from ism_core.metrics import nmi
from ism_core.paradigms import Paradigm
from ism_core.paradigms import spectral as clustering
from ism_core.solver import alternation
from tests.ism_core.conftest import Labelled, TwoClusterings

PARADIGMS: dict[str, Callable[[Labelled], Paradigm]] = {
    "unsupervised": lambda data: Unsupervised(3),
    "semi-supervised": lambda data: SemiSupervised(np.where(np.arange(len(data.y)) % 2, np.nan, data.y), 3),
    "alternative": lambda data: Alternative(np.arange(len(data.y)) % 2, 3),
}


@pytest.fixture(scope="module")
def many() -> Labelled:
    """360 rows in three clusters along two of five axes."""
    rng = np.random.default_rng(8)
    y = rng.integers(0, 3, 360)
    X = rng.standard_normal((360, 5))
    X[:, :2] += 7.0 * np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]])[y]
    return Labelled(X - X.mean(axis=0), y)


@pytest.fixture
def few_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(alternation, "DENSE_ROWS", 120)
    monkeypatch.setattr(clustering, "DENSE_ROWS", 120)
    monkeypatch.setattr(alternation, "SAMPLE_ROWS", 90)


def watched(data: Labelled, paradigm: Paradigm, kernel: str, starts: int | None = None) -> tuple[list[Step], Result]:
    steps = iter_solve(data.X, paradigm, kernel, 2, starts=starts)
    seen = []
    while True:
        try:
            seen.append(next(steps))
        except StopIteration as end:
            return seen, end.value


@pytest.mark.parametrize("name", PARADIGMS)
@pytest.mark.parametrize("kernel", ["gaussian", "polynomial", "multiquadratic"])
def test_clusters_of_many_rows_are_those_of_few(
    name: str, kernel: str, many: Labelled, request: pytest.FixtureRequest
) -> None:
    dense = solve(many.X, PARADIGMS[name](many), kernel, 2)
    request.getfixturevalue("few_at_a_time")
    seen, result = watched(many, PARADIGMS[name](many), kernel)
    assert result.converged
    assert nmi(result.labels, dense.labels) > 0.95
    assert nmi(result.labels, many.y) > 0.95
    assert largest_angle(dense.W, result.W) < 0.05
    assert result.objective == pytest.approx(dense.objective, rel=0.01)
    assert result.spectral.shape == (360, 3)
    stages = [step.stage for step in seen]
    assert stages == sorted(stages, reverse=True)  # "search" on the sample, then "ascent"
    assert {"search", "ascent"} == set(stages)
    assert [id(step) for step in seen if step.stage == "ascent"] == [id(step) for step in result.steps]
    assert [step.iteration for step in result.steps] == list(range(len(result.steps)))


def test_few_rows_need_no_sample(many: Labelled) -> None:
    seen, result = watched(many, Unsupervised(3), "gaussian")
    assert all(step.stage == "ascent" for step in seen)
    assert tuple(map(id, seen)) == tuple(map(id, result.steps))


@pytest.mark.usefixtures("few_at_a_time")
@pytest.mark.parametrize("kernel", ["gaussian", "polynomial"])
def test_going_on_from_where_a_solve_ended_stays_there(kernel: str, many: Labelled) -> None:
    whole = solve(many.X, Unsupervised(3), kernel, 2)
    resumed = solve(many.X, Unsupervised(3), kernel, 2, initial_W=whole.W)
    assert len(resumed.steps) <= len(whole.steps) + 2
    assert resumed.converged
    assert largest_angle(whole.W, resumed.W) < 0.02
    assert nmi(whole.labels, resumed.labels) > 0.99


@pytest.mark.usefixtures("few_at_a_time")
def test_going_on_from_a_solve_that_was_stopped_ends_where_it_would_have(many: Labelled) -> None:
    whole = solve(many.X, Unsupervised(3), "gaussian", 2)
    steps = iter_solve(many.X, Unsupervised(3), "gaussian", 2)
    stopped = next(step for step in steps if step.stage == "ascent")
    resumed = solve(many.X, Unsupervised(3), "gaussian", 2, initial_W=stopped.W)
    assert largest_angle(whole.W, resumed.W) < 0.02
    assert nmi(whole.labels, resumed.labels) > 0.99


@pytest.mark.usefixtures("few_at_a_time")
def test_max_iter_ends_clusterings_of_many_rows(many: Labelled) -> None:
    result = solve(many.X, Unsupervised(3), "gaussian", 2, max_iter=1, delta=1e-6)
    assert not result.converged
    assert len(result.labels) == 360
    assert "raise max_iter" in result.warnings[0]


@pytest.mark.usefixtures("few_at_a_time")
def test_the_same_seed_gives_the_same_clusters(many: Labelled) -> None:
    one, again = (solve(many.X, Unsupervised(3), "gaussian", 2, seed=4) for _ in range(2))
    np.testing.assert_array_equal(one.labels, again.labels)
    np.testing.assert_array_equal(one.W, again.W)


def test_an_alternative_of_many_rows_is_the_other_clustering(
    two_clusterings: TwoClusterings, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in (alternation, clustering):
        monkeypatch.setattr(module, "DENSE_ROWS", 100)
    monkeypatch.setattr(alternation, "SAMPLE_ROWS", 80)
    result = solve(two_clusterings.X, Alternative(two_clusterings.clear, 2), "gaussian", 1)
    assert nmi(result.labels, two_clusterings.faint) > 0.9


@pytest.mark.usefixtures("few_at_a_time")
def test_with_a_number_of_starts_the_sample_is_clustered_to_the_end(many: Labelled) -> None:
    """By default it is left once its clusters are near."""
    last = {}
    for starts in (None, 1):
        seen, result = watched(many, Unsupervised(3), "gaussian", starts)
        last[starts] = [step for step in seen if step.stage == "search"][-1]
        assert result.converged
        assert nmi(result.labels, many.y) > 0.95
    assert last[1].gradient < 0.001 < last[None].gradient
