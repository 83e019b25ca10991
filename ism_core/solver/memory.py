"""The memory that a solve needs, estimated before it starts."""

import os
from dataclasses import dataclass, replace
from pathlib import Path

from ism_core.arrays import Array
from ism_core.engines import allowed_threads
from ism_core.errors import InvalidInput
from ism_core.linalg import LARGEST, SAMPLE
from ism_core.objective import BLOCK_ROWS, EvaluationOptions
from ism_core.paradigms import DENSE_ROWS, SAMPLE_ROWS
from ism_core.solver.options import SolveInput

NUMBER_BYTES = 8  # of a double
LIVE_MATRICES = 10  # of the size of Φ at the same time: Φ, its correction, eigenvectors and their workspace
LIVE_BLOCKS = 6  # of partitions for each thread: two that wait, two in hand, and copies while they are scaled
ROW_COLUMNS = 8  # columns of W's width for each row: projected rows, sums over them, bounds
BASE_BYTES = 192 * 2**20  # buffers of tiles and features, compiled code
WIDENINGS = 10  # times q: directions by which the space of a sample may grow


@dataclass(frozen=True)
class Shape:
    """What the memory of a solve depends on."""

    rows: int
    columns: int
    q: int
    rank: int  # of Γ
    clusters: bool  # whether Γ comes from clustering

    def bytes(self) -> int:
        """The memory of the leanest strategy (tiles) in addition to X."""
        n, d, threads = self.rows, self.columns, allowed_threads()
        k = min(n, d)
        numbers = 0
        if k > LARGEST:  # coordinates in the row space of a sample, widened step by step
            k = SAMPLE + WIDENINGS * self.q
            numbers += 2 * (n + d) * k
        elif n < d:  # coordinates in the row space, from a singular value decomposition
            numbers += 3 * n * d + n * k
        numbers += n * k // 2  # the largest sample of the rows
        numbers += (LIVE_MATRICES + threads) * k * k
        numbers += n * (1 + threads) * (self.rank + ROW_COLUMNS * self.q)
        if self.clusters:
            numbers += 4 * (n if n <= DENSE_ROWS else SAMPLE_ROWS) ** 2
        return BASE_BYTES + NUMBER_BYTES * numbers


def within_memory_limit(given: SolveInput, X: Array) -> EvaluationOptions:
    """The evaluation options with the bytes that are left for faster strategies.

    Raises InvalidInput if even the leanest strategy does not fit.
    """
    if given.options.memory_limit is None:
        return given.evaluation
    rows, columns = X.shape
    shape = Shape(rows, columns, given.q, given.paradigm.rank, given.paradigm.alternates)
    return replace(given.evaluation, spare_bytes=spare_bytes(shape, X, given.options.memory_limit))


def spare_bytes(shape: Shape, X: Array, limit: int) -> int:
    """The memory left for strategies that need more; raise InvalidInput if the leanest needs more than the limit."""
    taken = max(_resident(), X.nbytes)
    left = limit - taken - shape.bytes()
    if left >= 0:
        return left
    free = limit - taken + X.nbytes
    fits = _most_rows(shape, free)
    advice = f"With {shape.columns:,} columns about {fits:,} rows fit." if fits > 1 else "X has too many columns."
    raise InvalidInput(
        "memory",
        f"The solve needs about {_gib(taken + shape.bytes())}; the limit is {_gib(limit)}. {advice} Use fewer rows or"
        " columns, or raise the limit.",
    )


def check_partitions(columns: int, sample_rows: int, limit: int | None) -> None:
    """Raise InvalidInput if the blocks and the sample of a table in partitions need more memory than the limit."""
    if limit is None:
        return
    numbers = LIVE_BLOCKS * allowed_threads() * BLOCK_ROWS * columns  # the same for any number of rows
    numbers += 2 * sample_rows * columns + (LIVE_MATRICES + allowed_threads()) * columns**2
    needed = _resident() + BASE_BYTES + NUMBER_BYTES * numbers
    if needed > limit:
        raise InvalidInput(
            "memory",
            f"A solve of a table in partitions needs about {_gib(needed)} with {columns:,} columns; the limit is"
            f" {_gib(limit)}. Use fewer columns, or raise the limit.",
        )


def _most_rows(shape: Shape, free: int) -> int:
    """How many rows with the same columns fit into the free bytes, X included."""
    low, high = 0, shape.rows
    while low < high:
        middle = (low + high + 1) // 2
        smaller = replace(shape, rows=middle)
        if smaller.bytes() + NUMBER_BYTES * middle * shape.columns <= free:
            low = middle
        else:
            high = middle - 1
    return low


def _resident() -> int:
    """The resident memory of this process; 0 if the system does not tell."""
    try:
        pages = int(Path("/proc/self/statm").read_text().split()[1])
    except (OSError, ValueError, IndexError):
        return 0
    return pages * os.sysconf("SC_PAGE_SIZE")


def _gib(size: int) -> str:
    return f"{size / 2**30:.2g} GiB" if size >= 2**29 else f"{size / 2**20:.0f} MiB"
