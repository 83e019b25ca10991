"""Differences between groups of rows and all other rows, per column and in standard deviations."""

import base64
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from app.schemas import DifferenceView, Groups, GroupView
from ism_jobs.errors import FieldError, InvalidParameter
from ism_jobs.store import unpack
from ism_jobs.tables import Column

RowGroups: TypeAlias = Sequence[Sequence[int] | NDArray[np.int64]]


class _ColumnTally:
    """Counts and sums of a column, over each group and over all rows.

    Numbers are shifted by the mean of the column, so that sums of squares lose no digits.
    """

    def __init__(self, column: Column, groups: int) -> None:
        self.column = column
        self.shift = column.mean or 0.0
        self.counts = np.zeros(groups + 1)  # the last entry counts all rows
        self.sums = np.zeros(groups + 1)
        self.squares = np.zeros(groups + 1)
        self.levels: list[Counter[str]] = [Counter() for _ in range(groups + 1)]

    def add(self, values: Any, group_rows: Sequence[NDArray[np.int64]]) -> None:
        (self._add_numbers if self.column.kind == "number" else self._add_texts)(values, group_rows)

    def view(self, group: int) -> DifferenceView:
        return self._number(group) if self.column.kind == "number" else self._text(group)

    def _add_numbers(self, column: Any, group_rows: Sequence[NDArray[np.int64]]) -> None:
        values = column.to_numpy(zero_copy_only=False) - self.shift
        present = ~np.isnan(values)
        values = np.where(present, values, 0.0)
        self.counts += [*(present[at].sum() for at in group_rows), present.sum()]
        self.sums += [*(values[at].sum() for at in group_rows), values.sum()]
        self.squares += [*(values[at] @ values[at] for at in group_rows), values @ values]

    def _add_texts(self, column: Any, group_rows: Sequence[NDArray[np.int64]]) -> None:
        for group, part in enumerate([*(column.take(at) for at in group_rows), column]):
            found = pc.value_counts(part.drop_null()).to_pylist()
            self.levels[group].update({item["values"]: item["counts"] for item in found})

    def _number(self, group: int) -> DifferenceView:
        count, total = self.counts[group], self.counts[-1]
        mean = self.sums[group] / count if count else None
        others = (self.sums[-1] - self.sums[group]) / (total - count) if total > count else None
        std = max(0.0, self.squares[-1] / total - (self.sums[-1] / total) ** 2) ** 0.5 if total else 0.0
        inside = _squared_error(count, self.sums[group], self.squares[group])
        outside = _squared_error(
            total - count, self.sums[-1] - self.sums[group], self.squares[-1] - self.squares[group]
        )
        difference = None if self.column.constant else _standardized(mean, others, std)
        return DifferenceView(
            column=self.column.name,
            level=None,
            group=None if mean is None else float(mean + self.shift),
            rest=None if others is None else float(others + self.shift),
            difference=difference,
            error=None if difference is None else _error(inside, outside, std),
        )

    def _text(self, group: int) -> DifferenceView:
        inside, everywhere = self.levels[group], self.levels[-1]
        count, total = inside.total(), everywhere.total()
        if not count or count == total:
            return DifferenceView(
                column=self.column.name, level=None, group=None, rest=None, difference=None, error=None
            )

        def shares(level: str) -> tuple[float, float]:
            return inside[level] / count, (everywhere[level] - inside[level]) / (total - count)

        def size(level: str) -> tuple[float, float]:  # of two levels that differ as much, the group has the first
            share, others = shares(level)
            return abs(share - others), share - others

        level = max(everywhere, key=size)
        share, others = shares(level)
        overall = everywhere[level] / total
        std = (overall * (1 - overall)) ** 0.5
        rest, rest_count = everywhere[level] - inside[level], total - count
        errors = _squared_error_of_share(inside[level], count), _squared_error_of_share(rest, rest_count)
        difference = _standardized(share, others, std)
        return DifferenceView(
            column=self.column.name,
            level=level,
            group=share,
            rest=others,
            difference=difference,
            error=None if difference is None else _error(*errors, std),
        )


def selected_rows(groups: Groups, rows: int) -> RowGroups:
    """Return the row numbers of each group of a table with so many rows. Raises InvalidParameter."""
    if groups.groups is not None and groups.masks is None:
        last = max(map(max, groups.groups))
        if last >= rows:
            raise _refused("groups", f"There is no row {last:,}; the table has {rows:,} rows, and the first is row 0.")
        return groups.groups
    if groups.masks is None or groups.groups is not None:
        raise _refused("groups", "Give the rows either as groups or as masks.")
    return [_rows_of_mask(mask, place, rows) for place, mask in enumerate(groups.masks)]


def _rows_of_mask(mask: str, place: int, rows: int) -> NDArray[np.int64]:
    size = -(-rows // 8)
    try:
        packed = base64.b64decode(mask, validate=True)
    except ValueError:  # from letters that are not ASCII too
        raise _refused("masks", f"Mask {place} is not base64.") from None
    if len(packed) != size:
        raise _refused("masks", f"Mask {place} has {len(packed):,} bytes; a table of {rows:,} rows needs {size:,}.")
    found = np.flatnonzero(np.unpackbits(np.frombuffer(packed, dtype=np.uint8), bitorder="little"))
    if not len(found) or found[-1] >= rows:
        fault = f"selects row {found[-1]:,}, but the table has {rows:,} rows" if len(found) else "selects no row"
        raise _refused("masks", f"Mask {place} {fault}.")
    return found


def _refused(field: str, sentence: str) -> InvalidParameter:
    return InvalidParameter(sentence, [FieldError(field, sentence)])


def compare_groups(chunks: Iterator[bytes], columns: Sequence[Column], groups: RowGroups) -> list[dict[str, Any]]:
    """Return a `GroupView` for each group of rows of a data set, as JSON. Runs in a sandbox process."""
    names = [column.name for column in columns]
    parts = (unpack(chunk).select(names) for chunk in chunks)
    return [view.model_dump(mode="json") for view in differences(parts, columns, groups)]


def differences(parts: Iterable[pa.Table], columns: Sequence[Column], groups: RowGroups) -> list[GroupView]:
    """Compare each group of row numbers with all other rows, column by column. The table is read once, in parts."""
    unique = [np.unique(np.asarray(group, dtype=np.int64)) for group in groups]
    tallies = [_ColumnTally(column, len(groups)) for column in columns]
    start = 0
    for part in parts:
        end = start + part.num_rows
        group_rows = [rows[np.searchsorted(rows, start) : np.searchsorted(rows, end)] - start for rows in unique]
        for tally in tallies:
            tally.add(part.column(tally.column.name), group_rows)
        start = end
    return [_view(tallies, group, len(rows)) for group, rows in enumerate(unique)]


def _view(tallies: Sequence[_ColumnTally], group: int, rows: int) -> GroupView:
    views = sorted((tally.view(group) for tally in tallies), key=lambda one: -abs(one.difference or 0.0))
    return GroupView(rows=rows, differences=views)


def _standardized(mean: float | None, others: float | None, std: float) -> float | None:
    """Return the standardized difference; None if a mean is missing or the column does not vary."""
    if mean is None or others is None or not std > 0:
        return None
    return float((mean - others) / std)


def _squared_error(count: float, total: float, squares: float) -> float | None:
    """Return the squared standard error of a mean; None if there are fewer than two values."""
    if count < 2:
        return None
    return float(max(0.0, squares - total**2 / count) / (count - 1) / count)


def _squared_error_of_share(hits: int, count: int) -> float:
    """Return the squared standard error of a share. One more hit and miss keep it positive if the share is 0 or 1."""
    share = (hits + 1) / (count + 2)
    return share * (1 - share) / count


def _error(group: float | None, rest: float | None, std: float) -> float | None:
    """Return the standard error of a standardized difference, from the squared errors of the two means."""
    if group is None or rest is None:
        return None
    return float((group + rest) ** 0.5 / std)
