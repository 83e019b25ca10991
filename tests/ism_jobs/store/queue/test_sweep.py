"""Jobs whose worker is gone, and tickets that are lost, are found again."""

import pytest

from ism_jobs.errors import Conflict, NotFound
from ism_jobs.schema_versions import JOB
from ism_jobs.settings import Settings
from ism_jobs.store import QUEUE_NAMES, Attempt, LostAttempt, State, Store, keys
from ism_jobs.store.queue import LOSSES_PER_CRASH, SWEEP_LIMIT

pytestmark = pytest.mark.usefixtures("wine")

SPEC = {"dataset": "wine", "paradigm": "unsupervised", "clusters": 3}
QUEUE = f"rq:queue:{QUEUE_NAMES[-1]}"


def begun(store: Store, id: str, worker: str = "w1") -> Attempt:
    if not store.redis.exists(keys.job(id)):
        store.jobs.create([(id, SPEC)])
    store.redis.lpop(QUEUE)  # as the worker that begins it does
    attempt = store.jobs.claim(id, worker)
    assert attempt is not None
    return attempt


def end_lease(store: Store, id: str) -> None:
    store.redis.zadd(keys.running(JOB), {id: store.redis.time()[0] - 1})


def test_a_job_whose_lease_has_ended_waits_again_and_a_live_one_goes_on(store: Store) -> None:
    lost, live = begun(store, "lost"), begun(store, "live")
    end_lease(store, "lost")
    store.jobs.sweep()
    record = store.jobs.get("lost")
    assert (record.state, record.losses) == (State.QUEUED, 1)
    assert store.jobs.position(record) == 0
    with pytest.raises(LostAttempt):
        lost.report({"iteration": 1})
    live.report({"iteration": 1})
    assert store.jobs.get("live").state is State.RUNNING


def test_leases_are_extended_after_an_outage_of_the_sweep(store: Store) -> None:
    """After an outage of Redis all leases have expired, although every worker may be alive."""
    attempt = begun(store, "a")
    store.jobs.sweep()
    end_lease(store, "a")
    store.redis.set(keys.swept(JOB), store.redis.time()[0] - 60)
    for _ in range(2):
        store.jobs.sweep()
        assert store.jobs.get("a").state is State.RUNNING
    attempt.report({"iteration": 1})
    end_lease(store, "a")
    store.jobs.sweep()
    assert store.jobs.get("a").state is State.QUEUED, "a worker that does not renew its lease afterwards is dead"


def test_two_sweeps_at_once_put_a_job_back_once(store: Store, monkeypatch) -> None:
    """The second sweep saw the same ended lease, but comes when another worker has the job already."""
    begun(store, "a")
    end_lease(store, "a")
    seen = store.jobs._recovery._expired_leases

    def late(**asked):
        found = seen(**asked)
        monkeypatch.undo()
        store.jobs.sweep()
        begun(store, "a", "w2").report({"iteration": 1})
        return found

    monkeypatch.setattr(store.jobs._recovery, "_expired_leases", late)
    store.jobs.sweep()
    record = store.jobs.get("a")
    assert (record.state, record.attempt, record.losses) == (State.RUNNING, 2, 1)


@pytest.mark.parametrize("most", [1, 3])
def test_a_job_that_keeps_crashing_fails_with_a_sentence(redis_url: str, store: Store, most: int) -> None:
    store = Store(store.redis, Settings(redis_url=redis_url, max_attempts=most))
    for _ in range(most):
        begun(store, "a")
        store.jobs.recover("w1")
    record = store.jobs.get("a")
    assert (record.state, record.attempt) == (State.FAILED, most)
    assert "ended unexpectedly" in record.error["detail"]
    assert ("1 time," if most == 1 else "3 times,") in record.error["detail"]
    assert store.redis.llen(QUEUE) == 0
    assert store.redis.ttl(keys.job("a")) > 0
    assert store.jobs.counts()["running"] == 0


def lose_worker(store: Store, id: str, progressed: int = 0) -> State:
    """Begin a job, save a checkpoint, and lose its worker."""
    begun(store, id).save_checkpoint(b"", progressed)
    end_lease(store, id)
    store.jobs.sweep()
    return store.jobs.get(id).state


def test_lost_workers_fail_a_job_much_later_than_crashes_and_only_without_progress(store: Store) -> None:
    most = Settings().max_attempts * LOSSES_PER_CRASH
    for number in range(1, 2 * most):
        assert lose_worker(store, "innocent", progressed=number) is State.QUEUED
    for _ in range(most - 1):
        assert lose_worker(store, "a") is State.QUEUED
    assert lose_worker(store, "a") is State.FAILED
    assert f"was lost {most} times without progress" in store.jobs.get("a").error["detail"]


def test_progress_resets_the_count_of_crashes(store: Store) -> None:
    for progressed, crashes in [(3, 1), (3, 2), (4, 1), (4, 2)]:
        begun(store, "a").save_checkpoint(b"", progressed)
        store.jobs.recover("w1")
        record = store.jobs.get("a")
        assert (record.state, record.crashes) == (State.QUEUED, crashes)


@pytest.mark.parametrize("end", ["fail", "cancel"])
def test_a_job_that_has_failed_or_was_cancelled_can_be_retried(store: Store, end: str) -> None:
    attempt = begun(store, "a")
    attempt.fail({"detail": "No."}) if end == "fail" else attempt.cancel()
    waiting = store.jobs.retry("a")
    assert (waiting.state, waiting.error, waiting.finished, waiting.crashes) == (State.QUEUED, None, None, 0)
    assert store.redis.ttl(keys.job("a")) == -1
    assert begun(store, "a").number == 2
    with pytest.raises(Conflict, match="The job is running; only one that has failed or was cancelled"):
        store.jobs.retry("a")


def test_a_job_without_its_data_set_cannot_be_retried(store: Store) -> None:
    begun(store, "a").fail({"detail": "No."})
    store.redis.delete(keys.dataset("wine"))
    with pytest.raises(NotFound, match="is gone"):
        store.jobs.retry("a")


def test_a_lease_from_before_the_clock_was_set_back_ends_soon(store: Store) -> None:
    begun(store, "a")
    now = store.redis.time()[0]
    store.redis.zadd(keys.running(JOB), {"a": now + 3_600})
    store.redis.set(keys.swept(JOB), now + 3_600)
    store.jobs.sweep()
    assert store.redis.zscore(keys.running(JOB), "a") <= now + 2 * Settings().lease_seconds
    end_lease(store, "a")
    store.jobs.sweep()
    assert store.jobs.get("a").state is State.QUEUED


def test_the_minute_of_a_rate_limit_ends_although_the_clock_was_set_back(store: Store) -> None:
    store.redis.set(keys.rate("alice"), 10**9, ex=3_600)
    assert store.rate_limits.reserve("alice") <= 60


def test_jobs_that_are_put_back_go_in_the_order_in_which_they_were_made(store: Store) -> None:
    """One that loses its worker again and again does not keep the others waiting."""
    for id in ("first", "second", "third"):
        begun(store, id)
    store.jobs.create([("later", SPEC)])
    for id in ("first", "third", "second"):
        store.jobs.requeue(store.jobs.get(id), crashed=True)
    order = [store.jobs.position(store.jobs.get(id)) for id in ("first", "second", "third", "later")]
    assert order == [0, 1, 2, 3]
    assert store.redis.llen(QUEUE) == 4


def test_a_stop_does_not_count_as_a_loss(redis_url: str, store: Store) -> None:
    store = Store(store.redis, Settings(redis_url=redis_url, max_attempts=1))
    for _ in range(5):
        begun(store, "a")
        store.jobs.requeue(store.jobs.get("a"), crashed=False)
    assert store.jobs.get("a").state is State.QUEUED


def test_a_worker_gives_up_its_own_job_only(store: Store) -> None:
    begun(store, "a", "w2")
    store.jobs.recover("w1")
    assert store.jobs.get("a").state is State.RUNNING
    store.jobs.recover("w2")
    assert store.jobs.get("a").state is State.QUEUED
    store.jobs.recover("w2")
    assert store.jobs.get("a").crashes == 1


def test_a_job_that_was_deleted_before_its_worker_looked_is_no_error(store: Store) -> None:
    begun(store, "a").succeed({}, [])
    store.jobs.delete("a")
    store.jobs.recover("w1")
    assert not store.redis.exists(keys.job("a"))


def test_lost_tickets_are_written_again_once(store: Store) -> None:
    store.jobs.create([(f"job{number}", SPEC) for number in range(2 * SWEEP_LIMIT)])
    store.redis.ltrim(QUEUE, 3, -1)  # as by workers that died before they claimed a job
    for _ in range(3):
        store.jobs.sweep()
        assert store.redis.llen(QUEUE) == 2 * SWEEP_LIMIT
    store.redis.delete(QUEUE)
    store.jobs.sweep()
    assert store.redis.llen(QUEUE) == 2 * SWEEP_LIMIT


def test_a_ticket_that_was_written_again_too_early_starts_no_job_before_its_turn(store: Store) -> None:
    """A worker has taken the ticket and not claimed the job yet."""
    store.jobs.create([("a", SPEC)])
    store.redis.lpop(QUEUE)
    store.jobs.sweep()
    assert store.jobs.claim_next("a", "w1") is not None
    assert store.redis.llen(QUEUE) == 1
    assert store.jobs.claim_next("a", "w2") is None
    assert store.redis.llen(QUEUE) == 0
    assert store.jobs.get("a").attempt == 1


def test_tickets_that_are_left_over_are_removed(store: Store) -> None:
    store.jobs.create([("a", SPEC), ("b", SPEC)])
    with store.redis.pipeline() as pipe:
        for _ in range(5):
            store.jobs.tickets.write(pipe, "a", JOB)
        pipe.execute()
    store.jobs.sweep()
    assert store.redis.llen(QUEUE) == len(list(store.redis.scan_iter("rq:job:*"))) == 2


def test_of_many_workers_one_sweeps_in_each_interval(store: Store) -> None:
    begun(store, "a")
    workers = [Store(store.redis, Settings()) for _ in range(5)]
    workers[0].jobs.sweep_if_due()
    end_lease(store, "a")
    for worker in workers:
        worker.jobs.sweep_if_due()
    assert store.jobs.get("a").state is State.RUNNING
    for moved in (-Settings().heartbeat_interval, 3_600):  # an interval later; after the clock was set back
        store.redis.set(keys.LAST_SWEEP, store.redis.time()[0] + moved)
        workers[1].jobs.sweep_if_due()
        assert store.jobs.get("a").state is State.QUEUED
        begun(store, "a")
        end_lease(store, "a")


def test_sweeps_forget_what_has_expired_of_all_owners(store: Store) -> None:
    for number in range(300):
        store.redis.sadd(keys.OWNERS, f"owner{number}")
        for name in (keys.jobs, keys.datasets, keys.batches):
            store.redis.zadd(name(f"owner{number}"), {"gone": 1.0})
    for _ in range(100):
        store.jobs.sweep()
    assert list(store.redis.scan_iter("ism:*:of:*")) == []


def test_the_indexes_forget_jobs_that_are_gone(store: Store) -> None:
    store.redis.zadd(keys.queued(JOB), {"gone": 1.0})
    store.redis.zadd(keys.running(JOB), {"gone": 1.0})
    store.jobs.sweep()
    assert store.jobs.counts() == {"queued": 0, "running": 0}
