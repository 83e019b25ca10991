"""A real Redis for the tests that need one, and the whole service for those that talk to it."""

from collections.abc import Iterator

import pytest

from ism_cli.embedded import RedisServer
from ism_jobs.settings import Settings
from ism_jobs.store import Store
from tools.local_service import running_service

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


@pytest.fixture(scope="session")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a service with two workers, shared by all tests."""
    with running_service(tmp_path_factory.mktemp("service")) as (url, _):
        yield url
