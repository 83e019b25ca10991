"""The first passes over a table in partitions: counts, means, scatter matrix, extremes; then rows picked by number."""

from dataclasses import dataclass, field
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from ism_core.arrays import Array, Ints
from ism_core.engines import Engine
from ism_core.errors import InvalidInput
from ism_core.objective.partitions.kept import Table
from ism_core.objective.partitions.passes import Place, total
from ism_core.objective.partitions.table import Block, Partitions

FAR_ROWS = 1_000  # rows far from the mean that are kept: they rule polynomial kernels


@dataclass
class Summary:
    """Statistics of the rows of some blocks; `+=` adds those of others."""

    places: dict[Place, int]  # the number of rows of each block
    mean: Array
    scatter: Array  # of the centered rows
    low: Array  # the smallest and the largest number of each column
    high: Array
    wrong: dict[Place, tuple[int, int, int]] = field(default_factory=dict)  # NaN or infinity: how many, first cell

    @staticmethod
    def of(block: Block, place: Place) -> "Summary":
        """Summarize a block; it can be passed to `total`."""
        X = np.asarray(block[0], dtype=np.float64)
        low, high = X.min(axis=0), X.max(axis=0)
        wrong = {}
        if not (np.isfinite(low).all() and np.isfinite(high).all()):
            cells = np.argwhere(~np.isfinite(X))
            wrong[place] = (len(cells), int(cells[0, 0]), int(cells[0, 1]))
            X = np.nan_to_num(X, nan=0.0, posinf=0.0, neginf=0.0)
        with np.errstate(over="ignore", invalid="ignore"):
            mean = X.mean(axis=0)
            centered = X - mean
            return Summary({place: len(X)}, mean, centered.T @ centered, low, high, wrong)

    def __iadd__(self, other: "Summary") -> Self:
        """Chan, Golub and LeVeque (1983)"""
        own, others = self.rows, other.rows
        apart = other.mean - self.mean
        self.mean = self.mean + apart * (others / (own + others))
        self.scatter += other.scatter
        self.scatter += np.multiply.outer(apart, apart * (own * others / (own + others)))
        self.low, self.high = np.minimum(self.low, other.low), np.maximum(self.high, other.high)
        self.places |= other.places
        self.wrong |= other.wrong
        return self

    @property
    def rows(self) -> int:
        """The number of rows."""
        return sum(self.places.values())

    def first_rows(self) -> dict[Place, int]:
        """Return the number of the first row of each block, with all blocks in order."""
        places = sorted(self.places)
        counts = [self.places[place] for place in places]
        return dict(zip(places, np.cumsum([0, *counts]).tolist(), strict=False))

    def check(self, fewest: int = 2) -> None:
        """Raise InvalidInput if there are too few rows, or cells that are not finite."""
        if self.rows < fewest:
            raise InvalidInput("X", f"X has {self.rows} row(s); at least {fewest} are needed.")
        if self.wrong:
            place = min(self.wrong)
            _, row, column = self.wrong[place]
            count = sum(count for count, _, _ in self.wrong.values())
            raise InvalidInput(
                "X",
                f"X has {count} value(s) that are NaN or infinity, the first in row {self.first_rows()[place] + row},"
                f" column {column}. Drop or fill them.",
            )


class Rows(NamedTuple):
    """Some rows in order, with their targets."""

    X: Array
    y: NDArray[Any] | None
    numbers: Ints  # of the rows among all rows

    def of(self, numbers: Ints) -> "Rows":
        """Return the rows with these numbers."""
        found = np.searchsorted(self.numbers, numbers)
        return Rows(self.X[found], None if self.y is None else self.y[found], numbers)


@dataclass
class Picked:
    """Rows with given numbers, and those farthest from the mean, of some blocks; `+=` adds those of others."""

    rows: list[Rows]
    far: list[tuple[Array, Rows]]  # squared distances to the mean, and the rows

    def __iadd__(self, other: "Picked") -> Self:
        self.rows += other.rows
        self.far = [_farthest([*self.far, *other.far])]
        return self

    @property
    def radius(self) -> float:
        """The largest squared distance of a row to the mean."""
        return max(float(squares.max(initial=0.0)) for squares, _ in self.far)


@dataclass(frozen=True)
class _Picking:
    numbers: Ints  # sorted
    first_rows: dict[Place, int]
    mean: Array

    def __call__(self, block: Block, place: Place) -> Picked:
        X, y = np.asarray(block[0], dtype=np.float64), block[1]
        first = self.first_rows[place]
        start, end = np.searchsorted(self.numbers, [first, first + len(X)])
        wanted = self.numbers[start:end] - first
        centered = X - self.mean
        squares = np.einsum("ij,ij->i", centered, centered)
        farthest = np.sort(np.argpartition(-squares, FAR_ROWS)[:FAR_ROWS]) if len(X) > FAR_ROWS else np.arange(len(X))

        def rows(chosen: Ints) -> Rows:
            return Rows(X[chosen], None if y is None else y[chosen], chosen + first)

        return Picked([rows(wanted)], [(squares[farthest], rows(farthest))])


def pick(table: Partitions | Table, summary: Summary, numbers: Ints, engine: Engine) -> tuple[Rows, Rows, float]:
    """Return the rows with these sorted numbers, the rows farthest from the mean, and the largest squared distance."""
    picked = total(table, _Picking(numbers, summary.first_rows(), summary.mean), engine)
    return _joined(picked.rows), _joined([rows for _, rows in picked.far]), picked.radius


def _farthest(parts: list[tuple[Array, Rows]]) -> tuple[Array, Rows]:
    squares, rows = np.concatenate([each for each, _ in parts]), _joined([each for _, each in parts], in_order=False)
    best = np.argsort(-squares, kind="stable")[:FAR_ROWS]
    return squares[best], Rows(rows.X[best], None if rows.y is None else rows.y[best], rows.numbers[best])


def _joined(parts: list[Rows], in_order: bool = True) -> Rows:
    numbers = np.concatenate([part.numbers for part in parts])
    order = np.argsort(numbers) if in_order else np.arange(len(numbers))
    y = None if parts[0].y is None else np.concatenate([part.y for part in parts if part.y is not None])[order]
    return Rows(np.concatenate([part.X for part in parts])[order], y, numbers[order])
