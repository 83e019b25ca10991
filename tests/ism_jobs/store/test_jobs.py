"""Jobs from their creation to their end, as everybody but their worker sees them."""

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from redis import Redis

from ism_jobs.errors import Conflict, NotFound
from ism_jobs.schema_versions import JOB
from ism_jobs.settings import Settings
from ism_jobs.store import QUEUE_NAMES, Attempt, JobFilter, State, Store, keys

pytestmark = pytest.mark.usefixtures("wine")

SPEC = {"dataset": "wine", "paradigm": "supervised", "target": "class"}
OF_THE_SERVICE = {keys.TOTALS, keys.SERVED, keys.waiting_owners(JOB)}  # stay when all jobs are gone
QUEUE = f"rq:queue:{QUEUE_NAMES[-1]}"


def made(store: Store, *ids: str, batch: str | None = None) -> list[str]:
    store.jobs.create([(id, SPEC) for id in ids], batch)
    return list(ids)


def claimed(store: Store, id: str, worker: str = "w1") -> Attempt:
    attempt = store.jobs.claim(id, worker)
    assert attempt is not None
    return attempt


def own_keys(redis: Redis) -> set[str]:
    return {key.decode() for key in redis.scan_iter("ism:*")} - {keys.dataset("wine")}


def all_pages(store: Store, limit: int, **wanted: Any) -> list[str]:
    found, place = [], None
    while True:
        records, place = store.jobs.page(limit, place, JobFilter(**wanted))
        assert len(records) <= limit
        found += [record.id for record in records]
        if place is None:
            return found


def test_a_new_job_is_queued_with_one_ticket_and_found_everywhere(store: Store) -> None:
    made(store, "a", "b", batch="both")
    record = store.jobs.get("a")
    assert (record.state, record.spec, record.attempt, record.batch) == (State.QUEUED, SPEC, 0, "both")
    assert [ticket.decode() for ticket in store.redis.lrange(QUEUE, 0, -1)] == [
        store.jobs.get("a").ticket,
        store.jobs.get("b").ticket,
    ]
    assert [store.jobs.position(store.jobs.get(id)) for id in "ab"] == [0, 1]
    assert {record.id for record in store.batches.records(store.batches.get("both"))} == {"a", "b"}
    assert sorted(all_pages(store, 10)) == ["a", "b"]
    assert store.jobs.counts() == {"queued": 2, "running": 0}
    assert store.redis.ttl(keys.job("a")) == -1, "an open job does not expire"


def test_when_one_job_of_several_cannot_be_written_none_is(store: Store) -> None:
    with pytest.raises(TypeError):
        store.jobs.create([("a", SPEC), ("b", {**SPEC, "label": object()})], "both")
    assert own_keys(store.redis) == set()


def test_creating_again_gives_what_is_there_and_makes_nothing(store: Store) -> None:
    made(store, "a", "b", batch="both")
    claimed(store, "a")
    before = own_keys(store.redis)
    again = store.jobs.create([("a", {**SPEC, "label": "other"}), ("b", SPEC)], "both")
    assert [(record.id, record.state) for record in again] == [("a", State.RUNNING), ("b", State.QUEUED)]
    assert again[0].spec == SPEC
    assert store.redis.llen(QUEUE) == 2
    assert own_keys(store.redis) == before


def test_creating_again_after_some_were_deleted_does_not_reset_the_others(store: Store) -> None:
    made(store, "a", "b", batch="both")
    store.jobs.cancel("a")
    store.jobs.delete("a")
    claimed(store, "b").succeed({}, [])
    with pytest.raises(NotFound):
        store.jobs.create([("a", SPEC), ("b", SPEC)], "both")
    assert store.jobs.get("b").state is State.SUCCEEDED


def test_of_many_that_create_the_same_job_at_once_one_does(store: Store) -> None:
    with ThreadPoolExecutor(16) as pool:
        records = list(pool.map(lambda _: store.jobs.create([("a", SPEC)])[0], range(32)))
    assert {record.id for record in records} == {"a"}
    assert store.redis.llen(QUEUE) == 1
    assert store.redis.xlen(keys.events("a")) == 1


def test_of_many_that_claim_a_job_at_once_one_gets_it(store: Store) -> None:
    made(store, "a")
    with ThreadPoolExecutor(16) as pool:
        attempts = list(pool.map(lambda worker: store.jobs.claim("a", f"w{worker}"), range(32)))
    assert [attempt.number for attempt in attempts if attempt] == [1]
    record = store.jobs.get("a")
    assert (record.state, record.attempt) == (State.RUNNING, 1)
    assert record.started is not None
    assert store.jobs.counts() == {"queued": 0, "running": 1}


def test_only_a_queued_job_is_claimed(store: Store) -> None:
    made(store, "ended", "gone")
    claimed(store, "ended").fail({"detail": "no"})
    assert store.jobs.claim("ended", "w2") is None
    with pytest.raises(NotFound):
        store.jobs.claim("nevermade", "w2")


def test_cancelling_a_queued_job_ends_it_and_takes_its_ticket_back(store: Store) -> None:
    made(store, "a")
    ticket = store.jobs.get("a").ticket
    assert store.jobs.cancel("a").state is State.CANCELLED
    assert store.redis.llen(QUEUE) == 0
    assert not store.redis.exists(f"rq:job:{ticket}")
    assert store.jobs.claim("a", "w1") is None
    assert store.redis.smembers(keys.dataset_jobs("wine")) == set()


def test_cancelling_a_running_job_asks_its_worker(store: Store) -> None:
    made(store, "a")
    attempt = claimed(store, "a")
    version = store.jobs.get("a").version
    record = store.jobs.cancel("a")
    assert record.state is State.RUNNING
    assert record.version > version
    attempt.cancel()
    assert store.jobs.get("a").state is State.CANCELLED


def test_a_job_that_begins_while_it_is_cancelled_keeps_its_ticket(store: Store, monkeypatch) -> None:
    """RQ's record of the ticket belongs to the worker that has taken it."""
    made(store, "a")
    ticket, queued = store.jobs.get("a").ticket, store.jobs.get
    seen = []

    def late(id: str):
        record = queued(id)
        if not seen:
            seen.append(record)
            claimed(store, id)
        return record

    monkeypatch.setattr(store.jobs, "get", late)
    assert store.jobs.cancel("a").state is State.RUNNING
    assert store.redis.exists(f"rq:job:{ticket}")


def test_what_has_ended_cannot_be_cancelled(store: Store) -> None:
    made(store, "a")
    claimed(store, "a").succeed({}, [])
    with pytest.raises(Conflict, match=r"already ended \(succeeded\)"):
        store.jobs.cancel("a")
    with pytest.raises(NotFound, match="no job"):
        store.jobs.cancel("b")


@pytest.mark.parametrize("id", ["a:events", "a:1:W", "", "*", "größe", "a\n", "b"])
def test_only_the_id_of_a_job_finds_one(store: Store, id: str) -> None:
    made(store, "a")
    for ask in (store.jobs.get, store.jobs.cancel, store.jobs.delete, store.batches.get, store.datasets.get):
        with pytest.raises(NotFound):
            ask(id)


def test_an_open_job_is_not_deleted(store: Store) -> None:
    made(store, "a", "b")
    claimed(store, "b")
    for id in "ab":
        with pytest.raises(Conflict, match="cancel it first"):
            store.jobs.delete(id)
    assert sorted(all_pages(store, 10)) == ["a", "b"]


def test_deleting_everything_leaves_no_key_behind(store: Store) -> None:
    made(store, "a", "b", "c", batch="all")
    lost = claimed(store, "a")
    lost.report({"iteration": 1}, "step", {"iteration": 1})
    lost.save_checkpoint(b"where it was")
    lost.save_artifacts({"W": b"half of it"})
    store.jobs.requeue(store.jobs.get("a"), crashed=True)
    again = claimed(store, "a", "w2")
    again.save_artifacts({"W": b"all of it"})
    again.save_artifacts({"trace": b"the way"})
    again.succeed({"objective": 1.0}, ["W", "trace"])
    failed = claimed(store, "b")
    failed.save_checkpoint(b"where it was")
    failed.save_artifacts({"W": b"never seen"})
    failed.fail({"detail": "no"})
    store.jobs.cancel("c")
    for id in "abc":
        store.jobs.delete(id)
        with pytest.raises(NotFound):
            store.jobs.get(id)
    assert own_keys(store.redis) == OF_THE_SERVICE
    assert all_pages(store, 10) == []
    assert store.jobs.counts() == store.jobs.counts() | {"succeeded": 1, "failed": 1, "cancelled": 1, "steps": 1}


def test_what_has_ended_expires_with_all_it_made(redis_url: str, store: Store) -> None:
    short = Store(store.redis, Settings(redis_url=redis_url, job_seconds=100))
    made(short, "a", batch="all")
    attempt = claimed(short, "a")
    attempt.save_checkpoint(b"where it was")
    assert 0 < short.redis.ttl(keys.checkpoint("a")) <= 100
    attempt.save_artifacts({"W": b"found"})
    short.redis.expire(keys.batch("all"), 5)  # as after a long time in the queue
    attempt.succeed({}, ["W"])
    made_by_it = own_keys(short.redis) - {keys.jobs(""), keys.batches("")} - OF_THE_SERVICE
    assert {keys.job("a"), keys.events("a"), keys.artifact("a", 1, "W"), keys.batch("all")} <= made_by_it
    assert keys.checkpoint("a") not in made_by_it
    assert {key: short.redis.ttl(key) for key in made_by_it if not 90 < short.redis.ttl(key) <= 100} == {}


def test_an_artifact_is_that_of_the_attempt_which_succeeded(store: Store) -> None:
    made(store, "a")
    claimed(store, "a").save_artifacts({"W": b"of the first"})
    store.jobs.requeue(store.jobs.get("a"), crashed=True)
    second = claimed(store, "a", "w2")
    second.save_artifacts({"W": b"of the second"})
    with pytest.raises(NotFound, match="no W"):
        store.jobs.artifact(store.jobs.get("a"), "W")
    second.succeed({}, ["W"])
    record = store.jobs.get("a")
    assert store.jobs.artifact(record, "W") == b"of the second"
    with pytest.raises(NotFound, match="no labels"):
        store.jobs.artifact(record, "labels")


def test_a_batch_is_gone_with_its_last_job(store: Store) -> None:
    made(store, "a", "b", batch="both")
    store.jobs.cancel("a")
    store.jobs.delete("a")
    assert [record.id for record in store.batches.records(store.batches.get("both"))] == ["b"]
    store.jobs.cancel("b")
    store.jobs.delete("b")
    with pytest.raises(NotFound, match="no batch"):
        store.batches.get("both")


def test_a_job_that_was_created_again_meanwhile_is_not_deleted(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """An idempotency key gives the new job the id of the deleted one."""
    made(store, "a")
    ended = store.jobs.cancel("a")
    store.jobs.delete("a")
    made(store, "a")
    before = own_keys(store.redis)
    with monkeypatch.context() as patch:
        patch.setattr(store.jobs, "get", lambda _: ended)
        with pytest.raises(Conflict, match="created again"):
            store.jobs.delete("a")
    assert store.jobs.get("a").state is State.QUEUED
    assert own_keys(store.redis) == before
