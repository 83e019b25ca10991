"""A rolling upgrade and a roll-back, rehearsed: the last release and this version work on one Redis at the same time.

The last release is installed from the history of the repository.
"""

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from uuid import uuid4

import httpx
import pytest
from redis import Redis

from ism_cli.embedded import RedisServer
from tests.support.api import Api
from tools.local_service import free_port
from tools.release_data import COMMON, table, unpack_last_release

pytestmark = pytest.mark.thorough

SECONDS = 120  # in which everything that a test waits for has happened, even on a busy machine
QUICK = {**COMMON, "kernel": "linear", "folds": 0}
SLOW = {**COMMON, "validation": "nested"}


@dataclass
class Release:
    """The programs of one release, and the Redis that all releases share."""

    packages: Path | None  # where it is installed; None for this version
    folder: Path
    redis_url: str

    @contextmanager
    def running(self, *command: str) -> Iterator[None]:
        """Run a subcommand of `ism` until the block ends; then it is told to stop, as at an upgrade."""
        variables = {"ISM_REDIS_URL": self.redis_url, "ISM_LEASE_SECONDS": "3", "ISM_WORKERS": "1"}
        variables |= {} if self.packages is None else {"PYTHONPATH": str(self.packages)}
        with (self.folder / "log").open("ab") as log:
            process = subprocess.Popen(
                [sys.executable, "-m", "ism_cli.main", *command],
                cwd=self.folder,
                env={**os.environ, **variables},
                stdout=log,
                stderr=log,
            )
        try:
            yield
        finally:
            process.terminate()
            process.wait(60)

    @contextmanager
    def api(self) -> Iterator[Api]:
        """Yield a client of the HTTP service of this release."""
        port = free_port()
        with (
            self.running("api", "--port", str(port)),
            Api(base_url=f"http://127.0.0.1:{port}", timeout=90) as client,
        ):
            wait_until(lambda: answers(client))
            yield client


def answers(client: Api) -> bool:
    try:
        return client.get("/healthz").status_code == 200
    except httpx.TransportError:
        return False


def wait_until(happened: Callable[[], bool]) -> None:
    deadline = time.monotonic() + SECONDS
    while not happened():
        assert time.monotonic() < deadline, "it did not happen"
        time.sleep(0.1)


@pytest.fixture(scope="module")
def shared_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with RedisServer(tmp_path_factory.mktemp("redis"), fsync="no") as server:
        yield server.url


@pytest.fixture(scope="module")
def redis(shared_url: str) -> Iterator[Redis]:
    with Redis.from_url(shared_url) as connection:
        yield connection


@pytest.fixture(scope="module")
def old(shared_url: str, tmp_path_factory: pytest.TempPathFactory) -> Release:
    folder = tmp_path_factory.mktemp("old")
    if not unpack_last_release(folder / "source"):
        pytest.skip("this copy of the repository has no history")
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-deps"]
    subprocess.run([*pip, "--target", str(folder / "packages"), str(folder / "source")], check=True)
    release = Release(folder / "packages", folder, shared_url)
    shown = "import ism_jobs.store.keys as keys; print(keys.__file__, hasattr(keys, 'QUEUED'))"
    variables = {**os.environ, "PYTHONPATH": str(release.packages)}
    printed = subprocess.check_output([sys.executable, "-c", shown], cwd=folder, env=variables, text=True)
    assert printed.startswith(str(release.packages))
    assert printed.endswith("True\n")
    return release


@pytest.fixture(scope="module")
def new(shared_url: str, tmp_path_factory: pytest.TempPathFactory) -> Release:
    return Release(None, tmp_path_factory.mktemp("new"), shared_url)


@pytest.fixture(scope="module")
def old_api(old: Release) -> Iterator[Api]:
    with old.api() as client:
        yield client


@pytest.fixture(scope="module")
def new_api(new: Release) -> Iterator[Api]:
    with new.api() as client:
        yield client


@pytest.fixture(scope="module")
def dataset(old_api: Api) -> str:
    return old_api.upload(table())["id"]


def check_readable(api: Api, job: str) -> None:
    """Check that a release can read everything of a job that has succeeded."""
    links = api.succeeded(job)["links"]
    for name, path in links.items():
        if name not in ("project", "transform"):
            assert api.get(path).status_code == 200, (name, path)
    assert api.post(links["transform"], files={"file": ("table.csv", table())}).status_code == 200
    assert api.events(job)[-1][2]["state"] == "succeeded"


def test_a_worker_of_the_last_release_leaves_a_newer_job_to_a_newer_worker(
    old: Release, new: Release, old_api: Api, new_api: Api, dataset: str, redis: Redis
) -> None:
    newer = new_api.submit(dataset=dataset, **QUICK)
    with old.running("worker"):
        check_readable(old_api, old_api.submit(dataset=dataset, **QUICK))
        swept = float(redis.get("ism:jobs:swept") or 0)
        wait_until(lambda: float(redis.get("ism:jobs:swept") or 0) > swept + 6)  # six sweeps for lost tickets
        check_readable(new_api, old_api.submit(dataset=dataset, **QUICK))
        waiting = [api.get(f"/jobs/{newer}").json() for api in (old_api, new_api)]
        assert [(job["state"], job["attempt"]) for job in waiting] == [("queued", 0)] * 2
    with new.running("worker"):
        check_readable(new_api, newer)
    check_readable(old_api, newer)


def test_a_newer_worker_runs_the_jobs_of_the_last_release(
    new: Release, old_api: Api, new_api: Api, dataset: str
) -> None:
    with new.running("worker"):
        job = old_api.submit(dataset=dataset, **QUICK)
        check_readable(old_api, job)
        check_readable(new_api, job)


def test_a_job_under_way_moves_to_the_other_release_and_back(
    old: Release, new: Release, old_api: Api, dataset: str, redis: Redis
) -> None:
    job = old_api.submit(dataset=dataset, **SLOW)
    for attempt, release in enumerate((old, new, old), 1):
        with release.running("worker"):
            wait_until(lambda: old_api.get(f"/jobs/{job}").json()["state"] == "running")
            assert old_api.get(f"/jobs/{job}").json()["attempt"] == attempt
            wait_until(lambda: bool(redis.exists(f"ism:job:{job}:checkpoint")))
        assert old_api.get(f"/jobs/{job}").json()["state"] == "queued"
    old_api.post(f"/jobs/{job}/finish")
    with new.running("worker"):
        check_readable(old_api, job)


def test_a_request_can_be_repeated_to_the_other_release(old_api: Api, new_api: Api, dataset: str) -> None:
    for first, second in ((old_api, new_api), (new_api, old_api)):
        key, body = {"Idempotency-Key": uuid4().hex}, {"dataset": dataset, **QUICK}
        job = first.post("/jobs", json=body, headers=key).json()["id"]
        assert second.post("/jobs", json=body, headers=key).json()["id"] == job
        assert second.post(f"/jobs/{job}/cancel").json()["state"] == "cancelled"
        assert second.delete(f"/jobs/{job}").status_code == 204
