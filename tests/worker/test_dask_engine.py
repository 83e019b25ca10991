"""Clusters are connected to when a job asks for one, and what goes wrong with them is told in a sentence."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from distributed import LocalCluster

from ism_core.engines import Engine
from ism_core.errors import ClusterLost
from ism_core.solver import ReturnCapture
from ism_jobs.errors import Unavailable
from ism_jobs.spec import read_one
from ism_jobs.tables import ANYWHERE, Limits, TableParts, describe_reference
from tests.ism_core.dask_workers import Processes
from tests.support.tables import write_rows
from tests.worker.pipeline.test_run import drain, wine
from tools.local_service import free_port
from worker.dask_engine import connected_engine
from worker.pipeline import iter_run


@pytest.fixture(scope="module")
def cluster() -> Iterator[LocalCluster]:
    with LocalCluster(n_workers=1, threads_per_worker=1, processes=False, dashboard_address="127.0.0.1:0") as cluster:
        yield cluster


@pytest.fixture(autouse=True)
def nothing_is_done_here(monkeypatch: pytest.MonkeyPatch) -> None:
    """However little it is."""
    monkeypatch.setattr("ism_core.objective.data.in_memory.REMOTE_FLOPS", 0.0)


def clients(cluster: LocalCluster) -> int:
    return len([name for name in cluster.scheduler.clients if name.startswith("Client-")])


def test_the_local_engine_needs_no_cluster() -> None:
    with connected_engine("local", None) as engine:
        assert engine == "local"


def test_a_cluster_is_there_as_long_as_the_job_needs_it(cluster: LocalCluster) -> None:
    with connected_engine("dask", cluster.scheduler_address) as engine:
        assert isinstance(engine, Engine)
        assert clients(cluster) == 1
        assert sum(engine.run(len, 10)) == 10
    assert clients(cluster) == 0


@pytest.mark.parametrize("kernel", ["multiquadratic", "polynomial"])
def test_a_job_finds_on_a_cluster_what_it_finds_without(cluster: LocalCluster, tmp_path: Path, kernel: str) -> None:
    spec: dict[str, Any] = {"paradigm": "supervised", "target": "class", "kernel": kernel, "folds": 2}
    _, local = drain(wine(), tmp_path, **spec)
    _, there = drain(wine(), tmp_path, scheduler=cluster.scheduler_address, engine="dask", **spec)
    np.testing.assert_allclose(there.result.W, local.result.W, rtol=0, atol=1e-8)
    assert there.metrics["accuracy"] == local.metrics["accuracy"]


def test_processes_of_a_cluster_read_the_parts_of_a_table_by_reference(tmp_path: Path) -> None:
    write_rows(tmp_path / "rows", files=4)
    reference, description = describe_reference(str(tmp_path / "rows"), ANYWHERE, Limits())
    fields = {"dataset": "d", "paradigm": "supervised", "target": "class", "kernel": "polynomial", "folds": 0}

    def solved(**options: Any) -> Any:
        spec = read_one({**fields, "delta": 1e-6, "engine": "dask" if options else "local"})
        capture = ReturnCapture(iter_run(TableParts(reference, ANYWHERE), spec, description, **options))
        assert [event.progress.stage for event in capture]
        return capture.value

    with Processes.of_a_scheduler() as cluster:
        cluster.be(2)
        there = solved(scheduler=cluster.address)
    np.testing.assert_allclose(there.result.W, solved().result.W, rtol=0, atol=1e-8)
    assert there.all_rows == description.rows == 8_000


def test_a_cluster_that_is_gone_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ism_core.engines.dask.CONNECT_SECONDS", 0.5)
    address = f"tcp://127.0.0.1:{free_port()}"
    with pytest.raises(Unavailable, match=f"No Dask scheduler answers at {address}"), connected_engine("dask", address):
        pass
    with pytest.raises(Unavailable, match="ISM_DASK_SCHEDULER is no longer set"), connected_engine("dask", None):
        pass


def test_a_cluster_that_is_lost_is_told(cluster: LocalCluster) -> None:
    with pytest.raises(Unavailable, match="nobody is left"), connected_engine("dask", cluster.scheduler_address):
        raise ClusterLost("nobody is left")
    assert clients(cluster) == 0
