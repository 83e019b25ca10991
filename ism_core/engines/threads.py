"""Threads of our own in place of the BLAS's: then all of the work on a tile runs on every core, not only its products.

The two must not mix. After a product on several threads OpenBLAS keeps its idle ones spinning for some 30 ms, and
they take the core that the next tile needs: measured on 2 cores, tiles were then slower on two threads than on one.
"""

import os
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import contextmanager
from functools import cache
from typing import TypeVar

import numpy as np
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
                self._set([1] * len(self._libraries))
            self._holders += 1
            return max(self._allowed, default=1)

    def forget(self) -> None:
        """Begin anew, with nobody holding."""
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
        """Where they were allowed one, they have it already: to say so takes as long as a small product."""
        for library, allowed, count in zip(self._libraries, self._allowed, threads, strict=True):
            if allowed != 1:
                _set_threads(library, count)


def _set_threads(library: LibController, threads: int) -> None:
    """Whichever thread asks: threadpoolctl gives the right to the first that did, and ignores the others."""
    give_up_right = getattr(library, "clear_controlling_thread", lambda force: None)
    give_up_right(force=True)
    library.set_num_threads(threads)
    give_up_right(force=True)


_blas = _Blas()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_blas.forget)  # its parent's holders are not the child's


def allowed_threads() -> int:
    """How many threads a caller of `own_threads` would get."""
    with own_threads() as allowed:
        return allowed


@contextmanager
def own_threads() -> Iterator[int]:
    """Hold the BLAS to one thread; gives the number to use instead, so that a cap on the BLAS is a cap on ours."""
    allowed = _blas.hold()
    try:
        yield allowed
    finally:
        _blas.release()


def in_threads(work: Callable[[list[int]], T], items: int, threads: int) -> list[T]:
    """work(share) for interleaved shares of range(items), one thread a share, in an order that is always the same.

    Numbers that overflow become infinite without a warning from each thread; who uses the sum looks at it once.
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
    """Threads that stay: to start one takes longer than a small share of work."""
    return ThreadPoolExecutor(threads, "ism")


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_pool.cache_clear)  # the parent's threads are not the child's
