"""Fixtures for all tests: a real Redis, an empty store on it, and two running services. Which tests share a process.

The packages are imported where they are used, because the process that schedules the tests needs none of them.
"""

import subprocess
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pytest
from xdist.scheduler import LoadFileScheduling

if TYPE_CHECKING:
    from ism_jobs.settings import Settings
    from ism_jobs.store import Store
    from tests.service.references.places import Places
    from tests.support.keyed_service import KeyedService

# pytest-xdist runs the files of a group in one process, so that they share a service; the first match counts. A service
# takes 7 seconds of CPU time to start, Chromium 2.
GROUPS = {
    "keyed": (
        "tests/page/test_access.py",
        "tests/service/answers/test_traces.py",
        "tests/service/security/test_access.py",
        "tests/service/security/test_secrets.py",
    ),
    "workers": (  # share the process that they fork others from, as the next two do
        "tests/worker/test_rq_worker.py",
        "tests/worker/test_faults.py",
        "tests/worker/test_process_limits.py",
        "tests/service/faults/test_redis_faults.py",
    ),
    "dask": (
        "tests/ism_core/engines/test_dask",
        "tests/ism_core/solver/partitions/test_dask.py",
        "tests/worker/test_dask_engine.py",
    ),
    "hostile": ("tests/ism_jobs/tables/test_hostile_",),
    "": ("tests/service/faults/", "tests/service/security/", "tests/service/test_new_kernel.py"),  # have their own
    "service": ("tests/service/",),
    "page": ("tests/page/", "tests/test_docs.py"),
}

# The tests of these folders start processes or compute for long.
SLOW_FOLDERS = tuple(f"tests/{name}/" for name in ("page", "service", "worker", "benchmarks", "drills", "ism_cli"))


class GroupScheduling(LoadFileScheduling):
    """Gives the tests of a file, or of a group of files, to one process."""

    def _split_scope(self, nodeid: str) -> str:
        file = str(super()._split_scope(nodeid))
        return next((group for group, paths in GROUPS.items() if file.startswith(paths)), "") or file


def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> GroupScheduling:
    return GroupScheduling(config, log)


COMPILE = "from ism_core.objective import compile_all; compile_all()"
COMPILER = pytest.StashKey["subprocess.Popen[bytes]"]()


def pytest_configure(config: pytest.Config) -> None:
    """Compile the numerics before the tests, which would otherwise begin with numpy in their place."""
    if not hasattr(config, "workerinput"):
        config.stash[COMPILER] = subprocess.Popen([sys.executable, "-c", COMPILE])
        if not config.getoption("numprocesses"):
            config.stash[COMPILER].wait()


def pytest_xdist_node_collection_finished(node: Any) -> None:
    """Wait until the numerics are compiled, which takes half a minute once, while other processes collect the tests."""
    node.config.stash[COMPILER].wait()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Run the slow tests first, so that none is left to run alone at the end."""

    def place(item: pytest.Item) -> int:
        return next((number for number, name in enumerate(SLOW_FOLDERS) if item.nodeid.startswith(name)), 99)

    items.sort(key=place)


@pytest.fixture(scope="session")
def redis_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    from ism_cli.embedded import RedisServer

    with RedisServer(tmp_path_factory.mktemp("redis"), fsync="no") as server:
        yield server.url


@pytest.fixture
def settings(redis_url: str) -> "Settings":
    from ism_jobs.settings import Settings

    return Settings(redis_url=redis_url)


@pytest.fixture
def store(settings: "Settings") -> "Iterator[Store]":
    """Return a store that is empty at the beginning of each test."""
    from ism_jobs.store import Store

    store = Store.open(settings)
    store.redis.flushall()
    yield store
    store.redis.close()


@pytest.fixture(scope="session")
def service(tmp_path_factory: pytest.TempPathFactory, places: "Places") -> Iterator[str]:
    """Return the address of a service with two workers, which all tests of this process share."""
    from tests.support.forked_commands import forked_service

    folder = tmp_path_factory.mktemp("service")
    with forked_service(folder, ISM_WEBHOOK_PRIVATE="true", **places.variables) as (url, _):
        yield url


@pytest.fixture(scope="session")
def places(tmp_path_factory: pytest.TempPathFactory) -> "Iterator[Places]":
    """Return the folder, the bucket and the web server in which the shared service may read and write tables."""
    from tests.service.references.places import Places

    with Places(tmp_path_factory.mktemp("places")) as found:
        yield found


@pytest.fixture(scope="session")
def keyed_service(tmp_path_factory: pytest.TempPathFactory) -> "Iterator[KeyedService]":
    """Return a service with keys and other secrets, which all tests of this process share."""
    from tests.support.keyed_service import running_keyed_service

    with running_keyed_service(tmp_path_factory.mktemp("keyed")) as service:
        yield service
