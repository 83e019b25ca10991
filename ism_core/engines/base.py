"""The interface of an engine, and the engine that runs on threads of this process.

Our own threads replace the BLAS's, so that all work on a tile runs in parallel, not only its matrix products. The two
kinds must not mix. After a product on several threads, OpenBLAS lets its idle threads spin for about 30 ms. They occupy
the core that the next tile needs: on 2 cores, tiles were then slower on two threads than on one.
"""

import os
import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache, reduce
from typing import Any, Generic, TypeVar

import numpy as np
import scipy.linalg  # noqa: F401  (loads scipy's own BLAS, so that it can be limited too)
from threadpoolctl import LibController, ThreadpoolController

T = TypeVar("T")

SHARES = 4  # of the work on 1, 2 or 4 threads; other numbers of threads have a share each


@dataclass(frozen=True)
class Placed(Generic[T]):
    """A value that has been sent to the workers."""

    here: T  # the value in this process
    there: Any  # its reference on the workers, passed to the work in place of the value


class Engine(ABC):
    """Runs a function on independent shares of range(items)."""

    @abstractmethod
    def place(self, value: T) -> Placed[T]:
        """Send a value to the workers; it stays there."""

    def __deepcopy__(self, memo: dict[int, Any]) -> "Engine":
        """Return the engine itself: copies of an estimator share it."""
        return self

    @abstractmethod
    def run(self, work: Callable[..., T], items: int, *args: Any) -> list[T]:
        """Return work(share, *args) for shares of range(items); a Placed argument arrives as its value."""

    def total(self, work: Callable[..., T], items: int, *args: Any) -> T:
        """Return the sum of the results of `run`, added in a fixed order."""
        return total_of(self.run(work, items, *args))

    def can_keep(self, size: int) -> bool:
        """Tell whether workers in other processes can keep values of so many bytes, spread over them."""
        return False

    def keep(self, make: Callable[[int], Any], items: int) -> Any:
        """Let workers make values by make(item), each of which stays on one of them; return a handle."""
        raise NotImplementedError

    def total_of_kept(self, work: Callable[..., T], kept: Any, *args: Any) -> T:
        """Return the sum of work(value, item, *args) over kept values, each computed where its value is."""
        raise NotImplementedError


def total_of(parts: list[T]) -> T:
    """Return the sum, computed in place in the first part; overflow gives infinity without a warning."""
    with np.errstate(over="ignore", invalid="ignore"):
        return reduce(added, parts)


def added(total: Any, part: Any) -> Any:
    """Add arrays, numbers, or tuples and lists of these; arrays are added in place to the first."""
    if isinstance(total, tuple | list):
        return type(total)(added(*each) for each in zip(total, part, strict=True))
    total += part
    return total


class Threads(Engine):
    """Threads of this process: as many as the BLAS may use.

    The shares, and so the rounding of sums, are the same for 1, 2 and 4 threads.
    """

    def place(self, value: T) -> Placed[T]:
        return Placed(value, value)

    def run(self, work: Callable[..., T], items: int, *args: Any) -> list[T]:
        return [part for parts in self._iter_rounds(work, items, args) for part in parts]

    def total(self, work: Callable[..., T], items: int, *args: Any) -> T:
        """Return the sum of the results of `run`; only the results of the running threads are kept."""
        sums: list[T] = []
        for parts in self._iter_rounds(work, items, args):
            sums = [total_of([*sums, *parts])]
        return sums[0]

    def _iter_rounds(self, work: Callable[..., T], items: int, args: tuple[Any, ...]) -> Iterator[list[T]]:
        """Yield the results of as many shares as there are threads at a time."""
        values = [arg.here if isinstance(arg, Placed) else arg for arg in args]
        with own_threads() as threads:
            count = SHARES if SHARES % threads == 0 else threads
            shares = [list(range(first, items, count)) for first in range(max(1, min(count, items)))]
            for first in range(0, len(shares), threads):

                def work_on(place: list[int], first: int = first) -> T:
                    return work(shares[first + place[0]], *values)

                few = min(threads, len(shares) - first)
                yield in_threads(work_on, few, few)


class OneThread(Threads):
    """The calling thread, with a single share."""

    def _iter_rounds(self, work: Callable[..., T], items: int, args: tuple[Any, ...]) -> Iterator[list[T]]:
        values = [arg.here if isinstance(arg, Placed) else arg for arg in args]
        with own_threads():
            yield in_threads(lambda share: work(share, *values), items, 1)


LOCAL = Threads()  # the threads of this process, one for each core that it may use
ALONE = OneThread()  # the calling thread


class _Blas:
    """The BLAS libraries of this process, limited to one thread while anyone holds them."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._holders = 0
        self._libraries: list[LibController] = ThreadpoolController().select(user_api="blas").lib_controllers
        self._allowed: list[int] = []

    def hold(self) -> int:
        """Limit them to one thread each; return how many threads they were allowed."""
        with self._lock:
            if self._holders == 0:
                self._allowed = [library.num_threads or 1 for library in self._libraries]
                self._set([1] * len(self._libraries))
            self._holders += 1
            return max(self._allowed, default=1)

    def forget(self) -> None:
        """Reset to the state without holders."""
        self._lock = threading.Lock()
        if self._holders:
            self._holders = 1
            self.release()

    def release(self) -> None:
        with self._lock:
            self._holders -= 1
            if self._holders == 0:
                self._set(self._allowed)

    def _set(self, threads: list[int]) -> None:
        """Set the threads, except of libraries that were limited to one: the call takes as long as a small product."""
        for library, allowed, count in zip(self._libraries, self._allowed, threads, strict=True):
            if allowed != 1:
                _set_threads(library, count)


def _set_threads(library: LibController, threads: int) -> None:
    """Set the number of threads from any thread.

    By default, threadpoolctl lets only the first thread that set the number of an OpenBLAS change it again.
    """
    give_up_right = getattr(library, "clear_controlling_thread", lambda force: None)
    give_up_right(force=True)
    library.set_num_threads(threads)
    give_up_right(force=True)


_blas = _Blas()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_blas.forget)  # the parent's holders do not exist in the child


def allowed_threads() -> int:
    """Return the number of threads that a caller of `own_threads` would get."""
    with own_threads() as allowed:
        return allowed


@contextmanager
def own_threads() -> Iterator[int]:
    """Limit the BLAS to one thread; yield how many threads it was allowed, which the caller may start instead."""
    allowed = _blas.hold()
    try:
        yield allowed
    finally:
        _blas.release()


def in_threads(work: Callable[[list[int]], T], items: int, threads: int) -> list[T]:
    """Return work(share) for interleaved shares of range(items), one thread per share, in a fixed order.

    Overflow gives infinity without a warning from each thread; callers check the sum.
    """

    def quietly(share: list[int]) -> T:
        with np.errstate(over="ignore", invalid="ignore"):
            return work(share)

    mine, *others = [list(range(first, items, threads)) for first in range(max(1, min(threads, items)))]
    if not others:
        return [quietly(mine)]
    running = [_pool(threads).submit(quietly, share) for share in others]
    try:
        return [quietly(mine), *(future.result() for future in running)]
    finally:
        wait(running)


@cache
def _pool(threads: int) -> ThreadPoolExecutor:
    """Return a pool of threads that stay: starting one takes longer than a small share of work."""
    return ThreadPoolExecutor(threads, "ism")


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_pool.cache_clear)  # the parent's threads do not exist in the child
