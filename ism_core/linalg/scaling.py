"""Preprocessing of the rows before they are projected: gross cells, centering and scaling."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ism_core.arrays import Array, Ints, as_table
from ism_core.errors import InvalidInput
from ism_core.linalg.whitening import Whitening

Scale = Literal["standard", "whiten", "none"]
SCALES: tuple[Scale, ...] = get_args(Scale)
NORMAL_TAIL = 2.44  # 90 % quantile over median of the absolute deviations from the median, for a normal column
TAIL_POWER = 2  # a cell is gross if it exceeds that quantile by this power of their ratio: 9.8 deviations if normal
MAX_GROSS_SHARE = 0.025  # of the cells of a column; more cells far outside are a group of rows, such as a rare class
MAX_QUANTILE_ROWS = 10_000  # rows that the quantiles come from; more would only cost time
MAX_NAMED = 8  # columns with gross cells that a warning names


@dataclass(frozen=True)
class Scaling:
    """The map x → L((clip(x) − mean) / scale), learned from training rows."""

    mean: Array
    scale: Array
    whitening: Whitening | None = None  # L; None stands for the identity
    limits: Array | None = None  # 2×d, smallest and largest value of each column, to clip with; None to clip nothing

    @staticmethod
    def learned(X: ArrayLike, how: Scale, codes: Ints | None = None) -> "tuple[Scaling, Array]":
        """Return the scaling of these rows and the scaled rows; "whiten" whitens within classes if codes are given."""
        if how not in SCALES:
            raise InvalidInput("scale", f'scale is {how!r}; it must be "standard", "whiten" or "none".')
        if how == "none":
            table = as_table(X, min_rows=1)
            d = table.shape[1]
            return Scaling(np.zeros(d), np.ones(d)), table
        table = as_table(X, min_rows=1)
        limits = gross_limits(table)
        rows, mean, scale = standardized(clipped(table, limits))
        if how == "standard":
            return Scaling(mean, scale, None, limits), rows
        whitening = Whitening.of(rows, codes)
        return Scaling(mean, scale, whitening, limits), whitening.times(rows.T).T

    def apply(self, X: Array) -> Array:
        """Scale other rows in the same way."""
        rows: Array = (clipped(X, self.limits) - self.mean) / self.scale
        return rows if self.whitening is None else self.whitening.times(rows.T).T

    def warnings(self, X: Array, names: Sequence[str]) -> list[str]:
        """Name the columns of the training rows that have gross cells, and the number of these cells."""
        return gross_warnings(self.gross_cells(X), names)

    def gross_cells(self, X: Array) -> Ints:
        """Return the number of gross cells in each column of the training rows."""
        low, high = (-np.inf, np.inf) if self.limits is None else self.limits
        counts: Ints = ((low > X) | (high < X)).sum(axis=0)
        return counts

    def outside(self, W: Array) -> Array:
        """Turn W for scaled rows into W for standardized features, which gives the same projection."""
        return W if self.whitening is None else self.whitening.times(W)

    def inside(self, W: Array) -> Array:
        """Turn W for standardized features into W for scaled rows."""
        return W if self.whitening is None else self.whitening.solve(W)


def gross_warnings(counts: Array | Ints, names: Sequence[str]) -> list[str]:
    """Return a warning that names the columns with gross cells; `counts` has the number of these cells."""
    columns = [f"{name} ({count:,})" for name, count in zip(names, counts, strict=True) if count]
    others = f" and {len(columns) - MAX_NAMED:,} other columns" if len(columns) > MAX_NAMED else ""
    if not columns:
        return []
    return [
        f"{counts.sum():,} cells far outside the others of their column were moved to the nearest other value:"
        f" {', '.join(columns[:MAX_NAMED])}{others}. Check these cells."
        ' To use them as they are, scale the table yourself and set scale to "none".'
    ]


def standardized(X: ArrayLike, name: str = "X") -> tuple[Array, Array, Array]:
    """Return (X − mean) / scale, mean and scale. A constant column has scale 1 and becomes 0."""
    table = as_table(X, name, min_rows=1)
    with np.errstate(over="ignore", invalid="ignore"):
        mean = table.mean(axis=0)
        mean = mean + (table - mean).mean(axis=0)  # a second pass removes the rounding error of the first
        centered = table - mean
        scale = centered.std(axis=0)
    if not np.isfinite(scale).all():
        column = int(np.argmin(np.isfinite(scale)))
        raise InvalidInput(
            name,
            f"Column {column} of {name} holds values up to {np.abs(table[:, column]).max():.3g},"
            " too large to standardize; rescale it.",
        )
    constant = is_constant(table) | (scale == 0)  # 0 if the squared deviations underflow
    scale = np.where(constant, 1.0, scale)
    centered[:, constant] = 0
    return centered / scale, mean, scale


def gross_limits(X: Array) -> Array | None:
    """Return the smallest and largest value of each column without its gross cells; None if there are no gross cells.

    A few gross cells, such as typing errors, would inflate the standard deviation of their column. A cell is gross if
    its deviation from the median exceeds b (b/a)², where a and b are the median and the 90 % quantile of all absolute
    deviations. Heavy tails have a large b/a, which spares them; it counts at least as much as that of a normal column.
    If a = 0, as for indicators of levels, or if many cells are that far, no cell is gross. Columns without gross cells
    have limits of ±∞.
    """
    low, high = far_limits(X[:: -(-len(X) // MAX_QUANTILE_ROWS)])
    limits = np.repeat([[-np.inf], [np.inf]], X.shape[1], axis=1)
    for column in np.flatnonzero((X.min(axis=0) < low) | (X.max(axis=0) > high)):
        values = X[:, column]
        kept = values[(values >= low[column]) & (values <= high[column])]
        if enough_kept(len(kept), len(values)):
            limits[:, column] = kept.min(), kept.max()
    return limits if np.isfinite(limits).any() else None


def far_limits(sample: Array) -> tuple[Array, Array]:
    """Return the limits beyond which cells are gross if they are few; ±∞ for columns that have no gross cells."""
    center = np.median(sample, axis=0)
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        typical, large = np.quantile(abs(sample - center), [0.5, 0.9], axis=0)
        farthest = large * np.maximum(large / typical, NORMAL_TAIL) ** TAIL_POWER
        low, high = center - farthest, center + farthest
    judged = (typical > 0) & np.isfinite(farthest)
    return np.where(judged, low, -np.inf), np.where(judged, high, np.inf)


def enough_kept(kept: Any, count: int) -> Any:
    """Tell whether so few of `count` cells are far outside that they are gross, and not a group of rows."""
    return kept >= (1 - MAX_GROSS_SHARE) * count


def clipped(X: Array, limits: Array | None) -> Array:
    """Return the rows with gross cells moved to the limits of their columns."""
    return X if limits is None else np.clip(X, *limits)


def is_constant(X: Array) -> NDArray[np.bool_]:
    """Tell which columns vary by no more than the rounding of their values."""
    return is_constant_between(X.min(axis=0), X.max(axis=0))


def is_constant_between(smallest: Array, largest: Array) -> NDArray[np.bool_]:
    """Tell which columns vary by no more than rounding, given their smallest and largest values."""
    with np.errstate(over="ignore"):
        constant: NDArray[np.bool_] = largest - smallest <= 10 * np.finfo(float).eps * np.maximum(
            abs(largest), abs(smallest)
        )
    return constant
