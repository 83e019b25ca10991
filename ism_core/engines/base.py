"""The interface of an engine, and the engine that runs on threads of this process."""

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

MALLOC_OPTIONS = {
    -3: 2**25,
    -1: 2**26,
}  # bytes of glibc's M_MMAP_THRESHOLD and M_TRIM_THRESHOLD: its own maximum


@dataclass(frozen=True)
class Placed(Generic[T]):
    """A value that has been sent to where the work is done."""

    here: T  # the value in this process
    there: Any  # its handle among the arguments of the work


class Engine(ABC):
    """Runs a function on independent shares of range(items)."""

    @abstractmethod
    def place(self, value: T) -> Placed[T]:
        """Send a value to where the work is done; it stays there."""

    def __deepcopy__(self, memo: dict[int, Any]) -> "Engine":
        """Return the engine itself: copies of an estimator share it."""
        return self

    @abstractmethod
    def run(self, work: Callable[..., T], items: int, *args: Any) -> list[T]:
        """Return work(share, *args) for shares of range(items); a Placed argument arrives as its value."""

    def total(self, work: Callable[..., T], items: int, *args: Any) -> T:
        """Return the sum of the results of `run`, added in a fixed order."""
        return total_of(self.run(work, items, *args))


def total_of(parts: list[T]) -> T:
    """Return the sum, computed in place of the first; overflow gives infinity without a warning."""
    with np.errstate(over="ignore", invalid="ignore"):
        return reduce(added, parts)


def added(total: Any, part: Any) -> Any:
    """Add arrays, numbers, or tuples and lists of these; arrays in place of the first."""
    if isinstance(total, tuple | list):
        return type(total)(added(*each) for each in zip(total, part, strict=True))
    total += part
    return total


class Threads(Engine):
    """Threads of this process, as many as the BLAS may use or `most`."""

    most: int | None = None

    def place(self, value: T) -> Placed[T]:
        return Placed(value, value)

    def run(self, work: Callable[..., T], items: int, *args: Any) -> list[T]:
        values = [arg.here if isinstance(arg, Placed) else arg for arg in args]
        with own_threads() as threads:
            return in_threads(lambda share: work(share, *values), items, min(threads, self.most or threads))


class OneThread(Threads):
    """The calling thread."""

    most = 1


LOCAL = Threads()
ALONE = OneThread()


@cache
def keep_memory() -> None:
    """Let this process reuse the memory of freed arrays, as glibc does by default.

    Dask makes its workers return memory at once, so that every array of 128 KB or more needs fresh pages. That took a
    quarter of the time of Φ by features. A setting of the user's own stays.
    """
    if os.environ.get("MALLOC_TRIM_THRESHOLD_") == "65536":
        with suppress(AttributeError, OSError):  # another C library
            for option, value in MALLOC_OPTIONS.items():
                ctypes.CDLL("libc.so.6").mallopt(option, value)
