"""Partitions on a Dask cluster give the W of one process, stay on their workers, and survive the loss of one."""

from collections.abc import Iterator
from itertools import product
from pathlib import Path

import numpy as np
import pytest

from ism_core import Gaussian, Polynomial, Supervised, Unsupervised, solve
from ism_core.arrays import Array
from ism_core.engines import Dask
from ism_core.kernels import Kernel
from ism_core.linalg import largest_angle
from ism_core.objective import ArrayPartitions
from tests.ism_core.dask_workers import Processes
from tests.support.pairwise import with_thorough


@pytest.fixture(scope="module")
def processes() -> Iterator[Processes]:
    with Processes.of_a_scheduler() as processes:
        yield processes


@pytest.fixture
def engine(processes: Processes) -> Iterator[Dask]:
    processes.be(2)
    with Dask(processes.address) as engine:
        yield engine


@pytest.fixture
def table(tmp_path: Path) -> ArrayPartitions:
    """A mapped file, which every worker reads itself."""
    rng = np.random.default_rng(7)
    y = rng.integers(0, 3, 6_000)
    X = rng.standard_normal((6_000, 5)) @ rng.standard_normal((5, 5))
    X[:, 1] += 3 * y
    X[:, 2] += 3 * (y == 1)
    np.save(tmp_path / "X.npy", X)
    return ArrayPartitions(np.load(tmp_path / "X.npy", mmap_mode="r"), y, 500, 200)


def alone(table: ArrayPartitions, kernel: Kernel) -> Array:
    return solve(table, Supervised(), kernel, 2, delta=1e-5).W


@pytest.mark.parametrize(
    ("kernel", "kept"),
    with_thorough(
        list(product([Gaussian(4.0), Polynomial()], [True, False])), [(Gaussian(4.0), True), (Polynomial(), False)]
    ),
)
def test_workers_give_the_result_of_one_process(
    kernel: Kernel, kept: bool, table: ArrayPartitions, engine: Dask, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Dask, "can_keep", lambda self, size: kept)
    found = solve(table, Supervised(), kernel, 2, delta=1e-5, engine=engine)
    assert largest_angle(found.W, alone(table, kernel)) < 1e-6


def test_workers_find_the_clusters_of_one_process(table: ArrayPartitions, engine: Dask) -> None:
    found, expected = (
        solve(table, Unsupervised(3), Polynomial(2), 2, delta=1e-4, engine=each) for each in (engine, "local")
    )
    assert largest_angle(found.W, expected.W) < 1e-6


@pytest.mark.parametrize("kept", [True, False])
def test_a_lost_worker_changes_nothing(
    kept: bool, table: ArrayPartitions, engine: Dask, processes: Processes, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = alone(table, Gaussian(4.0))
    passes = 0

    class Losing(Dask):
        """Loses a worker in the middle of a solve."""

        def can_keep(self, size):
            return kept

        def _mapped(self, *args):
            nonlocal passes
            passes += 1
            started = super()._mapped(*args)
            if passes == 6:
                processes.lose_one()
            return started

    with Losing(processes.address) as losing:
        found = solve(table, Supervised(), Gaussian(4.0), 2, delta=1e-5, engine=losing)
    assert passes > 6
    assert largest_angle(found.W, expected) < 1e-6


def test_the_memory_of_the_workers_decides_whether_they_keep_rows(engine: Dask) -> None:
    assert engine.can_keep(10**15)  # these workers have no limit
    engine._client.scheduler_info = lambda **options: {"workers": {"a": {"memory_limit": 1_000}}}
    assert engine.can_keep(500)
    assert not engine.can_keep(501)
