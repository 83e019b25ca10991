"""Columns that copy the target: a job that learned from them would explain the target by itself."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

FEWEST_ROWS = 10  # on which a column must agree with the target to be its copy
KNOWN_SHARE = 0.9  # of the rows with a target that must have a value of the column
SAMPLE_ROWS = 200  # first rows that are compared; they already tell most columns from the target


def copies_of(table: pa.Table, features: Sequence[str], targets: Sequence[Any]) -> list[str]:
    """Return the features that are one of the target columns in other words.

    Such a feature is the target with its values renamed, or an increasing or decreasing function of it.
    """
    found = set()
    for target in targets:
        pair = _equal_rows(target)
        for name in features:
            if not _differ(table.column(name), pair) and is_copy(table.column(name), target):
                found.add(name)
    return [name for name in features if name in found]


def _equal_rows(target: Any) -> tuple[int, int] | None:
    """Return two of the first rows with the same value of the target: a copy has one value there, too."""
    first: dict[Any, int] = {}
    for row, value in enumerate(target.slice(0, SAMPLE_ROWS).to_pylist()):
        if value is not None and first.setdefault(value, row) < row:
            return first[value], row
    return None


def _differ(column: Any, pair: tuple[int, int] | None) -> bool:
    """Return whether a column has two different values in these rows."""
    if pair is None:
        return False
    one, other = (column[row].as_py() for row in pair)
    return one is not None and other is not None and one != other and one == one and other == other


def is_copy(column: Any, target: Any) -> bool:
    """Return whether the values of a column and of the target determine each other in a way that is no chance."""
    if not _agree(column.slice(0, SAMPLE_ROWS), target.slice(0, SAMPLE_ROWS)):
        return False
    known = pc.and_(pc.is_valid(column), pc.is_valid(target))
    count = pc.sum(known).as_py() or 0
    if count < max(FEWEST_ROWS, KNOWN_SHARE * (len(target) - target.null_count)):
        return False
    classes = pc.count_distinct(target.filter(known)).as_py()
    # If hardly any class has a second row, all names of rows agree with it. Two orders of numbers do not by chance.
    is_no_chance = 1 < classes <= count // 2 or (classes > 1 and _are_numbers(column, target))
    return is_no_chance and _agree(column, target)


def _agree(column: Any, target: Any) -> bool:
    known = pc.and_(pc.is_valid(column), pc.is_valid(target))
    column, target = column.filter(known), target.filter(known)
    if _are_numbers(column, target):
        values, truth = column.to_numpy(), target.to_numpy()
        return _increases(values, truth) or _increases(-values, truth)
    return np.array_equal(_codes(column), _codes(target))


def _are_numbers(*columns: Any) -> bool:
    return all(pa.types.is_floating(column.type) for column in columns)


def _increases(values: NDArray[np.float64], truth: NDArray[np.float64]) -> bool:
    """Return whether the values increase exactly if the truth does."""
    order = np.argsort(truth, kind="stable")
    return np.array_equal(np.sign(np.diff(values[order])), np.sign(np.diff(truth[order])))


def _codes(column: Any) -> NDArray[np.int64]:
    """Return each value's number in the order of first occurrence. Renamed values have the same numbers."""
    chunks = pc.dictionary_encode(column).combine_chunks()
    codes: NDArray[np.int64] = np.asarray(chunks.indices, dtype=np.int64)
    return codes
