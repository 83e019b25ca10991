"""Data sets: kept once, in chunks, read back as they came."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from ism_jobs.errors import Conflict, InvalidTable, NotFound
from ism_jobs.schema_versions import JOB
from ism_jobs.settings import Settings
from ism_jobs.store import Dataset, Store, keys
from ism_jobs.tables import open_table

LARGEST_CHUNK = 9 * 2**20


def table(rows: int = 50, shift: float = 0.0) -> pa.Table:
    numbers = np.arange(rows) * 0.5 + shift
    return pa.table(
        {
            "x": pa.array([None if row % 7 == 3 else value for row, value in enumerate(numbers)], pa.float64()),
            "größe": pa.array(numbers**2),
            "color": pa.array([None if row % 5 == 0 else ("red", "grün")[row % 2] for row in range(rows)]),
        }
    )


def added(store: Store, folder: Path, content: pa.Table, name: str = "mine") -> tuple[Dataset, bool]:
    path = folder / "table.parquet"
    pq.write_table(content, path)
    return store.datasets.add(open_table(path), name, path.stat().st_size)


def left(store: Store) -> list[str]:
    return sorted(key.decode() for key in store.redis.scan_iter("ism:*"))


def test_a_data_set_is_read_back_as_it_came(store: Store, tmp_path: Path) -> None:
    content = table()
    dataset, is_new = added(store, tmp_path, content)
    assert is_new
    assert store.datasets.get(dataset.id) == dataset
    assert (dataset.name, dataset.description.rows) == ("mine", 50)
    assert store.datasets.read(dataset.id).equals(content)
    assert store.datasets.read(dataset.id, ["color", "x"]).equals(content.select(["color", "x"]))


def test_the_same_table_twice_is_one_data_set(store: Store, tmp_path: Path) -> None:
    first, _ = added(store, tmp_path, table(), "first")
    keys_before = left(store)
    store.redis.expire(keys.dataset(first.id), 100)
    store.redis.expire(keys.dataset_chunks(first.id), 100)
    second, is_new = added(store, tmp_path, table(), "second")
    assert not is_new
    assert second == first
    assert left(store) == keys_before
    assert store.redis.ttl(keys.dataset(first.id)) > 100, "its time begins anew"
    assert store.redis.ttl(keys.dataset_chunks(first.id)) > 100
    other, is_new = added(store, tmp_path, table(shift=1e-9))
    assert is_new
    assert other.id != first.id


def test_a_data_set_that_lost_its_chunks_is_made_whole_by_uploading_it_again(store: Store, tmp_path: Path) -> None:
    dataset, _ = added(store, tmp_path, table())
    store.redis.delete(keys.dataset_chunks(dataset.id))
    with pytest.raises(NotFound, match="upload the table again"):
        store.datasets.read(dataset.id)
    assert added(store, tmp_path, table())[1]
    assert store.datasets.read(dataset.id).equals(table())


def test_data_sets_expire(redis_url: str, store: Store, tmp_path: Path) -> None:
    store = Store(store.redis, Settings(redis_url=redis_url, dataset_seconds=100))
    dataset, _ = added(store, tmp_path, table())
    assert left(store) == [f"ism:dataset:{dataset.id}", f"ism:dataset:{dataset.id}:chunks", keys.datasets("")]
    for key in (keys.dataset(dataset.id), keys.dataset_chunks(dataset.id)):
        assert 90 < store.redis.ttl(key) <= 100
    store.redis.delete(keys.dataset(dataset.id), keys.dataset_chunks(dataset.id))
    with pytest.raises(NotFound, match="may have expired"):
        store.datasets.get(dataset.id)
    assert store.datasets.page(10, None) == ([], None)
    assert left(store) == [], "the index forgets it too"


def test_no_value_in_redis_is_large_however_large_the_table(store: Store, tmp_path: Path) -> None:
    content = pa.table({f"x{column}": np.random.default_rng(column).normal(size=500_000) for column in range(1, 16)})
    assert content.nbytes == 60_000_000
    dataset, _ = added(store, tmp_path, content)
    key = keys.dataset_chunks(dataset.id)
    sizes = [len(store.redis.lindex(key, place)) for place in range(store.redis.llen(key))]
    assert len(sizes) > 5
    assert max(sizes) < LARGEST_CHUNK
    assert store.datasets.read(dataset.id, ["x15", "x3"]).equals(content.select(["x15", "x3"]))


class Failing:
    """A reader of a file that turns out to be broken after two batches."""

    def __init__(self, store: Store, error: BaseException) -> None:
        self.store = store
        self.error = error
        self.staged: list[tuple[str, int]] = []

    def __iter__(self) -> Iterator[pa.RecordBatch]:
        yield from table().to_batches()
        yield from table().to_batches()
        self.staged = [(key, self.store.redis.ttl(key)) for key in left(self.store)]
        raise self.error


@pytest.mark.parametrize("error", [InvalidTable("Line 100 is broken."), KeyboardInterrupt()], ids=["broken", "stopped"])
def test_nothing_is_left_of_an_upload_that_failed(store: Store, error: BaseException) -> None:
    reader = Failing(store, error)
    with pytest.raises(type(error)):
        store.datasets.add(reader, "mine", 1)
    assert left(store) == []
    ((_, seconds),) = reader.staged
    assert 0 < seconds <= 3600, "and were its process killed, it would go by itself"


def test_a_data_set_that_an_open_job_needs_is_not_deleted(store: Store, tmp_path: Path) -> None:
    dataset, _ = added(store, tmp_path, table())
    spec = {"dataset": dataset.id, "paradigm": "unsupervised", "clusters": 2}
    store.jobs.create([("a", spec), ("b", spec)])
    with pytest.raises(Conflict, match="2 job"):
        store.datasets.delete(dataset.id)
    store.jobs.cancel("b")
    attempt = store.jobs.claim("a", "w1")
    with pytest.raises(Conflict, match="1 job"):
        store.datasets.delete(dataset.id)
    attempt.fail({"detail": "no"})
    store.datasets.delete(dataset.id)
    with pytest.raises(NotFound):
        store.datasets.get(dataset.id)
    with pytest.raises(NotFound):
        store.datasets.delete(dataset.id)
    for id in "ab":
        store.jobs.delete(id)
    assert set(left(store)) == {keys.TOTALS, keys.SERVED, keys.waiting_owners(JOB)}


def test_a_job_that_comes_while_its_data_set_is_deleted_keeps_it(store: Store, tmp_path: Path, monkeypatch) -> None:
    dataset, _ = added(store, tmp_path, table())
    forget = store.datasets._delete_dataset

    def late(**asked: Any) -> int:
        store.jobs.create([("a", {"dataset": dataset.id})])
        return forget(**asked)

    monkeypatch.setattr(store.datasets, "_delete_dataset", late)
    with pytest.raises(Conflict):
        store.datasets.delete(dataset.id)
    assert store.datasets.read(dataset.id).num_rows == 50


def test_a_data_set_lasts_as_long_after_a_job_as_after_its_upload(store: Store, tmp_path: Path) -> None:
    dataset, _ = added(store, tmp_path, table())
    used = keys.dataset(dataset.id), keys.dataset_chunks(dataset.id)
    for key in used:
        store.redis.expire(key, 100)
    store.jobs.create([("a", {"dataset": dataset.id})])
    assert all(store.redis.ttl(key) > 100 for key in used)


def test_data_sets_come_in_pages_newest_first(store: Store, tmp_path: Path) -> None:
    ids = [added(store, tmp_path, table(shift=float(shift)))[0].id for shift in range(5)]
    found, place = [], None
    while True:
        datasets, place = store.datasets.page(2, place)
        found += [dataset.id for dataset in datasets]
        if place is None:
            break
    assert found == ids[::-1]
