"""What a worker may do with a job it holds, and that it may do nothing once it holds it no more."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from ism_jobs.errors import Conflict, NotFound
from ism_jobs.schema_versions import JOB
from ism_jobs.settings import Settings
from ism_jobs.store import QUEUE_NAMES, Attempt, CancelRequested, LostAttempt, State, Store, keys
from ism_jobs.store.redis import CHUNK_BYTES

QUEUE = f"rq:queue:{QUEUE_NAMES[-1]}"

pytestmark = pytest.mark.usefixtures("wine")

SPEC = {"dataset": "wine", "paradigm": "unsupervised", "clusters": 3}

REPORTS: list[Callable[[Attempt], None]] = [
    lambda attempt: attempt.report({"iteration": 99}, "step", {"iteration": 99}),
    lambda attempt: attempt.save_checkpoint(b"of the first"),
    lambda attempt: attempt.save_picture(b"of the first"),
    lambda attempt: attempt.save_artifacts({"W": b"of the first"}),
    lambda attempt: attempt.succeed({"objective": 1.0}, ["W"]),
    lambda attempt: attempt.fail({"detail": "by the first"}),
    lambda attempt: attempt.cancel(),
]
NAMES = ["report", "checkpoint", "picture", "artifact", "succeed", "fail", "cancel"]


def begun(store: Store, id: str = "a", worker: str = "w1") -> Attempt:
    store.jobs.create([(id, SPEC)])
    attempt = store.jobs.claim(id, worker)
    assert attempt is not None
    return attempt


def content(store: Store) -> dict[bytes, bytes]:
    """Everything of ours in Redis, but not how long it has to live."""
    return {key: store.redis.dump(key) for key in store.redis.scan_iter("ism:*") if b":dataset:" not in key}


def test_a_report_is_seen_and_renews_the_lease(store: Store) -> None:
    attempt = begun(store)
    store.redis.zadd(keys.running(JOB), {"a": 0})
    version = store.jobs.get("a").version
    attempt.report({"stage": "ascent", "iteration": 3})
    record = store.jobs.get("a")
    assert record.progress == {"stage": "ascent", "iteration": 3}
    assert record.version > version
    assert store.redis.zscore(keys.running(JOB), "a") > store.redis.time()[0]


@pytest.mark.parametrize("state", [State.CANCELLED, State.SUCCEEDED])
def test_a_job_that_has_ended_does_not_end_again(store: Store, state: State) -> None:
    """A worker that stood still after its claim may read a record that has ended, and then put its job back."""
    attempt = begun(store)
    store.jobs.cancel("a")
    if state is State.CANCELLED:
        attempt.cancel()
    else:
        attempt.succeed({"objective": 1.0}, [])
    ended, totals = store.jobs.get("a"), store.jobs.counts()
    assert not store.jobs.requeue(ended, crashed=False)
    assert (store.jobs.get("a"), store.jobs.counts()) == (ended, totals)


def test_a_report_tells_that_a_cancel_was_asked_for(store: Store) -> None:
    attempt = begun(store)
    store.jobs.cancel("a")
    with pytest.raises(CancelRequested):
        attempt.report({"iteration": 3})


@pytest.mark.parametrize("lost", [False, True], ids=["stopped", "lost"])
def test_a_job_that_was_to_be_cancelled_does_not_wait_for_another_worker(store: Store, lost: bool) -> None:
    begun(store)
    store.redis.delete(QUEUE)
    store.jobs.cancel("a")
    if lost:
        store.jobs.recover("w1")
    else:
        store.jobs.requeue(store.jobs.get("a"), crashed=False)
    assert store.jobs.get("a").state is State.CANCELLED
    assert store.redis.llen(QUEUE) == 0


@pytest.mark.parametrize("report", REPORTS, ids=NAMES)
def test_an_attempt_that_was_overtaken_changes_nothing(store: Store, report: Callable[[Attempt], None]) -> None:
    first = begun(store)
    store.jobs.requeue(store.jobs.get("a"), crashed=True)
    second = store.jobs.claim("a", "w2")
    second.save_checkpoint(b"of the second")
    second.save_artifacts({"W": b"of the second"})
    before = content(store)
    with pytest.raises(LostAttempt):
        report(first)
    assert content(store) == before
    second.succeed({"objective": 2.0}, ["W"])
    assert store.jobs.artifact(store.jobs.get("a"), "W") == b"of the second"


@pytest.mark.parametrize("report", REPORTS, ids=NAMES)
def test_an_attempt_at_a_job_that_waits_again_changes_nothing(store: Store, report: Callable[[Attempt], None]) -> None:
    first = begun(store)
    store.jobs.requeue(store.jobs.get("a"), crashed=True)
    before = content(store)
    with pytest.raises(LostAttempt):
        report(first)
    assert content(store) == before


@pytest.mark.parametrize("report", REPORTS, ids=NAMES)
def test_an_attempt_at_a_job_that_is_deleted_brings_nothing_back(
    store: Store, report: Callable[[Attempt], None]
) -> None:
    first = begun(store)
    store.jobs.requeue(store.jobs.get("a"), crashed=True)
    store.jobs.cancel("a")
    store.jobs.delete("a")
    with pytest.raises(LostAttempt):
        report(first)
    assert {key.decode() for key in content(store)} == {keys.TOTALS, keys.SERVED, keys.waiting_owners(JOB)}


def test_a_job_that_is_deleted_before_its_worker_has_read_it_is_not_begun(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    store.jobs.create([("a", SPEC)])
    claim = store.jobs._claim

    def stand_still_after_the_claim(**arguments: Any) -> object:
        found = claim(**arguments)
        store.jobs.requeue(store.jobs.get("a"), crashed=True)
        store.jobs.cancel("a")
        store.jobs.delete("a")
        return found

    monkeypatch.setattr(store.jobs, "_claim", stand_still_after_the_claim)
    assert store.jobs.claim_next("unknown", "w1") is None


def test_a_job_that_was_to_be_finished_tells_each_attempt_until_it_ends(store: Store) -> None:
    store.jobs.create([("a", SPEC)])
    store.jobs.request_finish("a")
    for worker in ("w1", "w2"):
        attempt = store.jobs.claim("a", worker)
        assert attempt is not None
        assert not attempt.finish_requested
        attempt.report({"stage": "preparing"})
        assert attempt.finish_requested
        store.jobs.requeue(store.jobs.get("a"), crashed=True)
    last = store.jobs.claim("a", "w3")
    assert last is not None
    last.succeed({}, [])
    with pytest.raises(Conflict, match="already ended"):
        store.jobs.request_finish("a")


def test_the_latest_picture_and_what_it_shows_are_kept_until_the_job_is_deleted(store: Store) -> None:
    attempt = begun(store)
    with pytest.raises(NotFound):
        store.jobs.picture("a")
    for number in (1, 2):
        attempt.save_picture(b"picture %d" % number)
        attempt.report({"stage": "choosing"}, "picture", {"number": number})
    attempt.report({"stage": "ascent"})
    assert store.jobs.picture("a") == b"picture 2"
    assert store.jobs.get("a").best == {"number": 2}
    attempt.cancel()
    store.jobs.delete("a")
    assert not store.redis.exists(keys.picture("a"))


def test_a_job_ends_once(store: Store) -> None:
    attempt = begun(store)
    attempt.succeed({"objective": 1.0}, [])
    attempt.succeed({"objective": 2.0}, ["W"])  # as when the answer was lost: it is told that it has
    for report in REPORTS[:4] + REPORTS[5:]:
        with pytest.raises(LostAttempt):
            report(attempt)
    record = store.jobs.get("a")
    assert (record.state, record.summary, record.error) == (State.SUCCEEDED, {"objective": 1.0}, None)
    assert record.started <= record.finished
    assert store.jobs.counts()["succeeded"] == 1


def test_a_job_that_is_put_back_waits_first_and_keeps_its_checkpoint(store: Store) -> None:
    attempt = begun(store)
    store.jobs.create([("next", SPEC)])
    attempt.save_checkpoint(b"here")
    started = store.jobs.get("a").started
    assert store.jobs.requeue(store.jobs.get("a"), crashed=False)
    record = store.jobs.get("a")
    assert (record.state, record.attempt, record.crashes) == (State.QUEUED, 1, 0)
    assert store.jobs.position(record) == 0
    assert store.jobs.counts() == {"queued": 2, "running": 0}
    again = store.jobs.claim("a", "w2")
    assert (again.number, again.checkpoint()) == (2, b"here")
    assert store.jobs.get("a").started == started


def test_only_the_attempt_that_runs_is_put_back(store: Store) -> None:
    begun(store)
    old = store.jobs.get("a")
    assert store.jobs.requeue(old, crashed=True)
    assert not store.jobs.requeue(old, crashed=True), "it waits"
    store.jobs.claim("a", "w2")
    assert not store.jobs.requeue(old, crashed=True), "another has it"
    assert store.redis.llen(QUEUE) == 2  # the first ticket, which nobody took here, and one more
    assert store.jobs.get("a").crashes == 1


def test_a_worker_renews_the_lease_of_its_own_job_only(store: Store) -> None:
    begun(store)
    for worker, renewed in (("w2", False), ("w1", True)):
        store.redis.zadd(keys.running(JOB), {"a": 0})
        store.jobs.renew_lease(worker)
        assert (store.redis.zscore(keys.running(JOB), "a") > 0) is renewed


def test_there_is_no_checkpoint_before_one_is_saved(store: Store) -> None:
    assert begun(store).checkpoint() is None


def test_artifacts_of_all_sizes_are_kept(store: Store) -> None:
    artifacts = {"small": b"1", "large": b"2" * (CHUNK_BYTES + 1), "none": b"", "another": b"3"}
    attempt = begun(store)
    attempt.save_artifacts(artifacts)
    attempt.succeed({}, list(artifacts))
    record = store.jobs.get("a")
    assert {name: store.jobs.artifact(record, name) for name in artifacts} == artifacts


def test_events_and_artifacts_live_as_long_as_the_settings_say(store: Store) -> None:
    """Of the events of a stream so many are kept, give or take what Redis holds together in one node."""
    short = Store(store.redis, Settings(events_kept=10, job_seconds=100))
    attempt = begun(short, "briefly")
    for number in range(300):
        attempt.report({"iteration": number}, "step", {"iteration": number})
    assert short.redis.xlen(keys.events("briefly")) <= 10 + 100
    ((_, last),) = short.redis.xrevrange(keys.events("briefly"), count=1)
    assert json.loads(last[b"data"])["iteration"] == 299
    attempt.save_checkpoint(b"w")
    attempt.save_artifacts({"W": b"w"})
    attempt.succeed({}, ["W"])
    names = [keys.job("briefly"), keys.events("briefly"), keys.artifact_keys("briefly")]
    for name in [*names, keys.artifact("briefly", 1, "W")]:
        assert 0 < short.redis.ttl(name) <= 100, name
    assert not short.redis.exists(keys.checkpoint("briefly"))
