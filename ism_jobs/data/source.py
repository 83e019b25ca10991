"""How one column of a table becomes numbers, with training rows and with new ones alike."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from ism_jobs.checks import FeatureKind, date_parts, ordered, text_kind
from ism_jobs.tables import parse_dates

Array = NDArray[np.float64]

MISSING_LEVEL = "missing"  # the level of a missing text, if missing values are handled by themselves
SECONDS_PER_DAY = 86_400


@dataclass(frozen=True)
class Source:
    """A column of the table.

    levels: of its text, or None for a column of numbers or dates; ordinal levels come in ascending order
    kind: how it becomes numbers
    date_format: of its dates, or None
    has_missing_level: whether a missing text is the level MISSING_LEVEL
    """

    name: str
    levels: tuple[str, ...] | None = None
    kind: FeatureKind = "number"
    date_format: str | None = None
    has_missing_level: bool = False

    @classmethod
    def of_text(cls, name: str, column: Any, *, is_auto: bool, has_missing_level: bool) -> "Source":
        """Return the source of a text column, with the levels of these rows."""
        levels = sorted(level for level in pc.unique(column).to_pylist() if level is not None)
        kind: FeatureKind = text_kind(levels, len(levels)) if is_auto else "onehot"
        if kind == "ordinal":
            return cls(name, ordered(levels), kind)
        if has_missing_level and column.null_count:
            return cls(name, tuple(sorted({*levels, MISSING_LEVEL})), "onehot", has_missing_level=True)
        return cls(name, tuple(levels), kind)

    @property
    def names(self) -> list[str]:
        """The names of its encoded columns."""
        if self.kind == "onehot":
            return [f"{self.name}={level}" for level in self.levels or ()]
        if self.kind == "binary":
            return [f"{self.name}={(self.levels or ('', ''))[1]}"]
        if self.kind == "date_parts":
            return [f"{self.name}.{part}" for part in date_parts(self.date_format or "")]
        return [self.name]

    @property
    def width(self) -> int:
        """The number of its encoded columns."""
        return len(self.names)

    def encode(self, column: Any) -> Array:
        """Return the values of a column as an n×width array, with NaN for missing values.

        A level that the training rows do not have is missing in an ordinal column. In the others it is none of the
        levels: 0 in each feature of "onehot", and halfway between both levels of "binary".
        """
        if self.date_format is not None:
            return self._encode_dates(column)
        if self.levels is None:
            values: Array = column.to_numpy(zero_copy_only=False)
            return values[:, None]
        codes, gaps = self.codes(column), is_missing(column)
        if self.kind == "ordinal":
            return np.where(codes < 0, np.nan, codes.astype(np.float64))[:, None]
        if self.kind == "binary":
            return np.where(gaps, np.nan, np.where(codes < 0, 0.5, codes))[:, None]
        X = np.zeros((len(column), len(self.levels)))
        rows = np.flatnonzero(codes >= 0)
        X[rows, codes[rows]] = 1
        if not self.has_missing_level:
            X[gaps] = np.nan
        return X

    def codes(self, column: Any) -> NDArray[np.int64]:
        """Return the position of each value among the levels, −1 if it is none of them."""
        text = as_text(column)
        if self.has_missing_level:
            text = pc.fill_null(text, MISSING_LEVEL)
        places = pc.index_in(text, value_set=pa.array(self.levels, pa.string()))
        codes: NDArray[np.int64] = pc.fill_null(places, -1).to_numpy(zero_copy_only=False).astype(np.int64)
        return codes

    def unknown(self, column: Any) -> NDArray[np.int64]:
        """Return the rows whose value is known, but is neither a level nor a date in the format of this column."""
        if self.date_format is not None:
            is_known = ~np.isnan(self._encode_dates(column)[:, 0])
        elif self.levels is not None:
            is_known = self.codes(column) >= 0
        else:
            return np.empty(0, np.int64)
        return np.flatnonzero(~is_known & ~is_missing(column))

    def _encode_dates(self, column: Any) -> Array:
        if not pa.types.is_string(column.type):  # a column without values
            return np.full((len(column), self.width), np.nan)
        assert self.date_format is not None
        dates = parse_dates(column, self.date_format)
        seconds = pc.cast(dates, pa.int64()).to_numpy(zero_copy_only=False).astype(np.float64)
        if self.kind == "date":
            days: Array = seconds / SECONDS_PER_DAY
            return days[:, None]
        parts = {
            "year": pc.year(dates),
            "month": pc.month(dates),
            "weekday": pc.day_of_week(dates),
            "hour": pc.hour(dates),
        }
        names = date_parts(self.date_format)
        return np.column_stack([parts[name].to_numpy(zero_copy_only=False).astype(np.float64) for name in names])


def is_missing(column: Any) -> NDArray[np.bool_]:
    """Return which values are missing."""
    missing: NDArray[np.bool_] = column.is_null().to_numpy(zero_copy_only=False)
    return missing


def as_text(column: Any) -> Any:
    """Return a column as text. In a small table, a text column may hold only numbers, and "3" was read as 3."""
    if not pa.types.is_floating(column.type):
        return column
    return pa.array([None if value is None else _number_as_text(value) for value in column.to_pylist()], pa.string())


def _number_as_text(value: float) -> str:
    return str(int(value)) if value.is_integer() else repr(value)
