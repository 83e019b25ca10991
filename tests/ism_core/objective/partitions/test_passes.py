"""A pass sums over all blocks of a table in partitions, wherever they are read."""

import pickle
import threading
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from ism_core.arrays import Array
from ism_core.engines import ALONE, LOCAL, Engine
from ism_core.errors import InvalidInput
from ism_core.objective.partitions import ArrayPartitions, Block, Partitions, total


@pytest.fixture
def table(rng: np.random.Generator) -> Array:
    return rng.standard_normal((1_000, 3))


def rows_and_sums(block: Block, place: tuple[int, int]) -> list[Array]:
    return [np.array([len(block[0])]), block[0].sum(axis=0)]


@pytest.mark.parametrize("engine", [ALONE, LOCAL])
@pytest.mark.parametrize("partition_rows", [1, 100, 130, 2_000])
def test_a_pass_sums_over_every_row_once(table: Array, engine: Engine, partition_rows: int) -> None:
    partitions = ArrayPartitions(table, None, partition_rows, block_rows=30)
    count, sums = total(partitions, rows_and_sums, engine)
    assert count[0] == len(table)
    np.testing.assert_allclose(sums, table.sum(axis=0), rtol=0, atol=1e-11)


def test_partitions_of_a_mapped_file_travel_as_its_name(table: Array, tmp_path: Path) -> None:
    np.save(tmp_path / "X.npy", table)
    mapped = ArrayPartitions(np.load(tmp_path / "X.npy", mmap_mode="r"), np.arange(len(table)), 300, 100)
    assert isinstance(mapped, Partitions)
    sent = pickle.dumps(mapped)
    assert len(sent) < table.nbytes
    arrived = pickle.loads(sent)
    assert [len(list(arrived.blocks(index))) for index in range(len(arrived))] == [3, 3, 3, 1]
    np.testing.assert_array_equal(np.vstack([rows for i in range(4) for rows, _ in arrived.blocks(i)]), table)


class Broken(ArrayPartitions):
    """The last partition cannot be read."""

    def blocks(self, index: int) -> Iterator[Block]:
        yield from super().blocks(index)
        if index == len(self) - 1:
            raise InvalidInput("X", "The last file has vanished.")


def test_an_error_of_the_reader_ends_the_pass(table: Array) -> None:
    with pytest.raises(InvalidInput, match="vanished"):
        total(Broken(table, None, 300, 100), rows_and_sums, LOCAL)
    assert not [thread for thread in threading.enumerate() if thread.name == "ism-reading"]


def failing(block: Block, place: tuple[int, int]) -> Array:
    raise InvalidInput("X", "overflow")


def test_an_error_of_the_sums_ends_the_reader(table: Array) -> None:
    with pytest.raises(InvalidInput, match="overflow"):
        total(ArrayPartitions(table, None, 300, 10), failing, LOCAL)
    assert not [thread for thread in threading.enumerate() if thread.name == "ism-reading"]


def test_a_table_without_rows_is_refused() -> None:
    with pytest.raises(InvalidInput, match="no rows"):
        total(ArrayPartitions(np.empty((0, 3))), rows_and_sums, LOCAL)
