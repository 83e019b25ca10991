"""Centring to 0 and scaling to standard deviation 1, for columns of any offset and scale."""

import numpy as np

from ism_core.arrays import Array
from ism_core.errors import InvalidInput


def standardised(X: Array) -> tuple[Array, Array, Array]:
    """(X − mean) / scale, mean and scale. A constant column has scale 1 and becomes 0."""
    with np.errstate(over="ignore", invalid="ignore"):
        mean = X.mean(axis=0)
        mean = mean + (X - mean).mean(axis=0)  # the second pass takes off what the first one rounded away
        centred = X - mean
        scale = centred.std(axis=0)
    if not np.isfinite(scale).all():
        column = int(np.argmin(np.isfinite(scale)))
        raise InvalidInput(
            "X",
            f"Column {column} of X holds values up to {np.abs(X[:, column]).max():.3g},"
            " too large to standardise; rescale it.",
        )
    constant = (np.ptp(X, axis=0) == 0) | (scale <= 10 * np.finfo(float).eps * np.abs(mean))
    scale = np.where(constant, 1.0, scale)
    centred[:, constant] = 0
    return centred / scale, mean, scale
