"""Who does the work on the rows: threads of this process, or anything else that can run a function on shares of it."""

import ctypes
import os
from abc import ABC, abstractmethod
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import cache, reduce
from typing import Any, Generic, TypeVar

import numpy as np

from ism_core.engines.threads import in_threads, own_threads

T = TypeVar("T")

OPTIONS = {-3: 2**25, -1: 2**26}  # glibc's M_MMAP_THRESHOLD and M_TRIM_THRESHOLD, in bytes: as far as it goes by itself


@dataclass(frozen=True)
class Placed(Generic[T]):
    """A value that lies where the work is done."""

    here: T  # as whoever asks for the work sees it
    there: Any  # what stands for it in the arguments of the work


class Engine(ABC):
    """Runs a function on shares of the numbers 0, 1, …, each share apart from the others."""

    @abstractmethod
    def place(self, value: T) -> Placed[T]:
        """Bring a value to where the work is done; it stays there."""

    def __deepcopy__(self, memo: dict[int, Any]) -> "Engine":
        """Itself: copies of an estimator work in the same place."""
        return self

    @abstractmethod
    def run(self, work: Callable[..., T], items: int, *args: Any) -> list[T]:
        """work(share, *args) for shares of range(items); what is Placed among the args comes as its value."""

    def total(self, work: Callable[..., T], items: int, *args: Any) -> T:
        """The sum of what `run` gives, in an order that is always the same."""
        return total_of(self.run(work, items, *args))


def total_of(parts: list[T]) -> T:
    """Their sum, in the place of the first; numbers that overflow become infinite without a warning."""
    with np.errstate(over="ignore", invalid="ignore"):
        return reduce(added, parts)


def added(total: Any, part: Any) -> Any:
    """The sum of arrays, numbers, or tuples and lists of these; arrays in the place of the first."""
    if isinstance(total, tuple | list):
        return type(total)(added(*each) for each in zip(total, part, strict=True))
    total += part
    return total


class Threads(Engine):
    """Threads of this process, as many as its BLAS may use, or fewer."""

    most: int | None = None

    def place(self, value: T) -> Placed[T]:
        return Placed(value, value)

    def run(self, work: Callable[..., T], items: int, *args: Any) -> list[T]:
        values = [arg.here if isinstance(arg, Placed) else arg for arg in args]
        with own_threads() as threads:
            return in_threads(lambda share: work(share, *values), items, min(threads, self.most or threads))


class OneThread(Threads):
    """The thread that asks."""

    most = 1


LOCAL = Threads()
ALONE = OneThread()


@cache
def keep_memory() -> None:
    """Let this process use the memory of freed arrays again, as glibc does unless it is told otherwise.

    Dask tells its workers to give it back at once. Then every array of 128 KB or more is made of fresh pages, which
    took a quarter of the time of Φ by features. What a user has told them instead stands.
    """
    if os.environ.get("MALLOC_TRIM_THRESHOLD_") == "65536":
        with suppress(AttributeError, OSError):  # another C library
            for option, value in OPTIONS.items():
                ctypes.CDLL("libc.so.6").mallopt(option, value)
