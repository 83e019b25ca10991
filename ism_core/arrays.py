"""Array types, and the one check that every table of numbers passes before it is used."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ism_core.errors import InvalidInput

Array = NDArray[np.float64]
Ints = NDArray[np.intp]


def as_table(X: ArrayLike, name: str = "X", min_rows: int = 2) -> Array:
    """X as a C-ordered n×d array of finite float64 numbers."""
    given = np.asarray(X)
    if given.ndim != 2:
        raise InvalidInput(
            name, f"{name} must be a table of rows and columns (2 dimensions), not an array of shape {given.shape}."
        )
    if not np.issubdtype(given.dtype, np.number) and given.dtype != bool:
        raise InvalidInput(
            name,
            f"{name} must hold numbers; column {_first_text_column(given)} holds {given.dtype} values."
            " Encode it or drop it.",
        )
    if np.iscomplexobj(given):
        raise InvalidInput(name, f"{name} holds complex data, and only real numbers are supported.")
    rows, columns = given.shape
    if rows < min_rows:
        raise InvalidInput(name, f"{name} has {rows} sample(s) (n_samples = {rows}); at least {min_rows} are needed.")
    if columns < 1:
        raise InvalidInput(name, f"{name} has 0 feature(s) (shape={given.shape}) while a minimum of 1 is required.")
    table = np.ascontiguousarray(given, dtype=np.float64)
    finite = np.isfinite(table)
    if not finite.all():
        row, column = np.argwhere(~finite)[0]
        raise InvalidInput(
            name,
            f"{name} has {np.count_nonzero(~finite)} value(s) that are NaN or infinity,"
            f" the first in row {row}, column {column}. Drop or fill them.",
        )
    return table


def _first_text_column(table: NDArray[Any]) -> int:
    for column in range(table.shape[1] if table.dtype == object else 0):
        try:
            table[:, column].astype(np.float64)
        except (TypeError, ValueError):
            return column
    return 0
