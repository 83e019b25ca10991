"""Which Dask cluster is used, how it is left, and what is told where there is none."""

import sys
from collections.abc import Iterator
from typing import Any

import dask
import numpy as np
import pytest
from distributed import Client, LocalCluster

from ism_core import Supervised, iter_solve, solve
from ism_core.arrays import Array
from ism_core.engines import dask as cluster
from ism_core.engines.dask import Dask
from ism_core.errors import ClusterLost, InvalidInput
from tests.ism_core.dask_workers import Processes
from tools.local_service import free_port

LABELS = Supervised(np.arange(30) % 3)


@pytest.fixture(scope="module")
def processes() -> Iterator[Processes]:
    with Processes.of_a_scheduler() as processes:
        yield processes


@pytest.fixture(autouse=True)
def nothing_is_done_here(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ism_core.objective.data.in_memory.REMOTE_FLOPS", 0.0)


@pytest.fixture
def table(rng: np.random.Generator) -> Array:
    return rng.standard_normal((30, 6))


def length(share: list[int], *args: Any) -> int:
    return len(share)


def test_a_cluster_without_workers_is_told() -> None:
    with (
        LocalCluster(n_workers=0, dashboard_address="127.0.0.1:0") as null_directions,
        Dask(null_directions.scheduler_address, patience=0.5) as engine,
        pytest.raises(ClusterLost, match=r"has had no available worker for 0\.5 seconds"),
    ):
        engine.run(length, 1)


@pytest.mark.parametrize("address", ["tcp://127.0.0.1:{port}", "nowhere", "pigeon://there"])
def test_a_scheduler_that_is_away_is_told(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    address = address.format(port=free_port())
    monkeypatch.setattr(cluster, "CONNECT_SECONDS", 0.5)
    with pytest.raises(ClusterLost, match=f"No Dask scheduler answers at {address}"):
        Dask(address)


def test_the_cluster_is_that_of_the_process(processes: Processes, table: Array) -> None:
    with pytest.raises(InvalidInput, match=r"make a distributed\.Client first, or set DASK_SCHEDULER_ADDRESS"):
        solve(table, LABELS, "gaussian", 2, engine="dask")
    with Client(processes.address) as client:
        assert Dask.current()._client is client
    with dask.config.set({"scheduler-address": processes.address}):
        client = Dask.current()._client
        assert Dask.current()._client is client
        client.close()


def test_a_connection_that_is_closed_is_told(processes: Processes) -> None:
    processes.be(1)
    with Dask(processes.address) as engine:
        assert sum(engine.run(length, 3)) == 3
    with pytest.raises(ClusterLost, match="connection to the Dask cluster is closed"):
        engine.run(length, 3)


def test_an_engine_leaves_the_cluster_as_it_was(
    processes: Processes, table: Array, monkeypatch: pytest.MonkeyPatch
) -> None:
    for limit in ("SMALL_BYTES", "INLINE_BYTES", "KEPT_BYTES"):
        monkeypatch.setattr(cluster, limit, table.nbytes // 2)
    processes.be(1)
    with Client(processes.address, set_as_default=False) as client:
        assert client.amm.running()
        with Dask(processes.address) as engine:
            engine.run(length, 2, engine.place(table))
            assert not client.amm.running()
        assert client.amm.running()
        with Dask(client) as engine:
            engine.run(length, 2, engine.place(table))
        assert client.amm.running()
        engine = Dask(client)
        engine.run(length, 2, engine.place(table))
        assert not client.amm.running()
        del engine  # never closed, as when solve(engine="dask") makes one
        assert client.amm.running()
        assert client.status == "running"


def test_without_the_package_the_sentence_says_what_to_install(table: Array, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "ism_core.engines.dask")
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(InvalidInput, match=r'pip install "ism-core\[dask\]"') as refused:
        iter_solve(table, LABELS, "gaussian", 2, engine="dask")
    assert refused.value.parameter == "engine"
