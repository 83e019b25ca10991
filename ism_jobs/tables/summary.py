"""The description of a table, collected block by block."""

from typing import Any

import numpy as np

from ism_jobs.errors import FieldError, InvalidTable
from ism_jobs.tables.block import Block
from ism_jobs.tables.description import Column, Description
from ism_jobs.tables.kinds import NUMBER
from ism_jobs.tables.limits import Limits
from ism_jobs.tables.statistics import Counters, DistinctNumbers, NumberStatistics, TextCounts

PREVIEW_ROWS = 5  # first rows that the description shows


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
        self._counters = Counters(len(self._numbers))
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
        self._counters.add(matrix)
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
            column = self._statistics.column(row, self._names[position], self.rows, distinct[row])
            columns[position] = column.model_copy(update={"counter": self._counters.kind(row)})
        for row, position in enumerate(self._texts):
            columns[position] = self._counts.column(row)
        return Description(
            rows=self.rows,
            columns=[column for column in columns if column is not None],
            preview=self._preview,
            format=format,
            notes=[*notes, *self._counts.notes()],
        )


def _infinite(names: list[str]) -> InvalidTable:
    shown = ", ".join(f'"{name}"' for name in names[:5]) + (" and others" if len(names) > 5 else "")
    which = "The column" if len(names) == 1 else "Each of the columns"
    return InvalidTable(
        f"{which} {shown} has infinite values; replace them by numbers, or leave them empty as missing.",
        [FieldError(name, "This column has infinite values.") for name in names[:20]],
    )
