"""Real workers on a real Redis: how jobs end, and that none is lost when a process is stopped or killed."""

import os
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from redis import Redis
from rq.utils import utcformat

from ism_cli.embedded import RedisServer
from ism_jobs.settings import Settings
from ism_jobs.store import QUEUE_NAMES, Record, State, Store, keys, redis_time, unpack
from ism_jobs.tables import open_table
from tests.support.forked_commands import ForkedCommand, forked_worker

SECONDS = 60  # to wait for anything
LONG = {
    "paradigm": "supervised",
    "kernel": "gaussian",
    "target": "y",
    "q": 4,
    "delta": 1e-9,
    "starts": 1,
    "folds": 0,
}  # some seconds
ENDLESS = LONG | {
    "max_iter": 100_000,
    "delta": 1e-300,
    "starts": 1_000,
}  # takes minutes; one start takes a second
SHORT = LONG | {"delta": 0.1, "max_iter": 3, "features": ["x1", "x2", "x3"], "q": 1, "kernel": "linear"}


@pytest.fixture(scope="module")
def own_redis(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A Redis that no other test empties under the workers."""
    with RedisServer(tmp_path_factory.mktemp("redis"), fsync="no") as server:
        yield server.url


@pytest.fixture(scope="module")
def kept(own_redis: str) -> Iterator[Store]:
    store = Store.open(Settings(redis_url=own_redis, lease_seconds=2))
    yield store
    store.redis.close()


@pytest.fixture(scope="module")
def dataset(kept: Store, tmp_path_factory: pytest.TempPathFactory) -> str:
    rng = np.random.default_rng(0)
    columns = {f"x{column}": rng.normal(size=1_500) for column in range(1, 31)}
    path = tmp_path_factory.mktemp("data") / "table.parquet"
    pq.write_table(pa.table(columns | {"y": rng.choice(["a", "b", "c"], 1_500)}), path)
    return kept.datasets.add(open_table(path), "noise", path.stat().st_size)[0].id


@contextmanager
def worker(url: str, log: Path, **variables: str) -> Iterator[ForkedCommand]:
    given = {"ISM_REDIS_URL": url, "ISM_LEASE_SECONDS": "2", "ISM_WORKER_THREADS": "1"}
    process = forked_worker(log, given | variables)
    try:
        yield process
    finally:
        if process.poll() is None:
            process.terminate()
        process.wait(SECONDS)


@pytest.fixture(scope="module")
def alive(own_redis: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[ForkedCommand]:
    """A worker for all tests, until the last stops it."""
    log = tmp_path_factory.mktemp("log") / "worker.log"
    with worker(own_redis, log, ISM_MAX_ATTEMPTS="2") as process:
        yield process


def wait(what: Callable[[], Any]) -> Any:
    deadline = time.monotonic() + SECONDS
    while time.monotonic() < deadline:
        if found := what():
            return found
        time.sleep(0.02)
    raise AssertionError("it did not happen")


def ended(store: Store, id: str) -> Record:
    return wait(lambda: (record := store.jobs.get(id)).state.ended and record)


def at_iteration(store: Store, id: str, least: int, attempt: int = 1) -> Record:
    def reached() -> Record | None:
        record = store.jobs.get(id)
        far = record.progress is not None and record.progress["iteration"] >= least
        return record if record.state is State.RUNNING and record.attempt == attempt and far else None

    return wait(reached)


def horse_of(process: ForkedCommand) -> int:
    """The process in which a worker runs a job."""
    return int(wait(Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text).split()[0])


def iterations(store: Store, record: Record) -> list[int]:
    return unpack(store.jobs.artifact(record, "trace")).column("iteration").to_pylist()


def test_a_job_succeeds(kept: Store, dataset: str, alive: object) -> None:
    kept.jobs.create([("succeeds", {"dataset": dataset} | SHORT | {"folds": 2})])
    record = ended(kept, "succeeds")
    assert (record.state, record.attempt, record.error) == (State.SUCCEEDED, 1, None)
    assert set(record.artifacts) == {"W", "embedding", "stability", "trace", "metrics", "model", "result"}
    assert {"accuracy", "objective"} <= set(record.summary["metrics"])
    assert record.created <= record.started <= record.finished
    kinds = [entry[b"kind"].decode() for _, entry in kept.redis.xrange(keys.events("succeeds"))]
    assert kinds[:2] == ["state", "state"]
    assert kinds[-4:] == ["validation", "validation", "validation", "state"]
    assert set(kinds[2:-4]) == {"step", "picture"}
    assert not kept.redis.exists(keys.checkpoint("succeeds"))
    kept.jobs.delete("succeeds")
    assert list(kept.redis.scan_iter("ism:job:succeeds*")) == []


@pytest.mark.parametrize(
    ("change", "sentence", "field"),
    [
        ({"q": 31}, "q is 31; it must be a whole number from 1 to the 3 feature(s)", "q"),
        ({"dataset": "lost"}, 'The data set "lost" is gone', None),
        ({"paradigm": "unsupervised"}, "Internal error", None),
    ],
)
def test_a_job_that_cannot_run_fails_with_a_sentence(
    kept: Store, dataset: str, alive: object, change: dict[str, Any], sentence: str, field: str | None
) -> None:
    """Nothing of this passes the checks of the API, or did when it was posted."""
    id = f"fails{len(sentence)}"
    kept.redis.copy(keys.dataset(dataset), keys.dataset("lost"), replace=True)  # a data set that lost its rows
    kept.jobs.create([(id, {"dataset": dataset} | SHORT | change)])
    record = ended(kept, id)
    assert record.state is State.FAILED
    assert sentence in record.error["detail"]
    assert [error["field"] for error in record.error["errors"]] == ([field] if field else [])


def test_a_running_job_stops_when_it_is_cancelled(kept: Store, dataset: str, alive: object) -> None:
    kept.jobs.create([("cancelled", {"dataset": dataset} | ENDLESS)])
    at_iteration(kept, "cancelled", 1)
    kept.jobs.cancel("cancelled")
    record = ended(kept, "cancelled")
    assert (record.state, record.attempt, record.artifacts) == (State.CANCELLED, 1, [])


def test_a_worker_outlives_jobs_that_are_deleted_under_it(kept: Store, dataset: str, alive: ForkedCommand) -> None:
    for number in range(5):
        kept.jobs.create([(f"deleted{number}", {"dataset": dataset} | SHORT)])
        ended(kept, f"deleted{number}")
        kept.jobs.delete(f"deleted{number}")
    kept.jobs.create([("afterthem", {"dataset": dataset} | SHORT)])
    assert ended(kept, "afterthem").state is State.SUCCEEDED
    assert alive.poll() is None


def test_a_job_whose_process_is_killed_is_put_back_and_finished(
    kept: Store, dataset: str, alive: ForkedCommand
) -> None:
    kept.jobs.create([("loseshorse", {"dataset": dataset} | LONG)])
    at_iteration(kept, "loseshorse", 2)
    os.kill(horse_of(alive), signal.SIGKILL)
    record = ended(kept, "loseshorse")
    assert (record.state, record.attempt, record.crashes) == (State.SUCCEEDED, 2, 1)
    found = iterations(kept, record)
    assert found == list(range(len(found)))


def test_a_job_that_kills_its_process_again_and_again_fails_with_a_sentence(
    kept: Store, dataset: str, alive: ForkedCommand
) -> None:
    kept.jobs.create([("poison", {"dataset": dataset} | LONG)])
    for attempt in (1, 2):
        at_iteration(kept, "poison", 0, attempt)
        os.kill(horse_of(alive), signal.SIGKILL)
    record = ended(kept, "poison")
    assert record.state is State.FAILED
    assert "ended unexpectedly 2 times, most likely because it ran out of memory" in record.error["detail"]
    assert alive.poll() is None


def test_stopped_and_killed_workers_leave_their_job_to_the_next(
    kept: Store, own_redis: str, dataset: str, alive: ForkedCommand, tmp_path: Path
) -> None:
    kept.jobs.create([("wanders", {"dataset": dataset} | LONG)])
    at_iteration(kept, "wanders", 2)
    alive.terminate()
    assert alive.wait(SECONDS) == 0
    record = kept.jobs.get("wanders")
    assert (record.state, record.attempt, record.crashes) == (State.QUEUED, 1, 0)
    assert kept.jobs.position(record) == 0
    reached = record.progress["iteration"]
    assert kept.redis.exists(keys.checkpoint("wanders"))
    with (
        worker(own_redis, tmp_path / "second.log") as second,
        worker(own_redis, tmp_path / "third.log") as third,
    ):
        record = at_iteration(kept, "wanders", reached + 1, attempt=2)
        name = kept.redis.hget(keys.job("wanders"), "worker").decode()
        pid = int(kept.redis.hget(f"rq:worker:{name}", "pid"))
        running = second if second.pid == pid else third
        horse = horse_of(running)
        running.kill()
        wait(lambda: not Path(f"/proc/{horse}").exists())  # it dies with its worker
        record = ended(kept, "wanders")
        assert (record.state, record.attempt, record.losses) == (State.SUCCEEDED, 3, 1)
    found = iterations(kept, record)
    assert found == list(range(len(found)))
    assert len(found) > reached


def test_a_worker_ends_a_job_that_does_not_listen(own_redis: str, kept: Store, dataset: str, tmp_path: Path) -> None:
    """Between two steps nothing is heard, and a step may be long: here the process is stopped for good."""
    endless = {"dataset": dataset} | ENDLESS
    with worker(own_redis, tmp_path / "worker.log", ISM_SHUTDOWN_SECONDS="1") as process:
        kept.jobs.create([("cancelleddeaf", endless), ("stoppeddeaf", endless)])
        at_iteration(kept, "cancelleddeaf", 1)
        os.kill(horse_of(process), signal.SIGSTOP)
        kept.jobs.cancel("cancelleddeaf")
        assert ended(kept, "cancelleddeaf").state is State.CANCELLED

        at_iteration(kept, "stoppeddeaf", 1)
        horse = horse_of(process)
        os.kill(horse, signal.SIGSTOP)
        process.terminate()
        assert process.wait(SECONDS) == 0
        assert not Path(f"/proc/{horse}").exists()
    record = kept.jobs.get("stoppeddeaf")
    assert (record.state, record.crashes) == (State.QUEUED, 0)
    kept.jobs.cancel("stoppeddeaf")


def test_a_worker_that_redis_has_failed_stops_when_it_is_told_to_before_the_next_follows(
    own_redis: str, kept: Store, tmp_path: Path
) -> None:
    """The signal reaches the one that failed, which has left its loop."""
    queue = f"rq:queue:{QUEUE_NAMES[-1]}"
    kept.redis.set(queue, "not a list: nothing can be taken from it")
    log = tmp_path / "worker.log"
    with worker(own_redis, log) as process:
        wait(lambda: "WRONGTYPE" in log.read_text())
        process.terminate()
        assert process.wait(SECONDS) == 0
    kept.redis.delete(queue)


def test_a_killed_worker_is_soon_not_counted(own_redis: str, kept: Store, tmp_path: Path) -> None:
    with worker(own_redis, tmp_path / "worker.log") as process:
        wait(lambda: kept.jobs.workers() == 1)
        process.kill()
        process.wait()
        assert kept.redis.scard("rq:workers") > 0
        wait(lambda: kept.jobs.workers() == 0)


def test_a_worker_counts_while_redis_is_full(tmp_path: Path) -> None:
    """Else /readyz would be a 503, and a proxy that follows it would let no deletions through."""
    with RedisServer(tmp_path, fsync="no") as server, worker(server.url, tmp_path / "worker.log"):
        jobs = Store.open(Settings(redis_url=server.url, lease_seconds=2)).jobs
        wait(lambda: jobs.workers() == 1)
        with Redis.from_url(server.url) as redis:
            redis.config_set("maxmemory", 1)
            redis.delete("rq:workers", "rq:workers:ism", *redis.smembers("rq:workers"))  # as after their time to live
            wait(lambda: jobs.workers() == 1)
            redis.config_set("maxmemory", 0)
            wait(lambda: redis.scard("rq:workers"))
        assert jobs.workers() == 1, "it is not counted twice"


@pytest.mark.parametrize("jump", [-3_600, 3_600])
def test_a_worker_is_counted_after_a_jump_of_the_clock(own_redis: str, kept: Store, tmp_path: Path, jump: int) -> None:
    kept.redis.delete("rq:workers")  # killed workers of other tests
    with worker(own_redis, tmp_path / "worker.log"):
        wait(lambda: kept.jobs.workers() == 1)
        (key,) = kept.redis.smembers("rq:workers")
        seen = redis_time(kept.redis) - timedelta(seconds=jump)  # the heartbeat is from before the jump
        kept.redis.hset(key, "last_heartbeat", utcformat(seen))
        if jump > 0:
            kept.redis.delete(key)  # its time to live is over
        kept.jobs.workers()
        wait(lambda: kept.jobs.workers() == 1)
    wait(lambda: kept.jobs.workers() == 0)
