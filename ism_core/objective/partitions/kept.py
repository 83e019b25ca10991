"""Partitions that the workers of a cluster have read and keep in memory: work goes to where they are."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from ism_core.engines import Engine, Placed
from ism_core.linalg import Scaling
from ism_core.objective.partitions.table import Block, Partitions, ScaledPartitions, scaled

T = TypeVar("T")


@dataclass(frozen=True)
class KeptPartitions:
    """The partitions of a table, each on the worker that has read it; if the worker is lost, another reads it again."""

    table: Partitions
    values: Any  # the engine's handle
    scaling: Scaling | None = None

    @staticmethod
    def of(table: Partitions, engine: Engine) -> "KeptPartitions":
        """Let the workers read all partitions."""
        return KeptPartitions(table, engine.keep(_Reading(table), len(table)))

    def __len__(self) -> int:
        return len(self.table)

    def total(self, work: Callable[[Iterator[Block], int], T], engine: Engine) -> T:
        """Return the sum of work(blocks, index) over the partitions."""
        sums: T = engine.total_of_kept(_on_kept, self.values, work, self.scaling)
        return sums


Table = Placed[Partitions] | KeptPartitions  # what passes go over


def hold(table: Partitions, rows: int, engine: Engine) -> Table:
    """Let the workers of an engine keep the rows, if they have the memory; otherwise, each pass reads them again."""
    if engine.can_keep(8 * rows * table.columns):
        return KeptPartitions.of(table, engine)
    return read_again(table, None, engine)


def read_again(table: Partitions, scaling: Scaling | None, engine: Engine) -> Placed[Partitions]:
    """Return a table that each pass reads again and scales."""
    return engine.place(ScaledPartitions(table, scaling))


def with_scaling(table: Table, scaling: Scaling | None, engine: Engine) -> Table:
    """Return the table of `hold` with scaled rows."""
    if isinstance(table, KeptPartitions):
        return replace(table, scaling=scaling)
    held = table.here
    return read_again(held.table if isinstance(held, ScaledPartitions) else held, scaling, engine)


@dataclass(frozen=True)
class _Reading:
    table: Partitions

    def __call__(self, index: int) -> list[Block]:
        return list(self.table.blocks(index))


def _on_kept(blocks: list[Block], index: int, work: Callable[[Iterator[Block], int], T], scaling: Scaling | None) -> T:
    return work(scaled(iter(blocks), scaling), index)
