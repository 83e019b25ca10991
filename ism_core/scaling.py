"""Centring to 0 and scaling to standard deviation 1, for columns of any offset and scale."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ism_core.arrays import Array, as_table
from ism_core.errors import InvalidInput


def standardised(X: ArrayLike, name: str = "X") -> tuple[Array, Array, Array]:
    """(X − mean) / scale, mean and scale. A constant column has scale 1 and becomes 0."""
    table = as_table(X, name, min_rows=1)
    with np.errstate(over="ignore", invalid="ignore"):
        mean = table.mean(axis=0)
        mean = mean + (table - mean).mean(axis=0)  # the second pass takes off what the first one rounded away
        centred = table - mean
        scale = centred.std(axis=0)
    if not np.isfinite(scale).all():
        column = int(np.argmin(np.isfinite(scale)))
        raise InvalidInput(
            name,
            f"Column {column} of {name} holds values up to {np.abs(table[:, column]).max():.3g},"
            " too large to standardise; rescale it.",
        )
    constant = is_constant(table) | (scale == 0)  # 0 where the squares of the deviations are too small for a number
    scale = np.where(constant, 1.0, scale)
    centred[:, constant] = 0
    return centred / scale, mean, scale


def is_constant(X: Array) -> NDArray[np.bool_]:
    """Which columns never vary by more than the rounding of their values."""
    largest, smallest = X.max(axis=0), X.min(axis=0)
    with np.errstate(over="ignore"):
        constant: NDArray[np.bool_] = largest - smallest <= 10 * np.finfo(float).eps * np.maximum(
            abs(largest), abs(smallest)
        )
    return constant
