"""Labels, targets or scores of the rows, and the factor of the kernel between them."""

from functools import cached_property
from numbers import Real
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.spatial.distance import cdist

from ism_core.arrays import Array, Ints
from ism_core.errors import InvalidInput
from ism_core.kernels import median_distance
from ism_core.linalg import standardized

Kind = Literal["auto", "classes", "values"]
TargetKernel = Literal["gaussian", "linear"]

CHOLESKY_TOLERANCE = 1e-6  # share of the kernel's trace that its factor may leave out
MANY_CLASSES = 0.5  # classes per row above which a warning suggests that y holds measurements
FEW_VALUES = 20  # floats that are whole numbers are classes if they have at most this many distinct values
LARGEST_RANK = 300  # most columns of the factor; the kernel of several columns of values has no low rank


class Targets:
    """One class label, or one or several real values, for each row; rows may have none.

    One column of text, booleans or integers holds classes. So does one of floats that are whole numbers with at most 20
    distinct values. Other numbers, and several columns, are real values. `kind` overrides this. The service differs: it
    reads integers with more than 20 distinct values as real values.
    """

    def __init__(self, values: ArrayLike, name: str, kind: Kind = "auto") -> None:
        if kind not in ("auto", "classes", "values"):
            raise InvalidInput("kind", f'kind is {kind!r}; it must be "auto", "classes" or "values".')
        if values is None:
            raise InvalidInput(
                name, f"{name} is None; this paradigm requires {name} to be passed, with one value for each row."
            )
        given = np.asarray(values)
        if given.dtype.kind in "US":  # keeps None and NaN beside text from becoming text
            given = np.asarray(values, dtype=object)
        if np.iscomplexobj(given):
            raise InvalidInput(name, f"{name} holds complex numbers, and only real ones are supported.")
        if given.ndim == 2 and given.shape[1] == 1:
            given = given[:, 0]
        if given.ndim not in (1, 2):
            raise InvalidInput(
                name,
                f"{name} must have one value or one row of numbers for each row of X, not the shape {given.shape}.",
            )
        self.name = name
        self.rows = len(given)
        self.missing = absent(given)
        self.codes: Ints | None = None
        self._real: Array | None = None
        if kind == "classes" or (kind == "auto" and _is_categorical(given[~self.missing])):
            self.codes = self._encoded(given)
        else:
            self._real = self._numbers(given)

    @property
    def classes(self) -> int:
        """Number of classes; 0 for real values."""
        return 0 if self.codes is None else int(self.codes.max(initial=-1)) + 1

    @property
    def values(self) -> Array | None:
        """The real values, one row for each row of X; None for classes."""
        return self._real

    def restricted(self, rows: Ints) -> "Targets":
        """Return the targets of some of the rows; classes without any of these rows disappear."""
        if self.codes is None:
            assert self._real is not None
            return Targets(self._real[rows], self.name, "values")
        known = np.where(self.missing, np.nan, self.codes)
        return Targets(known[rows], self.name, "classes")

    def without(self, rows: Ints) -> "Targets":
        """Return the classes without those of some rows; classes without any other row disappear."""
        assert self.codes is not None
        known = np.where(self.missing, np.nan, self.codes)
        known[rows] = np.nan
        return Targets(known, self.name, "classes")

    def check(self, n: int) -> None:
        """Raise InvalidInput if the targets do not fit n rows or do not vary."""
        if self.rows != n:
            raise InvalidInput(
                self.name, f"{self.name} has {self.rows} value(s) but X has {n} rows; there must be one for each row."
            )
        known = n - int(self.missing.sum())
        if known == 0:
            raise InvalidInput(self.name, f"{self.name} has no value in any of the {n} rows; at least 2 rows need one.")
        if self.codes is not None and self.classes < 2:
            raise InvalidInput(
                self.name,
                f"{self.name} has {self.classes} class in its {known} known value(s); at least 2 classes are needed.",
            )
        if self._real is not None and (known < 2 or np.ptp(self._real[~self.missing], axis=0).max(initial=0) == 0):
            raise InvalidInput(self.name, f"{self.name} is the same number in its {known} known row(s); it must vary.")

    def warnings(self) -> list[str]:
        """Return warnings about how the values were read."""
        if self.classes > MANY_CLASSES * self.rows:
            return [
                f"{self.name} has {self.classes} distinct values in {self.rows} rows and was read as class labels;"
                ' if they are measurements, pass kind="values".'
            ]
        return []

    def real_factor(self, kernel: TargetKernel = "gaussian") -> Array:
        """Return a centered L with LLᵀ = H K H, K a kernel between standardized values; zero for missing values."""
        assert self._real is not None
        known = ~self.missing
        values = standardized(self._real[known], self.name)[0]
        if kernel == "linear":
            return self._on_all_rows(values)
        return self._on_all_rows(cholesky(values, median_distance(values, np.random.default_rng(0)))[0])

    @cached_property
    def unit_factor(self) -> Array:
        """A centered U whose U Uᵀ weighs no direction by more than 1."""
        if self.codes is None:
            factor = self.real_factor()
            return factor / np.linalg.norm(factor, ord=2)
        codes = self.codes[~self.missing]
        indicators = np.eye(self.classes)[codes]
        return self._on_all_rows(indicators / np.sqrt(indicators.sum(axis=0)))

    def _on_all_rows(self, factor: Array) -> Array:
        everywhere = np.zeros((self.rows, factor.shape[1]))
        everywhere[~self.missing] = factor - factor.mean(axis=0)
        return everywhere

    def _encoded(self, given: NDArray[Any]) -> Ints:
        if given.ndim != 1:
            raise InvalidInput(self.name, f"{self.name} has {given.shape[1]} columns, but labels must be one column.")
        known = given[~self.missing]
        try:
            found = np.unique(known, return_inverse=True)[1]
        except TypeError:  # labels of several types cannot be sorted
            found = np.unique([f"{type(label).__name__} {label}" for label in known], return_inverse=True)[1]
        codes = np.zeros(self.rows, dtype=np.intp)
        codes[~self.missing] = found
        return codes

    def _numbers(self, given: NDArray[Any]) -> Array:
        try:
            numbers = given.astype(np.float64)
        except (TypeError, ValueError):
            raise InvalidInput(
                self.name, f"{self.name} must hold numbers to be read as real values; it holds {given.dtype} values."
            ) from None
        if np.isinf(numbers).any():
            raise InvalidInput(
                self.name,
                f"{self.name} holds infinity, first in row {np.argwhere(np.isinf(numbers))[0][0]}; it must be finite.",
            )
        return numbers.reshape(self.rows, -1)


def absent(given: NDArray[Any]) -> NDArray[np.bool_]:
    """Tell which rows have no target: None, NaN, or NaT in any column."""
    gone: NDArray[np.bool_]
    if given.dtype == object:
        gone = np.array([_is_absent(value) for value in given.ravel()], dtype=bool).reshape(given.shape)
    elif given.dtype.kind in "fcmM":
        gone = given != given  # NaN and NaT
    else:
        gone = np.zeros(given.shape, dtype=bool)
    return np.asarray(gone.any(axis=1)) if given.ndim == 2 else gone


def _is_absent(value: Any) -> bool:
    if value is None:
        return True
    try:
        return bool(value != value)
    except TypeError:  # pandas' NA has no truth value
        return True


def _is_categorical(known: NDArray[Any]) -> bool:
    """Tell whether the values are classes: text, booleans, integers, or floats that are few distinct whole numbers."""
    if known.ndim == 2:
        return False
    if known.dtype == object:
        if not all(isinstance(value, Real) and not isinstance(value, bool) for value in known):
            return True
        known = known.astype(np.float64)
    if known.dtype.kind == "f":
        return bool((known == np.round(known)).all()) and len(np.unique(known)) <= FEW_VALUES
    return True


def cholesky(values: Array, sigma: float) -> tuple[Array, list[int]]:
    """Return L with L Lᵀ ≈ the Gaussian kernel matrix, by pivoted Cholesky factorization, and the pivots."""
    n = len(values)
    left = np.ones(n)
    columns: list[Array] = []
    pivots: list[int] = []
    while left.sum() > CHOLESKY_TOLERANCE * n and len(columns) < min(n, LARGEST_RANK):
        pivot = int(np.argmax(left))
        column = np.exp(cdist(values, values[pivot : pivot + 1], "sqeuclidean")[:, 0] / (-2 * sigma**2))
        for earlier in columns:
            column -= earlier[pivot] * earlier
        column /= np.sqrt(left[pivot])
        columns.append(column)
        pivots.append(pivot)
        left = np.maximum(left - column**2, 0)
    return np.column_stack(columns), pivots
