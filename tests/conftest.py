"""A real Redis for the tests that need one, and the whole service for those that talk to it."""

import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest

from ism_cli.embedded import RedisServer
from ism_jobs.settings import Settings
from ism_jobs.store import Store

# The first is one long computation, the others wait for processes.
SLOW = ("tests/test_paper.py", "tests/page/", "tests/test_d", "tests/service/", "tests/worker/", "tests/ism_cli/")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The slow ones first, so that none is left to run alone at the end."""
    items.sort(key=lambda item: next((at for at, path in enumerate(SLOW) if item.nodeid.startswith(path)), len(SLOW)))


@pytest.fixture(scope="session")
def redis_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with RedisServer(tmp_path_factory.mktemp("redis"), fsync="no") as server:
        yield server.url


@pytest.fixture
def settings(redis_url: str) -> Settings:
    return Settings(redis_url=redis_url)


@pytest.fixture
def store(settings: Settings) -> Iterator[Store]:
    """Empty at the beginning of each test."""
    store = Store.open(settings)
    store.redis.flushall()
    yield store
    store.redis.close()


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextmanager
def running_service(
    data_dir: Path, *, workers: int = 2, **variables: str
) -> Iterator[tuple[str, subprocess.Popen[bytes]]]:
    """`ism serve` as its users start it; gives its address and its process."""
    port = free_port()
    command = [sys.executable, "-m", "ism_cli.main", "serve", "--port", str(port), "--workers", str(workers)]
    with (data_dir / "serve.log").open("ab") as log:
        process = subprocess.Popen(
            [*command, "--data-dir", str(data_dir)], env={**os.environ, **variables}, stdout=log, stderr=log
        )
    url = f"http://127.0.0.1:{port}"
    try:
        wait_until_ready(url, process, data_dir / "serve.log")
        yield url, process
    finally:
        process.terminate()
        process.wait(60)


def wait_until_ready(url: str, process: "subprocess.Popen[bytes]", log: Path, seconds: float = 240) -> None:
    deadline = time.monotonic() + seconds
    with httpx.Client(timeout=5) as client:
        while time.monotonic() < deadline and process.poll() is None:
            try:
                if client.get(f"{url}/readyz").status_code == 200:
                    return
            except httpx.HTTPError:
                pass
            time.sleep(0.05)
    raise AssertionError(f"The service did not start:\n{log.read_text()}")


@pytest.fixture(scope="session")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a service with two workers, shared by all tests."""
    with running_service(tmp_path_factory.mktemp("service")) as (url, _):
        yield url
