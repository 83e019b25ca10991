"""The drills themselves: the checker finds what is wrong, and small runs of both find nothing."""

import asyncio
from collections.abc import Callable
from pathlib import Path

import pytest

from drills import chaos, load
from drills.checker import check
from drills.figures import Scale, document, shown
from drills.history import History, Look, Outcome, Post, Reference
from drills.memory import Growth
from tools.local_service import running_service

W = [[1.0, 0.0], [0.0, 1.0]]
OTHER = [[0.9, 0.1], [0.1, 0.9]]
STREAM = ["running", "queued", "running", "succeeded"]
END = "2026-01-01T00:00:09Z"


def history() -> History:
    """Two jobs that a client was told of, the second after asking twice; a third got no answer, and was not made."""
    looks = [Look("queued", 0, None), Look("running", 1, None), Look("succeeded", 1, END)]
    return History(
        references={"values": Reference(W, 3.0), "clustering": Reference(W, 3.0)},
        posts=[
            Post("a", "values", None, ["1"]),
            Post("b", "clustering", "key", ["2", "2"], unanswered=1),
            Post("c", "values", None, unanswered=1),
        ],
        looks={"1": list(looks), "2": [Look("running", 1, None), Look("succeeded", 2, END)]},
        outcomes=[
            Outcome("1", "a", "values", "succeeded", 1, None, ["running", "succeeded"], "state", W, 3.0),
            Outcome("2", "b", "clustering", "succeeded", 2, None, list(STREAM), "state", W, 3.0),
        ],
        ends_counted=2,
    )


def test_a_good_history_is_good() -> None:
    verdict = check(history())
    assert verdict.good, verdict
    assert verdict.identical == 2


def not_there(history: History) -> None:
    del history.outcomes[0]
    history.ends_counted = 1


def never_ended(history: History) -> None:
    history.outcomes[0].state, history.outcomes[0].stream = "running", []
    history.ends_counted = 1


def end_told_twice(history: History) -> None:
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


def almost_the_same_w_without_a_reason(history: History) -> None:
    history.outcomes[0].W = [[1.0 + 1e-12, 0.0], [0.0, 1.0]]


def other_w_after_a_resumption(history: History) -> None:
    history.outcomes[1].W = OTHER


def other_shape(history: History) -> None:
    history.outcomes[0].W = [[1.0], [0.0]]


def failed(history: History) -> None:
    history.outcomes[0].state, history.outcomes[0].stream = "failed", ["running", "failed"]


def ran_again_after_its_end(history: History) -> None:
    history.looks["1"].append(Look("running", 2, None))


def ended_again(history: History) -> None:
    history.looks["1"].append(Look("succeeded", 1, "2026-01-01T00:00:10Z"))


def step_after_its_end(history: History) -> None:
    history.outcomes[0].last_event = "step"


def unasked(history: History) -> None:
    history.outcomes.append(Outcome("3", "z", "values", "succeeded", 1, None, ["succeeded"], "state", W, 3.0))
    history.ends_counted = 3


def server_error(history: History) -> None:
    history.odd_answers.append("POST /jobs: 500")


@pytest.mark.parametrize(
    ("forge", "found"),
    [
        (not_there, "lost"),
        (never_ended, "lost"),
        (end_told_twice, "duplicated"),
        (end_counted_twice, "duplicated"),
        (one_key_two_jobs, "duplicated"),
        (made_twice, "duplicated"),
        (other_w, "different"),
        (almost_the_same_w_without_a_reason, "different"),
        (other_w_after_a_resumption, "different"),
        (other_shape, "different"),
        (failed, "failed"),
        (ran_again_after_its_end, "changed"),
        (ended_again, "changed"),
        (step_after_its_end, "changed"),
        (unasked, "odd"),
        (server_error, "odd"),
    ],
)
def test_a_forged_history_is_found_out(forge: Callable[[History], None], found: str) -> None:
    forged = history()
    forge(forged)
    verdict = check(forged)
    assert getattr(verdict, found)
    assert not verdict.good


def test_a_resumed_job_may_take_other_steps_to_the_same_end() -> None:
    resumed = history()
    resumed.outcomes[1].W = [[1.0 + 1e-7, 0.0], [0.0, 1.0]]
    verdict = check(resumed)
    assert verdict.good
    assert verdict.resumed == 1
    assert verdict.worst_clustering == pytest.approx(1e-7)


def test_growth_is_more_than_what_comes_and_goes() -> None:
    assert Growth("api", 100e6, 130e6).grew
    assert not Growth("api", 200e6, 215e6).grew
    assert not Growth("redis", 5e6, 12e6).grew


def test_a_few_seconds_of_chaos_lose_and_double_nothing(tmp_path: Path) -> None:
    scale = Scale(seconds=6, seed=3, rows=150, clients=2, apis=1, workers=2)
    done = asyncio.run(chaos.run(scale, tmp_path))
    assert done.verdict.good, shown(done)
    assert not done.orphans
    assert done.nemesis.kills > 0
    assert sum(bool(post.jobs) for post in done.history.posts) > 0
    assert document(done)["restarts"] == done.restarts


def test_a_little_load_makes_no_errors(tmp_path: Path) -> None:
    scale = load.Scale(seconds=4, followers=10, rows=600)
    with running_service(tmp_path, workers=2, **load.SETTINGS) as (url, process):
        done = asyncio.run(load.run(scale, url, process.pid))
    assert not done.measured.errors, done.shown()
    assert done.measured.jobs > 0
    assert done.measured.most_following == 10
    assert {growth.process.split()[0] for growth in done.growths} >= {"serve", "redis", "api", "worker"}
    assert "event to follower" in done.document()["milliseconds"]
