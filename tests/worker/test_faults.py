"""Workers, jobs' processes and Redis killed, stopped, filled or over a limit: every job ends once, as it should."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from ism_jobs.schema_versions import JOB
from ism_jobs.settings import Settings
from ism_jobs.store import QUEUE_NAMES, Record, State, Store, keys
from ism_jobs.tables import open_table
from tests.support.faulty_redis import FaultyRedis, faulty_redis
from tests.support.forked_commands import ForkedCommand
from tests.worker.test_rq_worker import LONG, SECONDS, SHORT, at_iteration, ended, horse_of, iterations, wait, worker
from worker.checkpoint import unpack_trace
from worker.telemetry import JobTrace

QUEUE = f"rq:queue:{QUEUE_NAMES[-1]}"
ODD_JOBS = """
import ctypes
from ism_jobs.logs import configure
from ism_jobs.settings import Settings
from worker import jobs
from worker import rq_worker as process

solve_and_save = jobs._solve_and_save

def odd(store, record, attempt, settings, tracing):
    if record.id.startswith("deaf"):
        ctypes.PyDLL(None).sleep(600)  # C code that holds the lock of Python: no thread runs, and no signal is heard
    if record.id.startswith("hungry"):
        held = [b"x" * 2**26 for _ in range(100)]  # far more than it may
    solve_and_save(store, record, attempt, settings, tracing)

jobs._solve_and_save = odd
configure(Settings())
process.work(Settings())
"""


@pytest.fixture(scope="module")
def redis(tmp_path_factory: pytest.TempPathFactory) -> Iterator[FaultyRedis]:
    with faulty_redis(tmp_path_factory.mktemp("redis")) as server:
        yield server


@pytest.fixture(scope="module")
def kept(redis: FaultyRedis) -> Store:
    return Store(redis.direct, Settings(lease_seconds=2))


def noise(store: Store, folder: Path, rows: int = 1_500) -> str:
    rng = np.random.default_rng(0)
    columns = {f"x{column}": rng.normal(size=rows) for column in range(1, 31)}
    path = folder / "table.parquet"
    pq.write_table(pa.table(columns | {"y": rng.choice(["a", "b", "c"], rows)}), path)
    return store.datasets.add(open_table(path), "noise", path.stat().st_size)[0].id


@pytest.fixture(scope="module")
def dataset(kept: Store, tmp_path_factory: pytest.TempPathFactory) -> str:
    return noise(kept, tmp_path_factory.mktemp("data"))


@pytest.fixture
def apart(tmp_path: Path) -> Iterator[FaultyRedis]:
    """One that no other worker looks at."""
    with faulty_redis(tmp_path) as server:
        yield server


@dataclass(frozen=True)
class Alive:
    """A worker for several tests, and what it logs."""

    process: ForkedCommand
    log: Path


@pytest.fixture(scope="module")
def alive(redis: FaultyRedis, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Alive]:
    """Until the last test that uses it kills it."""
    log = tmp_path_factory.mktemp("log") / "worker.log"
    with worker(redis.url, log) as process:
        yield Alive(process, log)


def step_events(store: Store, id: str) -> list[int]:
    entries = [entry for _, entry in store.redis.xrange(keys.events(id)) if entry[b"kind"] == b"step"]
    return [json.loads(entry[b"data"])["iteration"] for entry in entries]


def checkpointed(store: Store, id: str) -> int:
    """The iteration that another attempt would go on from."""
    left = b"".join(store.redis.lrange(keys.checkpoint(id), 0, -1))
    return unpack_trace(left).resumed_at if left else 0


def ends(store: Store, record: Record) -> int:
    """How often all jobs together have ended in this state."""
    return int(store.jobs.counts().get(record.state, 0))


@pytest.mark.thorough
def test_a_job_goes_on_while_redis_is_away_and_its_worker_waits(
    redis: FaultyRedis, kept: Store, dataset: str, alive: Alive
) -> None:
    """Longer than a lease, so that it has ended when Redis is back; and once more, with every connection cut."""
    kept.jobs.create([("patient", {"dataset": dataset} | LONG)])
    at_iteration(kept, "patient", 1)
    horse = horse_of(alive.process)
    redis.kill()
    wait(lambda: alive.log.read_text().count("heartbeat failed") >= 3)
    assert Path(f"/proc/{horse}").exists()
    redis.start()
    reached = kept.jobs.get("patient").progress["iteration"]
    at_iteration(kept, "patient", reached + 1)
    redis.cut()
    record = ended(kept, "patient")
    assert (record.state, record.attempt, record.crashes) == (State.SUCCEEDED, 1, 0)
    found = iterations(kept, record)
    assert found == list(range(len(found)))
    assert step_events(kept, "patient") == found, "every step is told once"
    kept.jobs.create([("next", {"dataset": dataset} | SHORT)])
    assert ended(kept, "next").state is State.SUCCEEDED
    assert alive.process.poll() is None


def test_a_ticket_that_was_taken_and_never_begun_is_written_again(kept: Store, dataset: str, alive: Alive) -> None:
    """As by a worker that is killed between the two; the record says that the job waits."""
    kept.jobs.create([("goesfirst", {"dataset": dataset} | LONG)])
    at_iteration(kept, "goesfirst", 0)  # so that the worker does not take the other
    kept.jobs.create([("nobegin", {"dataset": dataset} | SHORT)])
    assert kept.redis.lmove(QUEUE, f"{QUEUE}:intermediate")
    kept.jobs.cancel("goesfirst")
    record = ended(kept, "nobegin")
    assert (record.state, record.attempt, record.crashes) == (State.SUCCEEDED, 1, 0)


def test_a_duplicate_ticket_starts_no_job(kept: Store, dataset: str, alive: Alive) -> None:
    (record,) = kept.jobs.create([("twotickets", {"dataset": dataset} | SHORT)])
    with kept.redis.pipeline() as pipe:
        kept.jobs.tickets.write(pipe, "twotickets", JOB)
        pipe.execute()
    record = ended(kept, "twotickets")
    before = ends(kept, record)
    kept.jobs.create([("behindthem", {"dataset": dataset} | SHORT)])
    ended(kept, "behindthem")
    assert kept.jobs.get("twotickets") == record
    assert ends(kept, record) == before + 1
    assert kept.redis.llen(QUEUE) == 0


def test_the_oom_killer_prefers_job_processes(kept: Store, dataset: str, alive: Alive) -> None:
    kept.jobs.create([("firsttogo", {"dataset": dataset} | LONG)])
    at_iteration(kept, "firsttogo", 0)
    scores = [Path(f"/proc/{pid}/oom_score_adj").read_text() for pid in (alive.process.pid, horse_of(alive.process))]
    kept.jobs.cancel("firsttogo")
    ended(kept, "firsttogo")
    assert int(scores[1]) == 1000 > int(scores[0])


def test_a_job_that_runs_when_redis_fills_up_waits_for_room_and_succeeds(
    redis: FaultyRedis, kept: Store, dataset: str, alive: Alive
) -> None:
    kept.jobs.create([("fullstore", {"dataset": dataset} | LONG | {"max_iter": 60})])
    at_iteration(kept, "fullstore", 1)
    with redis.full():
        wait(lambda: "results not saved yet: the store is full" in alive.log.read_text())
        assert kept.jobs.get("fullstore").progress["stage"] == "measuring", "its progress was told all the time"
    record = ended(kept, "fullstore")
    assert (record.state, record.attempt, record.crashes) == (State.SUCCEEDED, 1, 0)
    found = iterations(kept, record)
    assert found == step_events(kept, "fullstore") == list(range(len(found)))
    kept.jobs.create([("afterfull", {"dataset": dataset} | SHORT)])
    assert ended(kept, "afterfull").state is State.SUCCEEDED
    assert alive.process.poll() is None


@pytest.mark.thorough
def test_a_worker_that_wakes_up_after_its_job_was_taken_over_changes_nothing(
    redis: FaultyRedis, kept: Store, dataset: str, alive: Alive, tmp_path: Path
) -> None:
    kept.jobs.create([("stolen", {"dataset": dataset} | LONG)])
    at_iteration(kept, "stolen", 1)
    horse = horse_of(alive.process)
    for pid in (alive.process.pid, horse):
        os.kill(pid, signal.SIGSTOP)
    with worker(redis.url, tmp_path / "other.log"):
        at_iteration(kept, "stolen", 1, attempt=2)
        for pid in (horse, alive.process.pid):
            os.kill(pid, signal.SIGCONT)
        wait(lambda: "was taken over" in alive.log.read_text())
        record = ended(kept, "stolen")
    assert (record.state, record.attempt, record.losses) == (State.SUCCEEDED, 2, 1)
    found = iterations(kept, record)
    assert found == list(range(len(found)))
    assert all(name.startswith(b"ism:job:stolen:2:") for name in kept.redis.smembers(keys.artifact_keys("stolen")))
    kept.jobs.create([("afterwaking", {"dataset": dataset} | SHORT)])
    assert ended(kept, "afterwaking").state is State.SUCCEEDED
    assert alive.process.poll() is None


def test_the_job_of_a_killed_worker_goes_on_from_its_checkpoint_when_only_the_next_worker_is_there(
    redis: FaultyRedis, kept: Store, alive: Alive, tmp_path: Path
) -> None:
    dataset = noise(kept, tmp_path, 2_000)
    lasting = LONG | {"kernel": "multiquadratic"}  # longer than the second between two checkpoints
    kept.jobs.create([("goeson", {"dataset": dataset} | lasting)])
    wait(lambda: checkpointed(kept, "goeson") >= 1)  # where the next attempt begins, it tells that step again
    alive.process.kill()
    with worker(redis.url, tmp_path / "second.log"):
        record = ended(kept, "goeson")
    assert (record.state, record.attempt, record.losses) == (State.SUCCEEDED, 2, 1)
    found = iterations(kept, record)
    assert found == list(range(len(found)))
    assert step_events(kept, "goeson").count(0) == 1, "it did not begin anew"


@pytest.mark.thorough
def test_a_worker_that_starts_or_waits_without_redis_goes_on_when_it_is_there(
    apart: FaultyRedis, tmp_path: Path
) -> None:
    log, store = tmp_path / "worker.log", Store(apart.direct, Settings())
    dataset = noise(store, tmp_path)
    apart.kill()
    with worker(apart.url, log) as process:
        wait(lambda: "worker is waiting for Redis" in log.read_text())
        apart.start()
        store.jobs.create([("first", {"dataset": dataset} | SHORT)])
        assert ended(store, "first").state is State.SUCCEEDED
        said = len(log.read_text())
        with apart.unreachable():
            wait(lambda: "Redis" in log.read_text()[said:])
        store.jobs.create([("second", {"dataset": dataset} | SHORT)])
        assert ended(store, "second").state is State.SUCCEEDED
        assert process.poll() is None


def test_a_job_over_a_limit_is_ended_alone_inside_of_c_code_too_and_says_what_would_fit(
    apart: FaultyRedis, tmp_path: Path
) -> None:
    store = Store(apart.direct, Settings())
    dataset = noise(store, tmp_path)
    limits = {
        "ISM_JOB_TIME_LIMIT": "6",
        "ISM_JOB_MEMORY": "700MiB",
        "ISM_LEASE_SECONDS": "2",
        "ISM_WORKER_THREADS": "1",
    }
    log = tmp_path / "worker.log"
    with log.open("ab") as file:
        environment = os.environ | {"ISM_REDIS_URL": apart.url} | limits
        process = subprocess.Popen([sys.executable, "-c", ODD_JOBS], env=environment, stdout=file, stderr=file)
    try:
        ids = ("deaf", "hungry", "modest")
        store.jobs.create([(id, {"dataset": dataset} | SHORT) for id in ids])
        deaf, hungry, modest = (ended(store, id) for id in ids)
        assert process.poll() is None, log.read_text()
    finally:
        process.terminate()
        process.wait(SECONDS)
    assert (deaf.state, deaf.attempt, deaf.error["type"]) == (State.FAILED, 1, "urn:ism:problem:time-over")
    assert "exceeded the time limit of 6 seconds; use" in deaf.error["detail"]
    assert (hungry.state, hungry.attempt, hungry.error["type"]) == (State.FAILED, 1, "urn:ism:problem:out-of-memory")
    assert "the limit is 700 MiB" in hungry.error["detail"]
    assert "% of its rows should fit" in hungry.error["detail"]
    assert modest.state is State.SUCCEEDED


def test_a_job_for_whose_result_there_is_no_room_fails_with_a_sentence(
    redis: FaultyRedis, kept: Store, dataset: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    from worker import jobs

    kept.jobs.create([("noroom", {"dataset": dataset} | SHORT)])
    kept.redis.delete(QUEUE)
    attempt = kept.jobs.claim("noroom", "the test")
    assert attempt is not None
    monkeypatch.setattr(jobs, "FULL_STORE_SECONDS", 0.0)
    monkeypatch.setattr(
        jobs, "_solve_and_save", lambda store, record, attempt, *others: jobs._save_artifacts(attempt, {"W": b"w"})
    )
    with redis.full(), JobTrace(attempt.record, attempt.number) as tracing:
        jobs._run_attempt(kept, kept.jobs.get("noroom"), attempt, Settings(), tracing)
        record = kept.jobs.get("noroom")
    assert record.state is State.FAILED
    assert record.error["status"] == 507
    assert "The store is full" in record.error["detail"]
