"""Redis killed, hung, full, cut off or far away, as those see it who call the API."""

import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from ism_cli.embedded import RedisServer
from ism_jobs.settings import Settings
from ism_jobs.spec import JOB_SPEC
from ism_jobs.store import QUEUE_NAMES, Store, keys
from tests.support.api import Api, problem
from tests.support.faulty_redis import FaultyRedis, faulty_redis
from tests.support.forked_commands import ForkedCommand, forked_worker
from tools.local_service import free_port, wait_until_ready
from worker.progress import Progress

SECONDS = 20  # an answer that takes longer is none: the client gives up
JOB = {"paradigm": "supervised", "target": "c", "kernel": "linear", "q": 1, "folds": 0, "max_iter": 3}
ENDLESS = {"kernel": "multiquadratic", "max_iter": 100_000, "delta": 1e-300, "starts": 1_000}


@pytest.fixture(scope="module")
def redis(tmp_path_factory: pytest.TempPathFactory) -> Iterator[FaultyRedis]:
    with faulty_redis(tmp_path_factory.mktemp("redis")) as server:
        yield server


@pytest.fixture(scope="module")
def faulty(redis: FaultyRedis, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Api]:
    """An API and a worker on that Redis."""
    port, log = free_port(), tmp_path_factory.mktemp("log") / "log"
    environment = os.environ | {"ISM_REDIS_URL": redis.url, "ISM_LEASE_SECONDS": "5", "ISM_WORKER_THREADS": "1"}
    front = ForkedCommand(["api", "--port", str(port)], log, environment)
    processes = [front, forked_worker(log, environment)]
    try:
        url = f"http://127.0.0.1:{port}"
        wait_until_ready(url, front, log)
        with Api(base_url=url, timeout=SECONDS) as client:
            yield client
        assert [process.poll() for process in processes] == [None, None], log.read_text()
    finally:
        for process in processes:
            process.terminate()
            process.wait(60)


@pytest.fixture
def store(redis: FaultyRedis) -> Store:
    return Store(redis.direct, Settings())


def until(what: Callable[[], Any]) -> Any:
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        if found := what():
            return found
        time.sleep(0.05)
    raise AssertionError("it did not happen")


def rows(first: int, count: int = 40) -> bytes:
    return b"a,b,c\n" + b"".join(b"%d,%d,%d\n" % (first + row, row % 7, row % 3) for row in range(count))


def spec_of(dataset: str) -> dict[str, Any]:
    """As the API keeps it."""
    return JOB_SPEC.validate_python({"dataset": dataset} | JOB).model_dump(mode="json")


def refused(api: Api, status: int, dataset: str) -> None:
    """Everything that needs Redis is answered with this problem, and soon."""
    answers = [
        api.get("/readyz"),
        api.get("/jobs"),
        api.get(f"/datasets/{dataset}"),
        api.post("/jobs", json={"dataset": dataset} | JOB),
        api.post("/datasets", content=rows(1), headers={"Content-Type": "text/csv"}),
    ]
    for answer in answers:
        assert problem(answer, status)["type"] == "urn:ism:problem:unavailable"
        assert int(answer.headers["retry-after"]) > 0
    assert api.get("/healthz").status_code == 200


def test_the_api_answers_503_while_redis_is_down_and_keeps_acknowledged_jobs(faulty: Api, redis: FaultyRedis) -> None:
    dataset = faulty.upload(rows(10))["id"]
    job = faulty.submit(dataset=dataset, **JOB)
    redis.kill()
    try:
        refused(faulty, 503, dataset)
    finally:
        redis.start()
    assert until(lambda: faulty.get(f"/datasets/{dataset}").json().get("rows")) == 40
    faulty.succeeded(job)


def test_while_redis_hangs_the_api_says_so_soon_and_goes_on_after(faulty: Api, redis: FaultyRedis) -> None:
    dataset = faulty.upload(rows(20))["id"]
    with redis.stopped():
        for path in ("/jobs", f"/datasets/{dataset}"):
            assert problem(faulty.get(path), 503)["type"] == "urn:ism:problem:unavailable"
        assert faulty.get("/healthz").status_code == 200
    assert faulty.get(f"/datasets/{dataset}").status_code == 200


@pytest.mark.thorough
def test_a_redis_that_is_200_ms_away_makes_everything_slower_and_breaks_nothing(
    faulty: Api, redis: FaultyRedis
) -> None:
    faulty.timeout = 60
    try:
        with redis.away(0.1):  # there, and back
            assert faulty.upload(rows(30, 50_000))["rows"] == 50_000
            job = faulty.submit(dataset=faulty.upload(rows(30))["id"], **JOB)
            assert faulty.get(f"/jobs/{job}", params={"wait": 50}).json()["state"] == "succeeded"
            events = faulty.get(f"/jobs/{job}/events").text
            assert "event: step" in events
            assert events.count("event: state") == 1
            assert faulty.get(f"/jobs/{job}/W").status_code == 200
    finally:
        faulty.timeout = SECONDS


def test_an_event_stream_ends_with_redis_and_resumes_by_last_event_id(
    faulty: Api, redis: FaultyRedis, store: Store
) -> None:
    """The job is held by this test, so that nothing happens by itself."""
    store.redis.hset(keys.dataset("wine"), mapping={"name": "what the job names"})
    store.jobs.create([("followed", spec_of("wine"))])
    store.redis.lpop(f"rq:queue:{QUEUE_NAMES[-1]}")
    attempt = store.jobs.claim("followed", "the test")
    assert attempt is not None
    progress = Progress("ascent", 0, 3, None, None, None, 0.0, None).document()
    attempt.report(progress, "step", {"iteration": 0})
    seen: list[str] = []
    with faulty.stream("GET", "/jobs/followed/events") as stream:
        for line in stream.iter_lines():  # ends by itself, and without an error
            seen.append(line)
            if line == "event: step":
                redis.kill()
    redis.start()
    last = [line.removeprefix("id: ") for line in seen if line.startswith("id: ")][-1]
    attempt.report(progress, "step", {"iteration": 1})
    attempt.cancel()
    headers = {"Last-Event-ID": last}
    answer = until(lambda: (got := faulty.get("/jobs/followed/events", headers=headers)).status_code == 200 and got)
    assert answer.text.count("event: step") == 1
    assert '"iteration":1' in answer.text.replace(" ", "")


def test_a_cut_connection_is_made_again(faulty: Api, redis: FaultyRedis) -> None:
    path = f"/datasets/{faulty.upload(rows(70))['id']}"
    for _ in range(3):
        assert faulty.get(path).status_code == 200
        redis.cut()
        until(lambda: faulty.get(path).status_code == 200)


def test_a_full_redis_refuses_new_objects_and_allows_deletes(faulty: Api, redis: FaultyRedis, store: Store) -> None:
    kept, old = faulty.upload(rows(40))["id"], faulty.upload(rows(50))["id"]
    done = faulty.submit(dataset=kept, **JOB)
    faulty.succeeded(done)
    store.jobs.create([("queuedbefore", spec_of(kept))])  # no worker takes it while Redis is full
    before = set(redis.direct.scan_iter("ism:dataset*"))
    with redis.full():
        for answer in (
            faulty.post("/datasets", content=rows(60), headers={"Content-Type": "text/csv"}),
            faulty.post("/jobs", json={"dataset": kept} | JOB),
        ):
            assert "delete data sets or jobs" in problem(answer, 507)["detail"]
        assert faulty.get(f"/jobs/{done}/W").status_code == 200
        assert faulty.delete(f"/jobs/{done}").status_code == 204
        assert faulty.delete(f"/datasets/{old}").status_code == 204
        assert faulty.get(f"/datasets/{old}").status_code == 404
    after = set(redis.direct.scan_iter("ism:dataset*"))
    assert after <= before, "nothing is left of what was refused"
    faulty.upload(rows(60))
    faulty.succeeded("queuedbefore")


def test_a_job_that_waits_or_runs_can_be_cancelled_when_redis_is_full(
    faulty: Api, redis: FaultyRedis, store: Store
) -> None:
    busy = faulty.submit(dataset=faulty.upload(rows(70, 2_000))["id"], **JOB | ENDLESS)  # so the worker takes no other
    until(lambda: faulty.get(f"/jobs/{busy}").json()["state"] == "running")
    store.redis.hset(keys.dataset("wine"), mapping={"name": "what the jobs name"})
    for id in ("runs", "waits"):
        store.jobs.create([(id, spec_of("wine"))])
        if id == "runs":
            assert store.jobs.claim("runs", "the test") is not None
    with redis.full():
        assert faulty.post("/jobs/waits/cancel").json()["state"] == "cancelled"
        assert faulty.post("/jobs/runs/cancel").status_code == 202
    assert redis.direct.hexists(keys.job("runs"), "cancel")
    faulty.post(f"/jobs/{busy}/cancel")
    faulty.ended(busy)


def test_the_embedded_redis_holds_no_more_than_it_may(tmp_path: Path) -> None:
    with RedisServer(tmp_path, fsync="no", memory=2**26) as server:
        found = Store.open(Settings(redis_url=server.url)).redis.config_get("maxmemory*")
    assert (found["maxmemory"], found["maxmemory-policy"]) == (str(2**26), "noeviction")
