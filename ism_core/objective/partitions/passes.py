"""A pass: sums over the blocks of all partitions, while a thread reads ahead."""

import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from queue import Queue
from typing import Generic, Self, TypeVar

from ism_core.engines import Engine, Placed, added
from ism_core.errors import InvalidInput
from ism_core.objective.partitions.kept import KeptPartitions, Table
from ism_core.objective.partitions.table import Block, Partitions

T = TypeVar("T")
Place = tuple[int, int]  # the number of a partition, and that of a block in it
Work = Callable[[Block, Place], T]  # returns the part of a sum that belongs to one block; can be pickled

BLOCKS_AHEAD = 2  # blocks that are read before they are needed


def total(partitions: Partitions | Table, work: Work[T], engine: Engine) -> T:
    """Return the sum of work(block, place) over all blocks.

    Each share of the engine reads its own partitions, or takes those that its worker keeps, so that only W and the sums
    travel. If a worker is lost, others read its partitions again.
    """
    count = len(partitions.here if isinstance(partitions, Placed) else partitions)
    sums: T | None = None
    if isinstance(partitions, KeptPartitions):
        sums = partitions.total(_OnKept(work), engine).value
    elif count:
        sums = engine.total(_share, count, partitions, work).value
    if sums is None:
        raise InvalidInput("X", "X has no rows.")
    return sums


@dataclass
class _Sum(Generic[T]):
    """A sum, or None before there is a block: partitions may be empty."""

    value: T | None = None

    def __iadd__(self, other: "_Sum[T]") -> Self:
        if other.value is not None:
            self.value = other.value if self.value is None else added(self.value, other.value)
        return self


@dataclass(frozen=True)
class _OnKept(Generic[T]):
    """The work on the blocks of one partition that is in memory."""

    work: Work[T]

    def __call__(self, blocks: Iterator[Block], index: int) -> _Sum[T]:
        sums: _Sum[T] = _Sum()
        for number, block in enumerate(blocks):
            if len(block[0]):
                sums += _Sum(self.work(block, (index, number)))
        return sums


def _share(share: list[int], partitions: Partitions, work: Work[T]) -> _Sum[T]:
    """Return the sum over the partitions of a share."""
    sums: _Sum[T] = _Sum()
    for place, block in _read_ahead(partitions, share):
        if len(block[0]):
            sums += _Sum(work(block, place))
    return sums


def _read_ahead(partitions: Partitions, share: list[int]) -> Iterator[tuple[Place, Block]]:
    """Yield the blocks of some partitions; another thread reads the next ones meanwhile."""
    waiting: Queue[tuple[Place, Block] | BaseException | None] = Queue(BLOCKS_AHEAD)
    stopped = threading.Event()

    def read() -> None:
        try:
            for index in share:
                for number, block in enumerate(partitions.blocks(index)):
                    waiting.put(((index, number), block))
                    if stopped.is_set():
                        return
            waiting.put(None)
        except BaseException as error:  # the thread that computes raises it
            waiting.put(error)

    reader = threading.Thread(target=read, name="ism-reading", daemon=True)
    reader.start()
    try:
        while (found := waiting.get()) is not None:
            if isinstance(found, BaseException):
                raise found
            yield found
    finally:
        stopped.set()
        while reader.is_alive():
            while not waiting.empty():
                waiting.get()
            reader.join(0.01)
