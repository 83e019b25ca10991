"""Threads of our own in place of the BLAS's: then all of the work on a tile runs on every core, not only its products.

The two must not mix. After a product on several threads OpenBLAS keeps its idle ones spinning for some 30 ms, and
they take the core that the next tile needs: measured on 2 cores, tiles were then slower on two threads than on one.
"""

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any, TypeVar

import scipy.linalg  # noqa: F401  (scipy loads a BLAS of its own, which must be there to be held)
from threadpoolctl import ThreadpoolController

T = TypeVar("T")


class _Blas:
    """The BLAS libraries of this process, held to one thread while anyone asks for that."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._holders = 0
        self._limit: Any = None
        self._allowed = 1
        self._libraries = ThreadpoolController().select(user_api="blas")

    def hold(self) -> int:
        """Hold them to one thread each; returns how many they were allowed."""
        with self._lock:
            if self._holders == 0:
                self._allowed = max((library["num_threads"] for library in self._libraries.info()), default=1)
                self._limit = self._libraries.limit(limits=1)
            self._holders += 1
            return self._allowed

    def release(self) -> None:
        with self._lock:
            self._holders -= 1
            if self._holders == 0:
                self._limit.restore_original_limits()


_blas = _Blas()


@contextmanager
def own_threads() -> Iterator[int]:
    """The BLAS on one thread.

    Gives the number of threads to use instead, so that a cap on the BLAS is a cap on ours.
    """
    allowed = _blas.hold()
    try:
        yield allowed
    finally:
        _blas.release()


def in_threads(work: Callable[[list[int]], T], items: int, threads: int) -> list[T]:
    """work(share) for interleaved shares of range(items), one thread a share, in a fixed order.

    Every run adds up alike.
    """
    if min(threads, items) == 1:
        return [work(list(range(items)))]
    with ThreadPoolExecutor(threads) as pool:
        return list(pool.map(work, [list(range(share, items, threads)) for share in range(min(threads, items))]))
