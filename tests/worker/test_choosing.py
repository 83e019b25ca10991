"""Jobs that choose their settings: they stop soon if they are cancelled, and go on after a crash."""

import json
import os
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from ism_cli.embedded import RedisServer
from ism_jobs.settings import Settings
from ism_jobs.store import Record, State, Store, keys
from ism_jobs.tables import open_table
from tests.worker.test_rq_worker import ENDLESS, at_iteration, ended, horse_of, wait, worker
from worker.checkpoint import unpack_trace

CHOOSING = {"paradigm": "supervised", "target": "y"}  # takes some seconds
LEASE = 3_600  # seconds; the next heartbeat is after the test


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with RedisServer(tmp_path_factory.mktemp("redis"), fsync="no") as server:
        yield server.url


@pytest.fixture(scope="module")
def kept(url: str) -> Iterator[Store]:
    store = Store.open(Settings(redis_url=url, lease_seconds=LEASE))
    yield store
    store.redis.close()


@pytest.fixture(scope="module")
def dataset(kept: Store, tmp_path_factory: pytest.TempPathFactory) -> str:
    rng = np.random.default_rng(0)
    columns = {f"x{column}": rng.normal(size=1_500) for column in range(1, 21)}
    path = tmp_path_factory.mktemp("data") / "table.parquet"
    classes = columns["x1"] ** 2 + columns["x2"] ** 2 + rng.normal(size=1_500) > 2
    pq.write_table(pa.table(columns | {"y": np.where(classes, "far", "near")}), path)
    return kept.datasets.add(open_table(path), "rings", path.stat().st_size)[0].id


@pytest.fixture(scope="module")
def alive(url: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator["subprocess.Popen[bytes]"]:
    log = tmp_path_factory.mktemp("log") / "worker.log"
    with worker(url, log, ISM_LEASE_SECONDS=str(LEASE)) as process:
        yield process


def choosing(store: Store, id: str) -> Record:
    """Wait until a job tries candidates."""

    def reached() -> Record | None:
        record = store.jobs.get(id)
        assert not record.state.ended
        return record if record.progress is not None and record.progress["trying"] is not None else None

    found: Record = wait(reached)
    return found


def trials(store: Store, id: str) -> list[int]:
    """How many candidates were tried at each event of a trial."""
    entries = [entry for _, entry in store.redis.xrange(keys.events(id)) if entry[b"kind"] == b"trial"]
    return [json.loads(entry[b"data"])["tried"] for entry in entries]


def known_scores(store: Store, id: str) -> int:
    """How many scores of candidates another attempt would not compute again."""
    left = b"".join(store.redis.lrange(keys.checkpoint(id), 0, -1))
    return sum(map(len, unpack_trace(left).journal.values())) if left else 0


@pytest.mark.parametrize("spec", [CHOOSING, ENDLESS], ids=["a choice", "a solve"])
@pytest.mark.parametrize("listens", [True, False])
def test_a_cancelled_job_stops_long_before_the_next_heartbeat(
    kept: Store, dataset: str, alive: "subprocess.Popen[bytes]", spec: dict[str, Any], listens: bool
) -> None:
    """A job listens between two steps. One that does not listen is killed."""
    (record,) = kept.jobs.create([(f"cancelled{listens}{spec.get('q')}", {"dataset": dataset} | spec)])
    choosing(kept, record.id) if spec is CHOOSING else at_iteration(kept, record.id, 1)
    horse = horse_of(alive)
    if not listens:
        os.kill(horse, signal.SIGSTOP)
    kept.jobs.cancel(record.id)
    assert ended(kept, record.id).state is State.CANCELLED
    if not listens:
        wait(lambda: not Path(f"/proc/{horse}").exists())


def test_a_choice_goes_on_after_its_process_was_killed(
    kept: Store, dataset: str, alive: "subprocess.Popen[bytes]"
) -> None:
    (record,) = kept.jobs.create([("resumes", {"dataset": dataset} | CHOOSING)])
    known = wait(lambda: known_scores(kept, record.id))
    horse = horse_of(alive)
    os.kill(horse, signal.SIGSTOP)
    known, before = known_scores(kept, record.id), len(trials(kept, record.id))
    assert kept.jobs.get(record.id).progress["stage"] == "choosing"
    os.kill(horse, signal.SIGKILL)
    record = ended(kept, record.id)
    assert (record.state, record.attempt, record.crashes) == (State.SUCCEEDED, 2, 1)
    assert min(trials(kept, record.id)[before:]) >= known, "what the checkpoint has is not computed again"
