"""Statistics of the text columns: levels, dates, and texts that keep a column from being numbers."""

from collections import Counter
from typing import Any

import pyarrow.compute as pc

from ism_jobs.sentences import named
from ism_jobs.tables.description import Column
from ism_jobs.tables.limits import Limits
from ism_jobs.tables.written import DateFormats, looks_like_number

MOST_DISTINCT_TEXTS = 10_000  # of a column; more are not counted
MOST_LEVELS = 20  # levels of a text column in the description
COUNTED_BYTES = 1 << 26  # of distinct texts, over all columns
NEARLY_NUMBERS = 0.9  # share of numbers from which a note asks about the other texts of a column


class TextCounts:
    """Counts how often each text occurs in each column, up to MOST_DISTINCT_TEXTS."""

    def __init__(self, names: list[str], limits: Limits) -> None:
        self._names = names
        self._limits = limits
        self._missing = [0] * len(names)
        self._counts: list[Counter[str] | None] = [Counter() for _ in names]
        self._constant = [True] * len(names)
        self._dates = [DateFormats() for _ in names]
        self._notes: dict[int, str] = {}
        self._bytes = 0

    def add(self, columns: list[Any]) -> None:
        """Add more values of every column."""
        for row, column in enumerate(columns):
            self._missing[row] += column.null_count
            if column.null_count == len(column):
                continue
            self._limits.check_text(pc.max(pc.binary_length(column)).as_py(), self._names[row])
            self._dates[row].add(column)
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
            self._find_numbers(row, counts)
            self._counts[row] = None

    def notes(self) -> list[str]:
        """Return a note on each column that is text only because of a few values."""
        for row, counts in enumerate(self._counts):
            if counts is not None:
                self._find_numbers(row, counts)
        return [self._notes[row] for row in sorted(self._notes)]

    def _find_numbers(self, row: int, counts: Counter[str]) -> None:
        others = {text: count for text, count in counts.items() if not looks_like_number(text)}
        if others and sum(others.values()) <= (1 - NEARLY_NUMBERS) * counts.total():
            example = max(others, key=lambda text: (others[text], text))
            self._notes[row] = (
                f"{named(self._names[row])} is read as text because of values such as {named(example)};"
                " nearly all others look like numbers. Correct these values, or leave the cells empty."
            )

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
            date_format=self._dates[row].format,
        )
