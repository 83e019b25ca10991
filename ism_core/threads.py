"""Threads of our own in place of the BLAS's: then all of the work on a tile runs on every core, not only its products.

The two must not mix. After a product on several threads OpenBLAS keeps its idle ones spinning for some 30 ms, and
they take the core that the next tile needs: measured on 2 cores, tiles were then slower on two threads than on one.
"""

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import TypeVar

import scipy.linalg  # noqa: F401  (scipy loads a BLAS of its own, which must be there to be held)
from threadpoolctl import LibController, ThreadpoolController

T = TypeVar("T")


class _Blas:
    """The BLAS libraries of this process, held to one thread while anyone asks for that."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._holders = 0
        self._libraries: list[LibController] = ThreadpoolController().select(user_api="blas").lib_controllers
        self._allowed: list[int] = []

    def hold(self) -> int:
        """Hold them to one thread each; returns how many they were allowed."""
        with self._lock:
            if self._holders == 0:
                self._allowed = [library.num_threads or 1 for library in self._libraries]
                for library in self._libraries:
                    library.set_num_threads(1)
            self._holders += 1
            return max(self._allowed, default=1)

    def release(self) -> None:
        with self._lock:
            self._holders -= 1
            if self._holders == 0:
                for library, allowed in zip(self._libraries, self._allowed, strict=True):
                    library.set_num_threads(allowed)


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
