"""The chaos checker finds every kind of violation, and small runs of both drills pass."""

import asyncio
import itertools
from collections.abc import Callable
from pathlib import Path

import pytest

from drills import chaos, load
from drills.chaos.checker import check
from drills.chaos.figures import Scale, as_text, document
from drills.chaos.history import History, Observation, Outcome, Post, Reference
from drills.chaos.plan import FREQUENCIES, iter_plan
from drills.load.memory import Growth
from tools.local_service import running_service

W = [[1.0, 0.0], [0.0, 1.0]]
OTHER = [[0.9, 0.1], [0.1, 0.9]]
STREAM = ["running", "queued", "running", "succeeded"]
END = "2026-01-01T00:00:09Z"


def history() -> History:
    """Two acknowledged jobs, the second after two requests; a third request got no answer and made no job."""
    seen = [Observation("queued", 0, None), Observation("running", 1, None), Observation("succeeded", 1, END)]
    return History(
        references={"values": Reference(W, 3.0), "clustering": Reference(W, 3.0)},
        posts=[
            Post("a", "values", None, ["1"]),
            Post("b", "clustering", "key", ["2", "2"], unanswered=1),
            Post("c", "values", None, unanswered=1),
        ],
        observations={"1": list(seen), "2": [Observation("running", 1, None), Observation("succeeded", 2, END)]},
        outcomes=[
            Outcome("1", "a", "values", "succeeded", 1, None, ["running", "succeeded"], "state", W, 3.0),
            Outcome("2", "b", "clustering", "succeeded", 2, None, list(STREAM), "state", W, 3.0),
        ],
        ends_counted=2,
    )


def test_a_history_without_violations_passes() -> None:
    verdict = check(history())
    assert verdict.passed, verdict
    assert verdict.identical == 2


def not_there(history: History) -> None:
    del history.outcomes[0]
    history.ends_counted = 1


def never_ended(history: History) -> None:
    history.outcomes[0].state, history.outcomes[0].stream = "running", []
    history.ends_counted = 1


def end_in_the_stream_twice(history: History) -> None:
    history.outcomes[1].stream.append("succeeded")


def end_counted_twice(history: History) -> None:
    history.ends_counted = 3


def one_key_two_jobs(history: History) -> None:
    history.posts[1].jobs = ["2", "3"]
    history.outcomes.append(Outcome("3", "b", "clustering", "succeeded", 1, None, ["succeeded"], "state", W, 3.0))
    history.ends_counted = 3


def made_twice(history: History) -> None:
    history.outcomes.append(Outcome("3", "a", "values", "succeeded", 1, None, ["succeeded"], "state", W, 3.0))
    history.ends_counted = 3


def other_w(history: History) -> None:
    history.outcomes[0].W = OTHER


def almost_the_same_w_without_a_resumption(history: History) -> None:
    history.outcomes[0].W = [[1.0 + 1e-12, 0.0], [0.0, 1.0]]


def other_w_after_a_resumption(history: History) -> None:
    history.outcomes[1].W = OTHER


def other_shape(history: History) -> None:
    history.outcomes[0].W = [[1.0], [0.0]]


def failed(history: History) -> None:
    history.outcomes[0].state, history.outcomes[0].stream = "failed", ["running", "failed"]


def ran_again_after_its_end(history: History) -> None:
    history.observations["1"].append(Observation("running", 2, None))


def ended_again(history: History) -> None:
    history.observations["1"].append(Observation("succeeded", 1, "2026-01-01T00:00:10Z"))


def step_after_its_end(history: History) -> None:
    history.outcomes[0].last_event = "step"


def job_without_a_request(history: History) -> None:
    history.outcomes.append(Outcome("3", "z", "values", "succeeded", 1, None, ["succeeded"], "state", W, 3.0))
    history.ends_counted = 3


def server_error(history: History) -> None:
    history.unexpected_answers.append("POST /jobs: 500")


@pytest.mark.parametrize(
    ("forge", "found"),
    [
        (not_there, "lost"),
        (never_ended, "lost"),
        (end_in_the_stream_twice, "duplicated"),
        (end_counted_twice, "duplicated"),
        (one_key_two_jobs, "duplicated"),
        (made_twice, "duplicated"),
        (other_w, "different"),
        (almost_the_same_w_without_a_resumption, "different"),
        (other_w_after_a_resumption, "different"),
        (other_shape, "different"),
        (failed, "failed"),
        (ran_again_after_its_end, "changed"),
        (ended_again, "changed"),
        (step_after_its_end, "changed"),
        (job_without_a_request, "unexpected"),
        (server_error, "unexpected"),
    ],
)
def test_every_violation_is_found(forge: Callable[[History], None], found: str) -> None:
    forged = history()
    forge(forged)
    verdict = check(forged)
    assert getattr(verdict, found)
    assert not verdict.passed


def test_a_resumed_job_may_differ_within_the_tolerance() -> None:
    resumed = history()
    resumed.outcomes[1].W = [[1.0 + 1e-7, 0.0], [0.0, 1.0]]
    verdict = check(resumed)
    assert verdict.passed
    assert verdict.resumed == 1
    assert verdict.worst_clustering == pytest.approx(1e-7)


def test_growth_below_the_tolerance_is_noise() -> None:
    assert Growth("api", 100e6, 130e6).grew
    assert not Growth("api", 200e6, 215e6).grew
    assert not Growth("redis", 5e6, 12e6).grew


def test_the_faults_follow_from_the_seed() -> None:
    plans = [list(itertools.islice(iter_plan(seed), 150)) for seed in (3, 3, 4)]
    assert plans[0] == plans[1] != plans[2]
    assert {deed.name for deed in plans[0]} == set(FREQUENCIES), "150 faults, as in five minutes, are of all kinds"


@pytest.mark.thorough
def test_a_short_chaos_run_loses_and_duplicates_no_job(tmp_path: Path) -> None:
    scale = Scale(seconds=6, seed=3, rows=150, clients=2, apis=1, workers=2)
    done = asyncio.run(chaos.run(scale, tmp_path))
    assert done.verdict.passed, as_text(done)
    assert not done.orphans
    assert done.nemesis.kills > 0
    assert done.nemesis.deeds == list(itertools.islice(iter_plan(scale.seed), len(done.nemesis.deeds)))
    assert sum(bool(post.jobs) for post in done.history.posts) > 0
    assert document(done)["restarts"] == done.restarts


@pytest.mark.thorough
def test_a_short_load_run_has_no_errors(tmp_path: Path) -> None:
    scale = load.Scale(seconds=4, followers=10, idle=30, slow=4, rows=600)
    with running_service(tmp_path, workers=2, **load.SETTINGS) as (url, process):
        done = asyncio.run(load.run(scale, url, process.pid))
    assert not done.measured.errors, done.as_text()
    assert not done.crowd.violations
    assert done.measured.jobs > 0
    assert done.measured.most_following == 10
    assert {growth.process.split()[0] for growth in done.growths} >= {"serve", "redis", "api", "worker"}
    assert "event to follower" in done.document()["milliseconds"]
