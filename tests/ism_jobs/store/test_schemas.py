"""Jobs of a newer schema version wait for a newer worker, and newer documents are refused with a reason."""

import asyncio
import json
from dataclasses import replace

import pytest

from ism_jobs import schema_versions
from ism_jobs.errors import Unavailable
from ism_jobs.settings import Settings
from ism_jobs.spec.stored import migrate
from ism_jobs.store import QUEUE_NAMES, START, Events, Record, State, Store, keys
from ism_jobs.store.queue import queue_name

pytestmark = pytest.mark.usefixtures("wine")
NEWER = schema_versions.JOB + 1
SPEC = {"dataset": "wine"}
LONG_AGO = 1.0


@pytest.fixture
def newer(store: Store) -> Record:
    """Return a job as a release with the next schema version would create it."""
    record = Record("newer", State.QUEUED, SPEC, LONG_AGO, schema=NEWER)
    with store.redis.pipeline() as pipe:
        store.jobs._write(pipe, record)
        pipe.execute()
    return record


def test_a_worker_of_this_version_does_not_see_a_newer_job(store: Store, newer: Record) -> None:
    assert queue_name(NEWER) not in QUEUE_NAMES
    assert [store.redis.llen(f"rq:queue:{name}") for name in QUEUE_NAMES] == [0, 0]
    assert store.jobs.claim(newer.id, "w") is None
    store.redis.delete(f"rq:queue:{queue_name(NEWER)}")
    for _ in range(3):
        store.jobs.sweep()
    assert [store.redis.llen(f"rq:queue:{name}") for name in (*QUEUE_NAMES, queue_name(NEWER))] == [0, 0, 0]
    assert store.jobs.get(newer.id).state == "queued"


def test_a_newer_job_that_runs_is_not_requeued_by_a_sweep_of_this_version(store: Store, newer: Record) -> None:
    store.redis.hset(keys.job(newer.id), mapping={"state": "running", "attempt": 1, "worker": "newer"})
    store.redis.zadd(keys.running(NEWER), {newer.id: LONG_AGO})
    for _ in range(3):
        store.jobs.sweep()
    assert store.jobs.get(newer.id).state == "running"


def test_a_newer_job_is_shown_cancelled_and_deleted_by_this_version(store: Store, newer: Record) -> None:
    assert store.jobs.page(10, None)[0][0].schema == NEWER
    assert store.jobs.cancel(newer.id).state == "cancelled"
    assert store.redis.zcard(keys.queued(NEWER)) == 0
    assert store.redis.llen(f"rq:queue:{queue_name(NEWER)}") == 0
    store.jobs.delete(newer.id)


@pytest.mark.parametrize("schema", range(1, schema_versions.JOB + 1))
def test_a_job_of_this_or_an_earlier_version_is_claimed_requeued_and_swept(store: Store, schema: int) -> None:
    record = Record("a", State.QUEUED, SPEC, LONG_AGO, schema=schema)
    with store.redis.pipeline() as pipe:
        store.jobs._write(pipe, record)
        pipe.execute()
    queue = f"rq:queue:{queue_name(schema)}"
    assert store.redis.llen(queue) == store.jobs.counts()["queued"] == 1
    attempt = store.jobs.claim("a", "w")
    assert attempt is not None
    assert store.jobs.counts()["running"] == 1
    store.redis.zadd(keys.running(schema), {"a": LONG_AGO})
    store.jobs.renew_lease("w")
    assert store.redis.zscore(keys.running(schema), "a") > LONG_AGO
    assert store.jobs.requeue(replace(store.jobs.get("a"), attempt=1), crashed=False)
    assert store.redis.llen(queue) == 2  # nobody took the first ticket from the queue
    again = store.jobs.claim("a", "w")
    assert again is not None
    again.cancel()
    assert (store.jobs.counts()["queued"], store.jobs.counts()["running"]) == (0, 0)


def test_the_sweep_forgets_a_job_that_an_earlier_release_has_cancelled(store: Store) -> None:
    """Releases up to 0.2.0 know neither the queue nor the lists of later schema versions."""
    store.jobs.create([("a", SPEC)])
    store.redis.zadd(keys.queued(schema_versions.JOB), {"a": LONG_AGO})
    store.redis.hset(keys.job("a"), "state", "cancelled")
    store.redis.delete(f"rq:queue:{QUEUE_NAMES[-1]}")
    store.jobs.sweep()
    assert store.redis.zcard(keys.queued(schema_versions.JOB)) == 0


def test_a_result_of_a_newer_release_is_refused_with_a_reason(store: Store) -> None:
    store.jobs.create([("a", SPEC)])
    attempt = store.jobs.claim("a", "w")
    assert attempt is not None
    attempt.save_artifacts({"result": json.dumps({"schema": schema_versions.RESULT + 1}).encode()})
    attempt.succeed({}, ["result"])
    with pytest.raises(Unavailable, match="newer release"):
        store.jobs.result(store.jobs.get("a"))


def test_a_data_set_of_a_newer_release_is_refused_with_a_reason(store: Store) -> None:
    store.redis.hset(keys.dataset("wine"), "schema", schema_versions.DATASET + 1)
    with pytest.raises(Unavailable, match="newer release"):
        store.datasets.get("wine")


async def read(settings: Settings, job: str) -> list[str]:
    events = Events.open(settings)
    found = await events.after(job, START, 0)
    await events.close()
    return [event.kind for event in found]


def test_an_event_of_a_newer_release_only_says_that_something_has_changed(store: Store, settings: Settings) -> None:
    store.jobs.create([("a", SPEC)])
    entry = store.redis.xrange(keys.events("a"))[0][1]
    assert int(entry[b"schema"]) == schema_versions.EVENT
    store.redis.xadd(keys.events("a"), {"schema": schema_versions.EVENT + 1, "kind": "leap", "shape": "unknown"})
    assert asyncio.run(read(settings, "a")) == ["state", "state"]


def test_a_document_passes_every_migration_from_its_version_on() -> None:
    steps = {1: lambda document: document | {"b": 1}, 2: lambda document: document | {"c": document["b"] + 1}}
    assert migrate({"a": 0}, 1, steps) == {"a": 0, "b": 1, "c": 2}
    assert migrate({"b": 5}, 2, steps) == {"b": 5, "c": 6}
    assert migrate({"c": 7}, 3, steps) == {"c": 7}
