"""The kinds of the columns of a file without types: numbers, booleans or text, judged by every value."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ism_jobs.tables.kinds import MISSING_SIGNS, booleans, numbers

POINT = pa.array(["."])  # a missing value among numbers, a word among words
FIRST_VALUES = 16  # first values of each column that are tried; they already identify most text columns


@dataclass
class _Seen:
    """What is known about the values of one column so far."""

    only_numbers: bool = True
    only_booleans: bool = True
    has_signs: bool = False  # such as "-"
    has_points: bool = False
    has_numbers: bool = False

    @property
    def kind(self) -> str:
        """Return "number", "boolean" or "text". A column without values is "number", one of signs alone is "text"."""
        if self.only_numbers:
            return "number" if self.has_numbers or not self.has_signs else "text"
        return "boolean" if self.only_booleans and not self.has_signs else "text"


class ColumnKinds:
    """Finds the kinds of all columns of a file; `decimal` is its decimal mark."""

    def __init__(self, columns: int, decimal: str) -> None:
        self._decimal = decimal
        self._has_begun = False
        self._seen = [_Seen() for _ in range(columns)]

    def add(self, columns: list[Any]) -> None:
        """Look at more values (strings) of every column."""
        if not self._has_begun:
            self._has_begun = True
            for seen, column in zip(self._seen, columns, strict=True):
                seen.only_numbers = numbers(column.slice(0, FIRST_VALUES), self._decimal) is not None
        self._find_numbers(columns, [p for p, seen in enumerate(self._seen) if seen.only_numbers])
        for position, seen in enumerate(self._seen):
            if seen.only_booleans and not seen.only_numbers:
                seen.only_booleans = not seen.has_numbers and booleans(columns[position]) is not None

    def result(self) -> list[str]:
        """Return the kind of each column."""
        return [seen.kind for seen in self._seen]

    def points(self) -> list[int]:
        """Return the positions of the columns of numbers in which a point stands for a missing value."""
        return [p for p, seen in enumerate(self._seen) if seen.has_points and seen.kind == "number"]

    def _find_numbers(self, columns: list[Any], positions: list[int]) -> None:
        """Find which of these columns hold only numbers: all in one call, then in halves if some do not."""
        if not positions:
            return
        together = pa.concat_arrays([columns[position] for position in positions])
        converted = numbers(together, self._decimal)
        if converted is not None:
            self._note(columns, positions, ~np.isnan(converted.to_numpy(zero_copy_only=False)))
        elif len(positions) == 1:
            self._seen[positions[0]].only_numbers = False
        else:
            middle = len(positions) // 2
            self._find_numbers(columns, positions[:middle])
            self._find_numbers(columns, positions[middle:])

    def _note(self, columns: list[Any], positions: list[int], known: Any) -> None:
        for position, is_known in zip(positions, known.reshape(len(positions), -1), strict=True):
            seen = self._seen[position]
            seen.has_numbers = seen.has_numbers or bool(is_known.any())
            if is_known.all() or (seen.has_points and seen.has_signs):
                continue
            trimmed = pc.utf8_trim_whitespace(columns[position])
            seen.has_points = seen.has_points or bool(pc.any(pc.is_in(trimmed, value_set=POINT)).as_py())
            if not seen.has_numbers:
                seen.has_signs = seen.has_signs or bool(pc.any(pc.is_in(trimmed, value_set=MISSING_SIGNS)).as_py())
