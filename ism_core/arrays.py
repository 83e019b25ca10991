"""Array types, the validation of every table of numbers, the input of estimators, and scratch arrays."""

import threading
import warnings
from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import issparse
from sklearn.utils.validation import check_array, validate_data

from ism_core.engines import LOCAL
from ism_core.errors import InvalidInput

Array = NDArray[np.float64]
Ints = NDArray[np.intp]
Tile = NDArray[Any]  # of either precision
Dtype = type[np.float64] | type[np.float32]

PREPARE_ADVICE = 'It must be "auto", None or a list of columns.'
BLOCK = 256  # rows that stay in the cache for a second pass


def as_table(X: ArrayLike, name: str = "X", min_rows: int = 2) -> Array:
    """Return X as a C-ordered n×d array of finite float64 numbers, or raise InvalidInput."""
    given = _as_array(X, name)
    if given.ndim != 2:
        raise InvalidInput(
            name, f"{name} must be a table of rows and columns (2 dimensions), not an array of shape {given.shape}."
        )
    rows, columns = given.shape
    if rows < min_rows:
        raise InvalidInput(name, f"{name} has {rows} sample(s) (n_samples = {rows}); at least {min_rows} are needed.")
    if columns < 1:
        raise InvalidInput(name, f"{name} has 0 feature(s) (shape={given.shape}) while a minimum of 1 is required.")
    table = _as_numbers(given, name)
    if not np.isfinite(extremes(table)).all():
        finite = np.isfinite(table)
        row, column = np.argwhere(~finite)[0]
        raise InvalidInput(
            name,
            f"{name} has {np.count_nonzero(~finite)} value(s) that are NaN or infinity,"
            f" the first in row {row}, column {column}. Drop or fill them.",
        )
    return table


def extremes(table: Array) -> tuple[float, float]:
    """Return the smallest and the largest number in one pass; NaN if there is one."""
    smallest, largest = np.array(LOCAL.run(_extremes, -(-len(table) // BLOCK), table)).T
    return float(smallest.min()), float(largest.max())


def _extremes(share: list[int], table: Array) -> tuple[float, float]:
    blocks = [table[index * BLOCK : (index + 1) * BLOCK] for index in share]
    smallest, largest = np.array([(block.min(), block.max()) for block in blocks]).T
    return float(smallest.min()), float(largest.max())


def _as_array(X: ArrayLike, name: str) -> NDArray[Any]:
    if issparse(X):
        raise InvalidInput(name, f"{name} is a sparse matrix; give it as a dense one, such as {name}.toarray().")
    if np.ma.is_masked(X):
        raise InvalidInput(name, f"{name} has masked values; fill them or drop their rows.")
    try:
        return np.asarray(X)
    except ValueError:
        raise InvalidInput(
            name, f"{name} has rows of different lengths; each must have the same number of values."
        ) from None


def _as_numbers(given: NDArray[Any], name: str) -> Array:
    if np.iscomplexobj(given):
        raise InvalidInput(name, f"{name} holds complex data, and only real numbers are supported.")
    if given.dtype.kind in "fiub":
        return np.ascontiguousarray(given, dtype=np.float64)
    for column in range(given.shape[1]):
        if given.dtype != object or any(isinstance(value, str) for value in given[:, column]):
            kind = "text" if given.dtype.kind in "OUS" else str(given.dtype)
            raise InvalidInput(name, f"{name} must hold numbers; column {column} holds {kind}. Encode it or drop it.")
    try:
        return np.ascontiguousarray(given, dtype=np.float64)
    except (TypeError, ValueError):
        raise InvalidInput(
            name, f"{name} must hold numbers; some of its values are neither numbers nor text."
        ) from None


def is_frame(X: object) -> bool:
    """Tell whether X is a table with named columns, such as a frame of pandas, polars or pyarrow."""
    return hasattr(X, "columns") and (hasattr(X, "__dataframe__") or hasattr(X, "__arrow_c_stream__"))


def named(values: Array, names: Any, title: str) -> Any:
    """Return numbers as a pandas series."""
    from pandas import Series

    return Series(values, index=list(names), name=title)


class PreparedInputMixin:
    """The input of an estimator with the parameter `prepare`: arrays as they are, frames encoded as numbers."""

    prepare: Literal["auto"] | Sequence[str] | None
    features_: NDArray[Any]

    def _learned_input(self, X: Any, target: Any) -> Array:
        """Return the rows to fit; learn the encoding of a frame, unless it is switched off or not installed."""
        if isinstance(self.prepare, str) and self.prepare != "auto":
            raise InvalidInput("prepare", f'prepare is "{self.prepare}". {PREPARE_ADVICE}')
        if isinstance(self.prepare, bool) or (self.prepare is not None and not len(self.prepare)):
            raise InvalidInput("prepare", f"prepare is {self.prepare}. {PREPARE_ADVICE}")
        self._is_pandas = type(X).__module__.split(".")[0] == "pandas" and is_frame(X)
        self._encoding = None if self.prepare is None or not is_frame(X) else _frame_encoding()
        if self._encoding is None:
            table = self._validated(X, ensure_min_samples=2)
            names = [f"x{column}" for column in range(table.shape[1])]
            self.features_ = np.array(getattr(self, "feature_names_in_", names), dtype=object)
            return table
        validate_data(self, X, skip_check_array=True)
        columns = None if self.prepare == "auto" else list(self.prepare or ())
        self._encoding, table, notes = self._encoding.fit(X, columns, target)
        self.features_ = np.array(self._encoding.names, dtype=object)
        _warn(notes, stacklevel=5)
        return np.asarray(check_array(table, ensure_min_samples=2))

    def _learned_names(self, names: list[str] | None, columns: int) -> None:
        """Learn the names of the features of a table in partitions, which has no encoding."""
        self._is_pandas, self._encoding, self.n_features_in_ = False, None, columns
        self.features_ = np.array(names or [f"x{column}" for column in range(columns)], dtype=object)
        if names is not None:
            self.feature_names_in_ = self.features_
        elif hasattr(self, "feature_names_in_"):
            del self.feature_names_in_

    def _input(self, X: Any) -> Array:
        """Return rows to transform."""
        if self._encoding is None:
            return self._validated(X, reset=False)
        validate_data(self, X, reset=False, skip_check_array=True)
        table, notes = self._encoding.encode(X, getattr(self, "feature_names_in_", range(X.shape[1])))
        _warn(notes, stacklevel=4)
        return np.asarray(check_array(table))

    def _validated(self, X: Any, **options: Any) -> Array:
        try:
            return np.asarray(validate_data(self, X, dtype=np.float64, **options))
        except ValueError as error:
            if "could not convert string" not in str(error):
                raise
            advice = 'prepare="auto" encodes text in frames, if ism-core[tables] is installed; else encode it first.'
            raise InvalidInput("X", f"X must hold numbers: {error}. {advice}") from None


def _frame_encoding() -> Any:
    """Return the class that encodes frames; None if the packages that it needs are not installed."""
    try:
        from ism_jobs.data import FrameEncoding
    except ModuleNotFoundError:  # pyarrow or pydantic
        return None
    return FrameEncoding


def _warn(texts: Sequence[str], stacklevel: int) -> None:
    """Warn at the line that calls the estimator."""
    for text in texts:
        warnings.warn(text, UserWarning, stacklevel=stacklevel)


def is_whole(value: object) -> bool:
    """Tell whether a value is an integer and not a boolean."""
    return isinstance(value, int | np.integer) and not isinstance(value, bool)


class Buffers(threading.local):
    """Scratch arrays of one thread: one for each name and precision, as large as the largest request so far."""

    def __init__(self) -> None:
        self._memory: dict[tuple[str, Dtype], Tile] = {}

    def __call__(self, name: str, dtype: Dtype, rows: int, columns: int) -> Tile:
        memory = self._memory.get((name, dtype))
        if memory is None or len(memory) < rows * columns:
            memory = self._memory[name, dtype] = np.empty(rows * columns, dtype)
        return memory[: rows * columns].reshape(rows, columns)


buffers = Buffers()
