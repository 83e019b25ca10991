"""What an owner uses is counted, and too much of it is refused."""

import json
from pathlib import Path

import pytest

from ism_jobs.errors import StoreFull
from ism_jobs.settings import Settings
from ism_jobs.store import Store, keys
from ism_jobs.store.quotas import Usage
from ism_jobs.tables import open_table


def added(store: Store, folder: Path, rows: int) -> str:
    path = folder / f"{rows}.csv"
    path.write_text("a,b\n" + "\n".join(f"{row},{row * row}" for row in range(rows)))
    return store.datasets.add(open_table(path), path.name, path.stat().st_size)[0].id


def spec(dataset: str) -> dict[str, object]:
    return {"dataset": dataset, "paradigm": "unsupervised", "clusters": 2}


def held(store: Store, job: str) -> int:
    return sum(store.redis.memory_usage(key) for key in store.redis.scan_iter(f"ism:job:{job}*"))


def bytes_of(store: Store, owner: str) -> int:
    return store.quotas.usage(owner).stored_bytes


def test_bytes_open_and_running_jobs_of_an_owner_are_counted(store: Store, tmp_path: Path) -> None:
    alice = store.of("alice")
    dataset = added(alice, tmp_path, 100)
    table = sum(map(len, store.redis.lrange(keys.dataset_chunks(dataset), 0, -1)))
    assert store.quotas.usage("alice") == Usage(table, 0, 0)
    alice.jobs.create([("a", spec(dataset)), ("b", spec(dataset))])
    attempt = store.jobs.claim("a", "w1")
    assert attempt is not None
    assert store.quotas.usage("alice") == Usage(table + held(store, "a"), 2, 1)
    attempt.save_artifacts({"W": b"12345", "trace": b"678"})
    attempt.succeed({}, ["W", "trace"])
    usage = store.quotas.usage("alice")
    assert (usage.open_jobs, usage.running_jobs) == (1, 0)
    # The record grows by this number, for which Redis may take another layout of its hash.
    assert usage.stored_bytes == pytest.approx(table + held(store, "a"), abs=600)
    assert store.quotas.usage("bob") == store.quotas.usage("") == Usage(0, 0, 0)
    alice.jobs.delete("a")
    store.redis.delete(keys.dataset(dataset))  # it expires
    assert bytes_of(store, "alice") == 0


def test_all_that_a_job_holds_is_counted_while_it_runs_and_when_it_has_ended(store: Store, tmp_path: Path) -> None:
    alice = store.of("alice")
    dataset = added(alice, tmp_path, 10)
    alice.jobs.create([("a", spec(dataset))])
    attempt = store.jobs.claim("a", "w1")
    assert attempt is not None
    before = bytes_of(store, "alice") - held(store, "a")
    attempt.save_checkpoint(bytes(50_000))
    attempt.save_picture(bytes(20_000))
    for step in range(100):
        attempt.report({}, "step", {"row": [step] * 50})
    during = bytes_of(store, "alice")
    assert during > before + 50_000 + 20_000 + 100 * 150, "checkpoint, picture and events"
    assert during == pytest.approx(before + held(store, "a"), abs=2_000)
    checkpoint = store.redis.memory_usage(keys.checkpoint("a"))
    attempt.fail({"detail": "No."})
    assert bytes_of(store, "alice") == pytest.approx(during - checkpoint, abs=2_000), "the checkpoint is gone"
    alice.jobs.retry("a")
    alice.jobs.cancel("a")
    assert bytes_of(store, "alice") == pytest.approx(during - checkpoint, abs=2_000), "it is not counted twice"
    assert bytes_of(store, "bob") == 0


def test_an_owner_with_too_many_bytes_is_refused_until_it_deletes_some(store: Store, tmp_path: Path) -> None:
    first = added(store.of("alice"), tmp_path, 1_000)
    most = bytes_of(store, "alice") + 1_000
    limited = Store(store.redis, Settings(max_stored_bytes=most))
    alice, bob = limited.of("alice"), limited.of("bob")
    before = set(store.redis.scan_iter())
    with pytest.raises(StoreFull, match=f"may have {most:,} bytes together.*this data set has"):
        added(alice, tmp_path, 900)
    assert set(store.redis.scan_iter()) == before
    assert added(bob, tmp_path, 900)
    alice.jobs.create([("a", spec(first))])
    attempt = limited.jobs.claim("a", "w1")
    assert attempt is not None
    attempt.save_artifacts({"W": bytes(2_000)})  # what runs already may end
    attempt.succeed({}, ["W"])
    later = Store(store.redis, Settings(max_stored_bytes=most)).of("alice")
    with pytest.raises(StoreFull, match="Delete data sets or jobs"):
        later.jobs.create([("b", spec(first))])
    later.jobs.delete("a")
    assert added(Store(store.redis, Settings(max_stored_bytes=most)).of("alice"), tmp_path, 10)


def test_a_data_set_of_an_earlier_release_counts_as_its_file(store: Store) -> None:
    fields = {"owner": "alice", "size": 77, "description": json.dumps({})}
    store.redis.hset(keys.dataset("old"), mapping=fields)
    store.redis.zadd(keys.datasets("alice"), {"old": 1.0})
    assert bytes_of(store, "alice") == 77
