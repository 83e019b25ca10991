"""A planted problem: named columns, a target made from some of them, and the known answer."""

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from ism_core.arrays import Array, Ints

Column = NDArray[np.float64] | NDArray[np.str_]

MAX_LEVELS = 20  # levels up to which the peers get a text column, as 0/1 columns


@dataclass(frozen=True, eq=False)
class Encoded:
    """A problem as numbers, for methods that take a matrix: medians fill missing cells, text becomes 0/1 columns.

    Rows without a target are left out.
    """

    X: Array
    target: Array | Ints | None
    column: list[str]  # the column of the problem that each column of X comes from
    rows: Ints  # the rows of the problem that are left


@dataclass(frozen=True, eq=False)
class PlantedProblem:
    """A table, its target, and the known answer."""

    columns: Mapping[str, Column]  # NaN marks missing numbers
    target: Array | NDArray[np.str_] | None  # text for classes, "" if missing; numbers for values; None for clusterings
    relevant: frozenset[str]  # the columns that the target is made from, and their copies
    axes: Array  # the n×q true axes, each a function of relevant columns: the target depends on the rows through these
    collinear: frozenset[str] = field(default=frozenset())  # irrelevant columns that nearly copy each other
    clusters: int | None = None  # the number of clusters, for clusterings
    spoiled: NDArray[np.bool_] | None = None  # rows with cells that were replaced after the target had been made
    is_table: bool = False  # whether it takes a table's handling: text, missing cells or identifiers

    @property
    def n(self) -> int:
        """The number of rows."""
        return len(self.axes)

    @property
    def q(self) -> int:
        """The true number of axes."""
        return self.axes.shape[1]

    @property
    def truth(self) -> NDArray[np.bool_]:
        """Whether each column is relevant, in the order of the columns."""
        return np.array([name in self.relevant for name in self.columns])

    def true_axes(self, rows: Ints) -> tuple[Array, NDArray[np.bool_]]:
        """Return the true axes of some rows, and which of these rows have their true cells."""
        return self.axes[rows], np.ones(len(rows), dtype=bool) if self.spoiled is None else ~self.spoiled[rows]

    def encoded(self) -> Encoded:
        """Return the problem as numbers. Text with more than MAX_LEVELS levels is left out."""
        known = np.ones(self.n, dtype=bool)
        target: Array | Ints | None = None
        if self.target is not None and self.target.dtype.kind == "U":
            known = self.target != ""
            target = np.unique(self.target[known], return_inverse=True)[1]
        elif self.target is not None:
            target = np.asarray(self.target, dtype=np.float64)
        rows = np.flatnonzero(known)
        parts: list[tuple[str, Array]] = []
        for name, values in self.columns.items():
            parts += [(name, part) for part in _as_numbers(values[rows])]
        return Encoded(np.column_stack([part for _, part in parts]), target, [name for name, _ in parts], rows)


def planted(
    rng: np.random.Generator,
    X: Array,
    target: Array | NDArray[np.str_] | None,
    relevant: Ints,
    axes: Array,
    collinear: Ints | None = None,
    clusters: int | None = None,
) -> PlantedProblem:
    """Return the problem with the columns of X in random order, called x0, x1, …."""
    order = rng.permutation(X.shape[1])
    place = np.argsort(order)
    return PlantedProblem(
        {f"x{number}": X[:, column] for number, column in enumerate(order)},
        target,
        frozenset(f"x{number}" for number in place[relevant]),
        axes.reshape(len(X), -1),
        frozenset(f"x{number}" for number in place[[] if collinear is None else collinear]),
        clusters,
    )


def _as_numbers(values: Column) -> list[Array]:
    if values.dtype.kind != "U":
        numbers = np.asarray(values, dtype=np.float64)
        return [np.where(np.isnan(numbers), np.nanmedian(numbers), numbers)]
    levels = np.unique(values)
    return [(values == level).astype(np.float64) for level in levels] if len(levels) <= MAX_LEVELS else []
