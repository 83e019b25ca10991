"""Fixtures for all tests: a real Redis, an empty store on it, and a running service."""

from collections.abc import Iterator

import pytest

from ism_cli.embedded import RedisServer
from ism_core.objective import compile_all
from ism_jobs.settings import Settings
from ism_jobs.store import Store
from tools.local_service import running_service

# The tests of these folders start processes or compute for long.
SLOW_FOLDERS = tuple(f"tests/{name}/" for name in ("benchmarks", "page", "drills", "service", "worker", "ism_cli"))


def pytest_configure(config: pytest.Config) -> None:
    """Compile the numerics before the tests, which would otherwise begin with numpy in their place."""
    if not hasattr(config, "workerinput"):  # not in every process of pytest-xdist
        compile_all()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Run the slow tests first, so that none is left to run alone at the end."""
    items.sort(key=lambda item: not item.nodeid.startswith(SLOW_FOLDERS))


@pytest.fixture(scope="session")
def redis_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with RedisServer(tmp_path_factory.mktemp("redis"), fsync="no") as server:
        yield server.url


@pytest.fixture
def settings(redis_url: str) -> Settings:
    return Settings(redis_url=redis_url)


@pytest.fixture
def store(settings: Settings) -> Iterator[Store]:
    """Return a store that is empty at the beginning of each test."""
    store = Store.open(settings)
    store.redis.flushall()
    yield store
    store.redis.close()


@pytest.fixture(scope="session")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Return the address of a service with two workers that all tests share."""
    with running_service(tmp_path_factory.mktemp("service")) as (url, _):
        yield url
