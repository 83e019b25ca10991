"""What the columns of a file without types hold, judged by every value."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ism_jobs.tables.kinds import numbers, truths

DASH = pa.array(["-"])
GLANCE = 16  # values of each column that tell most words from numbers


@dataclass
class Evidence:
    """What the values of one column have shown so far."""

    numbers: bool = True
    truths: bool = True
    dashes: bool = False
    values: bool = False

    @property
    def kind(self) -> str:
        """ "number", "truth" or "text"; no value at all makes numbers, nothing but dashes makes text."""
        if self.numbers:
            return "number" if self.values or not self.dashes else "text"
        return "truth" if self.truths and not self.dashes else "text"


class Kinds:
    """The evidence on all columns of a file; `decimal` is its decimal mark."""

    def __init__(self, columns: int, decimal: str) -> None:
        self._decimal = decimal
        self._begun = False
        self._evidence = [Evidence() for _ in range(columns)]

    def add(self, columns: list[Any]) -> None:
        """Look at more values (strings) of every column."""
        if not self._begun:
            self._begun = True
            for evidence, column in zip(self._evidence, columns, strict=True):
                evidence.numbers = numbers(column.slice(0, GLANCE), self._decimal) is not None
        self._look(columns, [p for p, evidence in enumerate(self._evidence) if evidence.numbers])
        for position, evidence in enumerate(self._evidence):
            if evidence.truths and not evidence.numbers:
                evidence.truths = not evidence.values and truths(columns[position]) is not None

    def result(self) -> list[str]:
        """The kind of each column."""
        return [evidence.kind for evidence in self._evidence]

    def _look(self, columns: list[Any], positions: list[int]) -> None:
        """Whether these columns hold numbers: all in one call, halved until those that do not are found."""
        if not positions:
            return
        together = pa.concat_arrays([columns[position] for position in positions])
        converted = numbers(together, self._decimal)
        if converted is not None:
            self._note(columns, positions, ~np.isnan(converted.to_numpy(zero_copy_only=False)))
        elif len(positions) == 1:
            self._evidence[positions[0]].numbers = False
        else:
            middle = len(positions) // 2
            self._look(columns, positions[:middle])
            self._look(columns, positions[middle:])

    def _note(self, columns: list[Any], positions: list[int], known: Any) -> None:
        for position, has_values in zip(positions, known.reshape(len(positions), -1).any(axis=1), strict=True):
            evidence = self._evidence[position]
            if has_values:
                evidence.values = True
            elif not (evidence.values or evidence.dashes):
                trimmed = pc.utf8_trim_whitespace(columns[position])
                evidence.dashes = bool(pc.any(pc.is_in(trimmed, value_set=DASH)).as_py())
