"""Which job a free worker takes: fair between owners, by priority and age within one."""

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from ism_jobs.schema_versions import JOB
from ism_jobs.settings import Settings
from ism_jobs.store import QUEUE_NAMES, Attempt, Record, State, Store, keys

pytestmark = pytest.mark.usefixtures("wine")

SPEC = {"dataset": "wine", "paradigm": "unsupervised", "clusters": 3}
QUEUE = f"rq:queue:{QUEUE_NAMES[-1]}"


def post(store: Store, owner: str, *ids: str, **fields: Any) -> None:
    store.of(owner).jobs.create([(id, SPEC | fields) for id in ids])


def take(store: Store, worker: str = "w1") -> Attempt | None:
    """Take a ticket and claim a job, as a worker does."""
    ticket = store.redis.lpop(QUEUE)
    return store.jobs.claim_next("unknown", worker) if ticket else None


def taken(store: Store, count: int) -> list[str]:
    """Return the jobs that one worker runs, one after the other."""
    ids = []
    for _ in range(count):
        attempt = take(store)
        assert attempt is not None
        attempt.succeed({}, [])
        ids.append(attempt.job)
    return ids


def test_a_thousand_jobs_delay_a_single_job_of_another_key_by_one_running_job(store: Store) -> None:
    post(store, "many", *(f"many{number:04}" for number in range(1_000)))
    running = take(store)
    assert running is not None
    post(store, "one", "single")
    assert store.jobs.position(store.jobs.get("single")) == 0
    running.succeed({}, [])
    assert taken(store, 3) == ["single", "many0001", "many0002"]


def test_owners_take_turns_however_many_jobs_they_have(store: Store) -> None:
    post(store, "a", "a1", "a2", "a3", "a4")
    post(store, "b", "b1", "b2")
    post(store, "c", "c1")
    assert taken(store, 7) == ["a1", "b1", "c1", "a2", "b2", "a3", "a4"]


def test_an_owner_whose_queue_was_empty_does_not_go_before_one_that_waits(store: Store) -> None:
    post(store, "a", "a1", "a2", "a3")
    post(store, "b", "b1")
    assert taken(store, 2) == ["a1", "b1"]
    for number in (2, 3):  # posted as soon as the job before has ended
        post(store, "b", f"b{number}")
        assert taken(store, 2) == [f"a{number}", f"b{number}"]


def test_the_owner_with_the_fewest_running_jobs_is_served(store: Store) -> None:
    """While a job of b computes for long on one worker, all jobs of a go to the other."""
    post(store, "b", "b1", "b2")
    assert take(store, "long") is not None
    post(store, "a", "a1", "a2", "a3")
    assert taken(store, 4) == ["a1", "a2", "a3", "b2"]


def test_within_an_owner_the_highest_priority_and_then_the_oldest_job_runs_first(store: Store) -> None:
    post(store, "a", "first", "second")
    post(store, "a", "urgent", priority=9)
    post(store, "a", "late", priority=-9)
    post(store, "a", "third")
    post(store, "b", "other")
    order = ["urgent", "other", "first", "second", "third", "late"]
    positions = {id: store.jobs.position(store.jobs.get(id)) for id in order}
    assert [id for id, _ in sorted(positions.items(), key=lambda each: each[1] or 0)] == order
    assert taken(store, 6) == order


def test_the_position_is_the_number_of_jobs_that_start_before(store: Store) -> None:
    post(store, "a", *(f"a{number}" for number in range(6)))
    taken(store, 1)
    post(store, "b", *(f"b{number}" for number in range(3)))
    ids = [f"a{number}" for number in range(1, 6)] + [f"b{number}" for number in range(3)]
    positions = {id: store.jobs.position(store.jobs.get(id)) for id in ids}
    assert {id: number for number, id in enumerate(taken(store, 8))} == positions


def test_a_requeued_job_keeps_its_place(store: Store) -> None:
    post(store, "a", "a1", "a2")
    assert take(store) is not None
    store.jobs.requeue(store.jobs.get("a1"), crashed=False)
    assert taken(store, 2) == ["a1", "a2"]


def limited(store: Store, redis_url: str, most: int) -> Store:
    return Store(store.redis, Settings(redis_url=redis_url, max_running_jobs=most))


def test_no_owner_runs_more_jobs_than_it_may(redis_url: str, store: Store) -> None:
    store = limited(store, redis_url, 2)
    post(store, "a", *(f"a{number}" for number in range(30)))
    post(store, "b", "b1")
    with ThreadPoolExecutor(8) as pool:
        attempts = list(pool.map(lambda worker: store.jobs.claim_next("unknown", f"w{worker}"), range(16)))
    running = [attempt for attempt in attempts if attempt]
    assert sorted(attempt.record.owner for attempt in running) == ["a", "a", "b"]
    assert store.redis.llen(QUEUE) == 0, "tickets for jobs that may not start wake nobody up"
    next(attempt for attempt in running if attempt.record.owner == "a").succeed({}, [])
    store.jobs.let_next_start()
    assert store.redis.llen(QUEUE) == 1
    assert take(store) is not None


def test_a_job_of_an_owner_at_its_limit_starts_after_its_worker_was_lost(redis_url: str, store: Store) -> None:
    store = limited(store, redis_url, 1)
    post(store, "a", "a1", "a2")
    assert take(store, "w1") is not None
    assert take(store, "w2") is None
    store.jobs.cancel("a1")
    store.jobs.recover("w1")  # its process has ended, so the job is cancelled
    store.jobs.sweep()
    attempt = take(store, "w2")
    assert attempt is not None
    assert attempt.job == "a2"


def test_jobs_that_an_earlier_release_has_queued_start_with_their_own_ticket(store: Store) -> None:
    post(store, "a", "a1")
    store.redis.zrem(keys.waiting("a", JOB), "a1")
    with store.redis.pipeline() as pipe:
        store.jobs._write(pipe, Record("old", State.QUEUED, SPEC, 1.0, schema=1, owner="a"))
        pipe.execute()
    for id in ("old", "a1"):
        attempt = store.jobs.claim_next(id, "w1")
        assert attempt is not None
        assert attempt.job == id
        store.jobs.requeue(attempt.record, crashed=True)
        assert store.jobs.claim_next(id, "w1") is not None


def test_a_job_that_is_gone_without_a_word_is_passed_over(store: Store) -> None:
    post(store, "a", "gone", "cancelled", "next")
    store.redis.delete(keys.job("gone"))
    store.redis.hset(keys.job("cancelled"), "state", "cancelled")  # by a release that knows no fair share
    assert taken(store, 1) == ["next"]
    assert take(store) is None
