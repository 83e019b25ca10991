"""What is done to the rows before they are projected: centering, scaling and whitening, and how it shows in W."""

from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ism_core.arrays import Array, Ints, as_table
from ism_core.errors import InvalidInput
from ism_core.whitening import Whitening

Scale = Literal["standard", "whiten", "none"]
SCALES: tuple[Scale, ...] = get_args(Scale)


@dataclass(frozen=True)
class Scaling:
    """x → L((x − mean) / scale): learnt from some rows, good for others."""

    mean: Array
    scale: Array
    whitening: Whitening | None = None  # L; None: the identity

    @staticmethod
    def learnt(X: ArrayLike, how: Scale, codes: Ints | None = None) -> "tuple[Scaling, Array]":
        """The scaling of these rows, and the rows scaled; "whiten" whitens within the classes if they are given."""
        if how not in SCALES:
            raise InvalidInput("scale", f'scale is {how!r}; it must be "standard", "whiten" or "none".')
        if how == "none":
            table = as_table(X, min_rows=1)
            d = table.shape[1]
            return Scaling(np.zeros(d), np.ones(d)), table
        rows, mean, scale = standardized(X)
        if how == "standard":
            return Scaling(mean, scale), rows
        whitening = Whitening.of(rows, codes)
        return Scaling(mean, scale, whitening), whitening.times(rows.T).T

    def apply(self, X: Array) -> Array:
        """Other rows, scaled alike."""
        rows: Array = (X - self.mean) / self.scale
        return rows if self.whitening is None else self.whitening.times(rows.T).T

    def outside(self, W: Array) -> Array:
        """The W of scaled rows as one of the standardized features: (x − mean) / scale · outside(W) is the same."""
        return W if self.whitening is None else self.whitening.times(W)

    def inside(self, W: Array) -> Array:
        """The reverse of `outside`."""
        return W if self.whitening is None else self.whitening.undone(W)


def standardized(X: ArrayLike, name: str = "X") -> tuple[Array, Array, Array]:
    """(X − mean) / scale, mean and scale. A constant column has scale 1 and becomes 0."""
    table = as_table(X, name, min_rows=1)
    with np.errstate(over="ignore", invalid="ignore"):
        mean = table.mean(axis=0)
        mean = mean + (table - mean).mean(axis=0)  # the second pass takes off what the first one rounded away
        centered = table - mean
        scale = centered.std(axis=0)
    if not np.isfinite(scale).all():
        column = int(np.argmin(np.isfinite(scale)))
        raise InvalidInput(
            name,
            f"Column {column} of {name} holds values up to {np.abs(table[:, column]).max():.3g},"
            " too large to standardize; rescale it.",
        )
    constant = is_constant(table) | (scale == 0)  # 0 where the squares of the deviations are too small for a number
    scale = np.where(constant, 1.0, scale)
    centered[:, constant] = 0
    return centered / scale, mean, scale


def is_constant(X: Array) -> NDArray[np.bool_]:
    """Which columns never vary by more than the rounding of their values."""
    largest, smallest = X.max(axis=0), X.min(axis=0)
    with np.errstate(over="ignore"):
        constant: NDArray[np.bool_] = largest - smallest <= 10 * np.finfo(float).eps * np.maximum(
            abs(largest), abs(smallest)
        )
    return constant
