"""How groups of rows differ from all other rows: column by column, in standard deviations, the largest first."""

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray
from pydantic import BaseModel, Field

from ism_jobs.tables import Column

Groups: TypeAlias = Sequence[Sequence[int]]
Numbers: TypeAlias = NDArray[np.float64]


class DifferenceView(BaseModel):
    """One column in a group of rows and in the rest."""

    column: str
    level: str | None = Field(description="Of a column of text, the text whose share differs most; null for numbers.")
    group: float | None = Field(description="The mean in the group, or the share of the level; null where all miss.")
    rest: float | None = Field(description="The same in all other rows.")
    difference: float | None = Field(description="Group less rest, in standard deviations of the whole column.")


class GroupView(BaseModel):
    """A group of rows against all others."""

    rows: int
    differences: list[DifferenceView] = Field(description="The largest first.")


class _Tally:
    """Counts and sums of a column over all rows and over each group; the numbers are taken from `shift`."""

    def __init__(self, column: Column, groups: int) -> None:
        self.column = column
        self.shift = column.mean or 0.0
        self.counts = np.zeros(groups + 1)  # the last is of all rows
        self.sums = np.zeros(groups + 1)
        self.squares = 0.0
        self.levels: list[Counter[str]] = [Counter() for _ in range(groups + 1)]

    def add(self, values: Any, places: Sequence[NDArray[np.int64]]) -> None:
        (self._add_numbers if self.column.kind == "number" else self._add_texts)(values, places)

    def view(self, group: int) -> DifferenceView:
        return self._number(group) if self.column.kind == "number" else self._text(group)

    def _add_numbers(self, column: Any, places: Sequence[NDArray[np.int64]]) -> None:
        values = column.to_numpy(zero_copy_only=False) - self.shift
        there = ~np.isnan(values)
        values = np.where(there, values, 0.0)
        self.counts += [*(there[at].sum() for at in places), there.sum()]
        self.sums += [*(values[at].sum() for at in places), values.sum()]
        self.squares += float(values @ values)

    def _add_texts(self, column: Any, places: Sequence[NDArray[np.int64]]) -> None:
        for place, part in enumerate([*(column.take(at) for at in places), column]):
            found = pc.value_counts(part.drop_null()).to_pylist()
            self.levels[place].update({item["values"]: item["counts"] for item in found})

    def _number(self, group: int) -> DifferenceView:
        count, total = self.counts[group], self.counts[-1]
        mean = self.sums[group] / count if count else None
        others = (self.sums[-1] - self.sums[group]) / (total - count) if total > count else None
        spread = max(0.0, self.squares / total - (self.sums[-1] / total) ** 2) ** 0.5 if total else 0.0
        return DifferenceView(
            column=self.column.name,
            level=None,
            group=None if mean is None else float(mean + self.shift),
            rest=None if others is None else float(others + self.shift),
            difference=None if self.column.constant else _over(mean, others, spread),
        )

    def _text(self, group: int) -> DifferenceView:
        inside, everywhere = self.levels[group], self.levels[-1]
        count, total = inside.total(), everywhere.total()
        if not count or count == total:
            return DifferenceView(column=self.column.name, level=None, group=None, rest=None, difference=None)

        def shares(level: str) -> tuple[float, float]:
            return inside[level] / count, (everywhere[level] - inside[level]) / (total - count)

        level = max(everywhere, key=lambda level: abs(shares(level)[0] - shares(level)[1]))
        share, others = shares(level)
        overall = everywhere[level] / total
        spread = (overall * (1 - overall)) ** 0.5
        return DifferenceView(
            column=self.column.name, level=level, group=share, rest=others, difference=_over(share, others, spread)
        )


def differences(parts: Iterable[pa.Table], columns: Sequence[Column], groups: Groups) -> list[GroupView]:
    """For each group of row numbers, every column, the one that differs most first; reads the table once, in parts."""
    wanted = [np.unique(np.asarray(group, dtype=np.int64)) for group in groups]
    tallies = [_Tally(column, len(groups)) for column in columns]
    start = 0
    for part in parts:
        end = start + part.num_rows
        places = [rows[np.searchsorted(rows, start) : np.searchsorted(rows, end)] - start for rows in wanted]
        for tally in tallies:
            tally.add(part.column(tally.column.name), places)
        start = end
    return [_view(tallies, group, len(rows)) for group, rows in enumerate(wanted)]


def _view(tallies: Sequence[_Tally], group: int, rows: int) -> GroupView:
    found = sorted((tally.view(group) for tally in tallies), key=lambda one: -abs(one.difference or 0.0))
    return GroupView(rows=rows, differences=found)


def _over(mean: float | None, others: float | None, spread: float) -> float | None:
    """None where one of the two is empty, or nothing varies."""
    if mean is None or others is None or not spread > 0:
        return None
    return float((mean - others) / spread)
