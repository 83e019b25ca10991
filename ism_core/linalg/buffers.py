"""Arrays that are reused: allocating fresh pages takes up to a tenth of the time of one Φ."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray

Tile = NDArray[Any]  # of either precision
Dtype = type[np.float64] | type[np.float32]


class Buffers(threading.local):
    """Scratch arrays of one thread: one for each name and precision, as large as the largest request so far."""

    def __init__(self) -> None:
        self._memory: dict[tuple[str, Dtype], Tile] = {}

    def __call__(self, name: str, dtype: Dtype, rows: int, columns: int) -> Tile:
        memory = self._memory.get((name, dtype))
        if memory is None or len(memory) < rows * columns:
            memory = self._memory[name, dtype] = np.empty(rows * columns, dtype)
        return memory[: rows * columns].reshape(rows, columns)


buffers = Buffers()


class Workspace:
    """Large scratch arrays that live as long as a problem; each is lent to one caller at a time."""

    def __init__(self) -> None:
        self._free: dict[tuple[tuple[int, ...], Dtype], list[Tile]] = {}

    @contextmanager
    def array(self, shape: tuple[int, ...], dtype: Dtype) -> Iterator[Tile]:
        """Lend an uninitialized array."""
        free = self._free.setdefault((shape, dtype), [])
        array = free.pop() if free else np.empty(shape, dtype)
        try:
            yield array
        finally:
            free.append(array)
