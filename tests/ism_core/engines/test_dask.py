"""A Dask cluster gives what this process gives, whoever of its workers is lost on the way."""

import os
import signal
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from distributed import LocalCluster

from ism_core import Supervised, Unsupervised, solve
from ism_core.arrays import Array
from ism_core.engines import dask as cluster
from ism_core.engines.base import LOCAL, Placed
from ism_core.engines.dask import Dask
from ism_core.errors import InvalidInput
from ism_core.gamma import Gamma, LabelGamma
from ism_core.kernels import Gaussian, Kernel, Multiquadratic, Polynomial, exact_maps, taylor_maps
from ism_core.objective import features, tiles
from ism_core.objective.feature_sums import PlacedRows
from ism_core.solver.result import Result
from tests.ism_core.dask_workers import Processes

N, D, Q = 1_300, 6, 2


@pytest.fixture(scope="module")
def processes() -> Iterator[Processes]:
    with Processes.of_a_scheduler() as processes:
        yield processes


@pytest.fixture
def engine(processes: Processes) -> Iterator[Dask]:
    """Two workers."""
    processes.be(2)
    with Dask(processes.address) as engine:
        yield engine


@pytest.fixture(autouse=True)
def everything_is_large(monkeypatch: pytest.MonkeyPatch) -> None:
    """All but the smallest arrays are treated like those of large problems."""
    monkeypatch.setattr(cluster, "SMALL_BYTES", 2_000)
    monkeypatch.setattr(cluster, "INLINE_BYTES", 2_000)
    monkeypatch.setattr(cluster, "KEPT_BYTES", 20_000)
    monkeypatch.setattr("ism_core.objective.data.in_memory.REMOTE_FLOPS", 0.0)


@pytest.fixture(scope="module")
def table() -> Array:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((N, D))
    X[:, 0] += 2.0 * (np.arange(N) % 3)
    X[:, 1] += 2.0 * (np.arange(N) % 3 == 1)
    return X - X.mean(axis=0)


Y = np.arange(N) % 3
GAMMAS = {"labels": LabelGamma.of(Y), "signed": Gamma(np.random.default_rng(1).random((N, 2)), np.array([1.0, -0.5]))}
START = np.linalg.qr(np.random.default_rng(2).standard_normal((D, Q)))[0]


def everywhere(engine: Dask, *values: Any) -> tuple[list[Placed[Any]], list[Placed[Any]]]:
    return [engine.place(value) for value in values], [LOCAL.place(value) for value in values]


def assert_alike(there: tuple[Array, float], here: tuple[Array, float]) -> None:
    np.testing.assert_allclose(there[0], here[0], rtol=0, atol=1e-12 * np.abs(here[0]).max())
    assert there[1] == pytest.approx(here[1], rel=1e-12)


@pytest.mark.parametrize("gamma", GAMMAS)
def test_tiles_are_those_of_this_process(engine: Dask, table: Array, gamma: str) -> None:
    kernel: Kernel = Multiquadratic(1.0) + 0.5 * Gaussian(2.0)
    there, here = everywhere(engine, table, GAMMAS[gamma], kernel)
    for sums in (tiles.evaluate, tiles.half_gradient):
        assert_alike(sums(*there, START, engine=engine), sums(*here, START))


@pytest.mark.parametrize("gamma", GAMMAS)
def test_features_are_those_of_this_process(engine: Dask, table: Array, gamma: str) -> None:
    there, here = everywhere(engine, table, GAMMAS[gamma])
    for maps in (exact_maps(Polynomial(3, 1.0, 0.1), Q), taylor_maps(Gaussian(4.0), Q, 5)):
        assert maps is not None
        for sums in (features.evaluate, features.row_coefficients):
            found = sums(PlacedRows.of(*there, START, engine), maps)
            assert_alike(found, sums(PlacedRows.of(*here, START), maps))


def test_compiled_tiles_and_several_threads_of_one_worker(rng: np.random.Generator) -> None:
    X = rng.standard_normal((3_100, D))
    with (
        LocalCluster(n_workers=1, threads_per_worker=3, processes=False, dashboard_address="127.0.0.1:0") as threads,
        Dask(threads.scheduler_address) as engine,
    ):
        there, here = everywhere(engine, X, LabelGamma.of(np.arange(3_100) % 3), Gaussian(2.0))
        assert_alike(tiles.evaluate(*there, START, engine=engine), tiles.evaluate(*here, START))


def solved(table: Array, **options: Any) -> Result:
    return solve(table, Supervised(Y), "multiquadratic", Q, initial_W=START, max_iter=3, **options)


def test_a_solve_finds_the_same_and_sends_the_rows_once(
    engine: Dask, table: Array, monkeypatch: pytest.MonkeyPatch
) -> None:
    sent: list[int] = []
    scatter = engine._client.scatter

    def counted(data: dict[Any, Any], **options: Any) -> Any:
        sent.extend(parcel.size for parcel in data.values())
        return scatter(data, **options)

    monkeypatch.setattr(engine._client, "scatter", counted)
    there, here = solved(table, engine=engine), solved(table)
    np.testing.assert_allclose(there.W, here.W, rtol=0, atol=1e-8)
    assert there.method == "tiles"
    assert sum(size >= table.nbytes for size in sent) == 1
    assert sum(sent) < table.nbytes + 2 * GAMMAS["labels"].U.nbytes


def test_rows_are_on_their_way_before_they_are_needed_and_sent_again_if_that_failed(
    engine: Dask, table: Array, monkeypatch: pytest.MonkeyPatch
) -> None:
    placed = engine.place(table)
    there = placed.there.coming.result()
    assert tiles.half_gradient(
        placed, *(engine.place(each) for each in (GAMMAS["labels"], Gaussian(2.0))), START, engine=engine
    )
    assert placed.there.future is there
    scatter, failures = engine._client.scatter, [OSError("A worker was lost"), RuntimeError("closed")]

    def failing(data: dict[Any, Any], **options: Any) -> Any:
        if failures:
            raise failures.pop()
        return scatter(data, **options)

    monkeypatch.setattr(engine._client, "scatter", failing)
    there, here = solved(table, engine=engine), solved(table)
    np.testing.assert_allclose(there.W, here.W, rtol=0, atol=1e-8)
    assert not failures


def test_rows_go_by_the_scheduler_where_workers_are_out_of_reach(
    engine: Dask, table: Array, monkeypatch: pytest.MonkeyPatch
) -> None:
    ways: list[bool | None] = []
    scatter = engine._client.scatter

    def tunnelled(data: dict[Any, Any], direct: bool | None = None, **options: Any) -> Any:
        ways.append(direct)
        if direct:
            raise OSError("Timed out trying to connect")
        return scatter(data, direct=direct, **options)

    monkeypatch.setattr(engine._client, "scatter", tunnelled)
    there, here = solved(table, engine=engine), solved(table)
    np.testing.assert_allclose(there.W, here.W, rtol=0, atol=1e-8)
    assert ways[:2] == [True, None]
    assert True not in ways[1:]


def test_a_clustering_is_the_same(engine: Dask, table: Array) -> None:
    options: dict[str, Any] = {"initial_W": START, "max_iter": 2}
    there = solve(table, Unsupervised(3), Polynomial(2, 1.0), Q, engine=engine, **options)
    here = solve(table, Unsupervised(3), Polynomial(2, 1.0), Q, **options)
    np.testing.assert_allclose(there.W, here.W, rtol=0, atol=1e-8)
    assert there.labels is not None
    assert (there.labels == here.labels).all()


class Deadly(Dask):
    """Loses a worker in the middle of the second thing that it does."""

    grave: str
    done = 0

    def _started(self, work: Callable[..., Any], items: int, args: tuple[Any, ...]) -> list[Any]:
        self.done += 1
        if self.done == 2:
            return super()._started(die_once, items, (self.grave, work, *args))
        return super()._started(work, items, args)


def die_once(share: list[int], grave: str, work: Callable[..., Any], *args: Any) -> Any:
    try:
        os.close(os.open(grave, os.O_CREAT | os.O_EXCL))
    except FileExistsError:
        return work(share, *args)
    return os.kill(os.getpid(), signal.SIGKILL)


@pytest.mark.parametrize("failures", [3, 0])  # of a share that Dask allows before it gives the share up
def test_a_worker_that_dies_in_the_middle_is_done_without(
    processes: Processes, table: Array, tmp_path: Path, failures: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    processes.be(2)
    monkeypatch.setattr(processes.scheduler, "allowed_failures", failures)
    with Deadly(processes.address) as engine:
        engine.grave = str(tmp_path / "grave")
        there = solved(table, engine=engine)
        assert engine.done > 2
    assert (tmp_path / "grave").exists()
    assert len(processes.scheduler.workers) == 1
    np.testing.assert_allclose(there.W, solved(table).W, rtol=0, atol=1e-8)


def die(share: list[int]) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def test_work_that_ends_its_workers_wants_memory(processes: Processes, monkeypatch: pytest.MonkeyPatch) -> None:
    processes.be(1)
    monkeypatch.setattr(processes.scheduler, "allowed_failures", 0)
    monkeypatch.setattr(cluster, "ATTEMPTS", 1)
    with Dask(processes.address) as engine, pytest.raises(InvalidInput, match="workers with more memory") as refused:
        engine.run(die, 1)
    assert refused.value.parameter == "memory"


def test_what_was_lost_with_all_workers_is_sent_again(engine: Dask, processes: Processes, table: Array) -> None:
    there, _ = everywhere(engine, table, GAMMAS["labels"], Gaussian(2.0))
    before = tiles.half_gradient(*there, START, engine=engine)
    processes.kill()
    processes.be(1)
    assert_alike(tiles.half_gradient(*there, START, engine=engine), before)


def refuse(share: list[int], X: Array) -> None:
    raise InvalidInput("X", f"{len(X)} rows are too many.")


def test_an_error_of_the_work_comes_back_as_it_is(engine: Dask, table: Array) -> None:
    with pytest.raises(InvalidInput, match="1300 rows are too many") as error:
        engine.run(refuse, 5, engine.place(table))
    assert error.value.parameter == "X"


def is_aligned(share: list[int], *arrays: Array) -> tuple[list[int], bool, list[Array]]:
    return share, all(array.flags.aligned for array in arrays), list(arrays)


def test_shares_come_back_in_order_and_arrays_aligned(engine: Dask, table: Array) -> None:
    odd = table[: len(table) - 1, 0].copy()
    shares = engine.run(is_aligned, 11, engine.place(table), odd, engine.place(odd[:7]))
    assert [share[0] for share, _, _ in shares] == list(range(len(shares)))
    assert sorted(item for share, _, _ in shares for item in share) == list(range(11))
    for _, aligned, arrays in shares:
        assert aligned
        assert all(array.flags.aligned for array in arrays)
        np.testing.assert_array_equal(arrays[1], odd)


def numbers(share: list[int], X: Array) -> tuple[float, list[Array]]:
    return float(sum(share)), [np.full(3, len(share)), X[share]]


def test_a_total_is_the_sum_of_the_shares(engine: Dask, table: Array) -> None:
    rows = len(table) // 18 * 18  # as many in every share
    count, (lengths, values) = engine.total(numbers, rows, engine.place(table))
    shares = engine.run(numbers, rows, engine.place(table))
    assert len(shares) > cluster.SUM_BATCH_SIZE
    assert count == sum(range(rows))
    np.testing.assert_array_equal(lengths, rows)
    np.testing.assert_allclose(values, sum(parts[1] for _, parts in shares), rtol=0, atol=1e-12)


@pytest.mark.parametrize(("items", "shares"), [(1, 1), (20, 2), (80, 4), (400, 6)])
def test_much_work_has_more_shares_than_threads(engine: Dask, items: int, shares: int) -> None:
    assert len(engine.run(is_aligned, items)) == shares


def test_what_is_used_again_and_again_stays_there(engine: Dask, table: Array, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cluster, "INLINE_BYTES", 2**20)
    placed = engine.place(table)
    for use in range(1, cluster.INLINE_USES + 3):
        for _, aligned, [rows] in engine.run(is_aligned, 2, placed):
            assert aligned
            np.testing.assert_array_equal(rows, table)
        assert (placed.there.future is None) == (use <= cluster.INLINE_USES)
