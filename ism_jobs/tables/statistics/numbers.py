"""Statistics of the number columns: range and mean, distinct values, and whether a column counts the rows."""

from typing import Any, Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ism_jobs.tables.description import Column

MOST_DISTINCT_NUMBERS = 1_000  # of a column; more are not counted
PENDING_ROWS = 1_024  # rows whose distinct numbers are counted together: one call for each column, not for each block
PENDING_BYTES = 100_000_000  # of such rows
SORT_BATCH_SIZE = 256  # columns that one call sorts
FIRST_ROWS = 16  # first rows that are tried for a counter; they already identify most other columns


class NumberStatistics:
    """Count, minimum, maximum and mean of each number column, and whether its numbers are whole."""

    def __init__(self, columns: int) -> None:
        self._known = np.zeros(columns, np.int64)
        self._minimum = np.full(columns, np.inf)
        self._maximum = np.full(columns, -np.inf)
        self._mean = np.zeros(columns)
        self._whole = np.ones(columns, np.bool_)

    def add(self, matrix: Any) -> None:
        """Add values. Each row of the matrix holds values of one column, with NaN for missing."""
        missing = np.isnan(matrix)
        known = matrix.shape[1] - missing.sum(axis=1)
        self._minimum = np.minimum(self._minimum, np.fmin.reduce(matrix, axis=1, initial=np.inf))
        self._maximum = np.maximum(self._maximum, np.fmax.reduce(matrix, axis=1, initial=-np.inf))
        with np.errstate(invalid="ignore"):  # signaling NaNs
            self._whole &= ((np.floor(matrix) == matrix) | missing).all(axis=1)
        self._known += known
        values = np.where(missing, 0.0, matrix)
        with np.errstate(over="ignore", invalid="ignore"):
            mean = values.sum(axis=1) / np.maximum(known, 1)
        if not np.isfinite(mean).all():  # the sum of very large numbers overflows, but their mean does not
            mean = (values / np.maximum(known, 1)[:, None]).sum(axis=1)
        share = known / np.maximum(self._known, 1)
        self._mean = self._mean * (1 - share) + mean * share

    def column(self, row: int, name: str, rows: int, distinct: int | None) -> Column:
        """Return the description of one column."""
        known = int(self._known[row])
        if known == 0:
            return Column(name=name, kind="number", missing=rows, constant=True, distinct=0)
        low, high = float(self._minimum[row]), float(self._maximum[row])
        return Column(
            name=name,
            kind="number",
            missing=rows - known,
            minimum=low,
            maximum=high,
            mean=min(max(float(self._mean[row]), low), high),
            whole=bool(self._whole[row]),
            constant=low == high,
            distinct=distinct,
        )


class Counters:
    """Finds the columns that count the rows, the rows of consecutive blocks, or groups of consecutive rows."""

    def __init__(self, columns: int) -> None:
        self._open = np.arange(columns)  # columns that may still count
        self._fits = np.ones((3, columns), np.bool_)  # whether an open column counts rows, rows of blocks, groups
        self._first = np.empty(0)
        self._last = np.empty(0)
        self._rows = 0

    def add(self, matrix: Any) -> None:
        """Add values. Each row of the matrix holds values of one column, with NaN for missing."""
        if matrix.shape[1] == 0 or len(self._open) == 0:
            return
        if self._rows == 0:
            self._first = matrix[:, 0]
            self._keep(matrix[:, :FIRST_ROWS])
            values = matrix[self._open]
        else:
            values = np.column_stack([self._last, matrix[self._open]])
        self._rows += matrix.shape[1]
        values = values[self._keep(values)]
        self._last = values[:, -1].copy()

    def kind(self, column: int) -> Literal["rows", "blocks", "groups"] | None:
        """Return what the column counts, or None if it does not count."""
        place = int(np.searchsorted(self._open, column))
        if self._rows < 2 or place == len(self._open) or self._open[place] != column:
            return None
        counts_rows, counts_blocks, _ = self._fits[:, place]
        return "rows" if counts_rows else "blocks" if counts_blocks else "groups"

    def _keep(self, values: Any) -> Any:
        """Keep the columns that count on, and return which of the rows of `values` they are."""
        counts = values[:, 1:] == values[:, :-1] + 1
        restarts = values[:, 1:] == self._first[:, None]
        stays = values[:, 1:] == values[:, :-1]
        self._fits &= np.array([each.all(axis=1) for each in (counts, counts | restarts, counts | stays)])
        counting = self._fits.any(axis=0)
        self._open, self._first, self._fits = self._open[counting], self._first[counting], self._fits[:, counting]
        return counting


class DistinctNumbers:
    """Counts the distinct numbers of each column, up to MOST_DISTINCT_NUMBERS."""

    def __init__(self, columns: int) -> None:
        self._known: list[Any] = [np.empty(0)] * columns
        self._open = list(range(columns))
        self._pending: list[Any] = []
        self._waiting = 0

    def add(self, matrix: Any) -> None:
        """Add values. Each row of the matrix holds values of one column, with NaN for missing."""
        if not self._open:
            return
        self._pending.append(matrix)
        self._waiting += matrix.shape[1]
        if self._waiting >= PENDING_ROWS or sum(waiting.nbytes for waiting in self._pending) > PENDING_BYTES:
            self._count()

    def counts(self) -> list[int | None]:
        """Return the count of each column, or None if there are too many."""
        self._count()
        return [None if known is None else len(known) for known in self._known]

    def _count(self) -> None:
        crowded = _crowded(self._pending) if self._pending else set()
        for column in crowded.intersection(self._open):
            self._known[column] = None
        for column in set(self._open) - crowded:
            pieces = [self._known[column], *(matrix[column] for matrix in self._pending)]
            hashed = pc.unique(pa.array(np.concatenate(pieces)))  # takes linear time; sorting all values does not
            values = hashed.to_numpy() + 0.0
            known = np.unique(values[~np.isnan(values)])
            self._known[column] = known if len(known) <= MOST_DISTINCT_NUMBERS else None
        self._open = [column for column in self._open if self._known[column] is not None]
        self._pending, self._waiting = [], 0


def _crowded(pending: list[Any]) -> set[int]:
    """Return the columns with too many distinct numbers in their first rows. One call sorts many columns."""
    crowded: set[int] = set()
    for start in range(0, len(pending[0]), SORT_BATCH_SIZE):
        parts = [matrix[start : start + SORT_BATCH_SIZE, :PENDING_ROWS] for matrix in pending]
        first = np.sort(np.concatenate(parts, axis=1), axis=1)
        distinct = (first[:, 1:] > first[:, :-1]).sum(axis=1) + 1  # NaN is sorted last, and nothing is greater than NaN
        crowded.update((start + np.flatnonzero(distinct > MOST_DISTINCT_NUMBERS)).tolist())
    return crowded
