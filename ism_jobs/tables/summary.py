"""Statistics of the columns of a table, collected block by block."""

from collections import Counter
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ism_jobs.errors import FieldError, InvalidTable
from ism_jobs.tables.block import Block
from ism_jobs.tables.description import Column, Description
from ism_jobs.tables.kinds import NUMBER
from ism_jobs.tables.limits import Limits

PREVIEW_ROWS = 5  # first rows that the description shows
MOST_DISTINCT_NUMBERS = 1_000  # of a column; more are not counted
MOST_DISTINCT_TEXTS = 10_000  # of a column; more are not counted
MOST_LEVELS = 20  # levels of a text column in the description
PENDING_ROWS = 1_024  # rows whose distinct numbers are counted together: one call for each column, not for each block
PENDING_BYTES = 100_000_000  # of such rows
SORT_BATCH_SIZE = 256  # columns that one call sorts
COUNTED_BYTES = 1 << 26  # of distinct texts, over all columns


class Summary:
    """Collects all of a Description but the file's format and notes."""

    def __init__(self, schema: Any, limits: Limits) -> None:
        self._names = schema.names
        self._numbers = [p for p, field in enumerate(schema) if field.type == NUMBER]
        self._texts = [p for p, field in enumerate(schema) if field.type != NUMBER]
        self._limits = limits
        self._preview: list[list[float | str | None]] = []
        self.rows = 0
        self._statistics = NumberStatistics(len(self._numbers))
        self._distinct = DistinctNumbers(len(self._numbers))
        self._counts = TextCounts([self._names[position] for position in self._texts], limits)

    def add(self, block: Block) -> None:
        """Add more rows."""
        self.rows += block.rows
        matrix = block.numbers
        self._limits.check_shape(self.rows, len(self._names))
        if len(self._preview) < PREVIEW_ROWS:
            self._add_to_preview(block)
        infinite = np.isinf(matrix).any(axis=1)
        if infinite.any():
            raise _infinite([self._names[self._numbers[position]] for position in np.flatnonzero(infinite)])
        self._statistics.add(matrix)
        self._distinct.add(matrix)
        self._counts.add(block.texts)

    def _add_to_preview(self, block: Block) -> None:
        wanted = PREVIEW_ROWS - len(self._preview)
        columns: list[list[float | str | None]] = [[]] * len(self._names)
        for position, values in zip(self._numbers, block.numbers[:, :wanted].tolist(), strict=True):
            columns[position] = [None if value != value else value for value in values]
        for position, text in zip(self._texts, block.texts, strict=True):
            columns[position] = text.slice(0, wanted).to_pylist()
        self._preview += [list(row) for row in zip(*columns, strict=True)]

    def description(self, format: str, notes: list[str]) -> Description:
        """Return the description of all rows added so far."""
        columns: list[Column | None] = [None] * len(self._names)
        distinct = self._distinct.counts()
        for row, position in enumerate(self._numbers):
            columns[position] = self._statistics.column(row, self._names[position], self.rows, distinct[row])
        for row, position in enumerate(self._texts):
            columns[position] = self._counts.column(row)
        return Description(
            rows=self.rows,
            columns=[column for column in columns if column is not None],
            preview=self._preview,
            format=format,
            notes=notes,
        )


def _infinite(names: list[str]) -> InvalidTable:
    shown = ", ".join(f'"{name}"' for name in names[:5]) + (" and others" if len(names) > 5 else "")
    which = "The column" if len(names) == 1 else "Each of the columns"
    return InvalidTable(
        f"{which} {shown} has infinite values; replace them by numbers, or leave them empty as missing.",
        [FieldError(name, "This column has infinite values.") for name in names[:20]],
    )


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


class TextCounts:
    """Counts how often each text occurs in each column, up to MOST_DISTINCT_TEXTS."""

    def __init__(self, names: list[str], limits: Limits) -> None:
        self._names = names
        self._limits = limits
        self._missing = [0] * len(names)
        self._counts: list[Counter[str] | None] = [Counter() for _ in names]
        self._constant = [True] * len(names)
        self._bytes = 0

    def add(self, columns: list[Any]) -> None:
        """Add more values of every column."""
        for row, column in enumerate(columns):
            self._missing[row] += column.null_count
            if column.null_count == len(column):
                continue
            self._limits.check_text(pc.max(pc.binary_length(column)).as_py(), self._names[row])
            counts = self._counts[row]
            if counts is not None:
                self._count(row, counts, column)

    def _count(self, row: int, counts: Counter[str], column: Any) -> None:
        found = pc.value_counts(pc.drop_null(column))
        values = found.field("values")
        if len(values) <= MOST_DISTINCT_TEXTS:
            for value, count in zip(values.to_pylist(), found.field("counts").to_pylist(), strict=True):
                if value not in counts:
                    self._bytes += len(value)
                counts[value] += count
        self._constant[row] = len(values) == 1 and len(counts) == 1
        crowded = self._bytes > COUNTED_BYTES and len(counts) > 1
        if crowded or max(len(values), len(counts)) > MOST_DISTINCT_TEXTS:
            self._bytes -= sum(map(len, counts))
            self._counts[row] = None

    def column(self, row: int) -> Column:
        """Return the description of one column."""
        counts = self._counts[row]
        levels = None
        if counts is not None:
            levels = [value for value, _ in sorted(counts.items(), key=lambda item: (-item[1], item[0]))[:MOST_LEVELS]]
        return Column(
            name=self._names[row],
            kind="text",
            missing=self._missing[row],
            constant=self._constant[row],
            distinct=None if counts is None else len(counts),
            levels=levels,
        )
