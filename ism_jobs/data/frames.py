"""Frames as numbers, for the estimators of ism_core: the columns are used as in a job with nothing set."""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import pyarrow as pa

from ism_jobs.checks import column_use
from ism_jobs.data.copies import copies_of
from ism_jobs.data.encoding import Encoding
from ism_jobs.data.imputation import imputed
from ism_jobs.data.source import Array
from ism_jobs.data.warnings import filled_warnings, left_out_warnings
from ism_jobs.errors import Problem
from ism_jobs.sentences import listed
from ism_jobs.tables import read_frame

ADVICE = "To use a column all the same, list the columns to use in prepare."


@dataclass(frozen=True, eq=False)
class FrameEncoding:
    """How the columns of a frame become numbers without missing values."""

    encoding: Encoding
    fill: Array  # medians of the training rows

    @classmethod
    def fit(cls, frame: Any, columns: Sequence[str] | None, y: Any = None) -> tuple[Self, Array, list[str]]:
        """Decide about the columns of a frame; return the encoding, the encoded rows and warnings.

        Parameters
        ----------
        columns
            The columns to use, whatever they hold. None leaves out row numbers, identifiers, dates, constants, texts
            with many levels, columns that are mostly missing, and copies of y.
        y
            One or more targets; None for a clustering.
        """
        with _value_errors():
            table, description = read_frame(frame)
            unknown = [name for name in columns or () if name not in table.schema.names]
            if unknown:
                raise ValueError(f"X has no columns {listed(unknown, quoted=True)}, which are listed in prepare.")
            named = columns is not None
            considered = [each for each in description.columns if columns is None or each.name in columns]
            uses = {each.name: column_use(each, description.rows, named=named) for each in considered}
            left_out = [(name, use.reason) for name, use in uses.items() if use.reason is not None]
            features = [name for name, use in uses.items() if use.reason is None]
            copies = [] if named else _copies(table, features, y)
            left_out += [(name, "it is a copy of y") for name in copies]
            features = [name for name in features if name not in copies]
            warnings = [*description.notes, *left_out_warnings(left_out, ADVICE)]
            if not features:
                raise ValueError(f"No column of X can be used. {' '.join(warnings)}")
            formats = {name: description.column(name).date_format for name in features}
            dates = {name: format for name, format in formats.items() if format is not None}
            encoding = Encoding.fit(table, features, "auto", dates=dates, missing_level=True)
            X = encoding.encode(table)
        warnings += filled_warnings(table, encoding, "auto")
        fill, filled = imputed(X, "median")
        assert fill is not None
        return cls(encoding, fill), filled, warnings

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the encoded features."""
        return self.encoding.names

    def encode(self, frame: Any, names: Iterable[object]) -> tuple[Array, list[str]]:
        """Return new rows as numbers, and notes on unknown values; `names` are the columns of an array."""
        with _value_errors():
            table, _ = read_frame(frame, [str(name) for name in names], text=self.encoding.texts)
            X = self.encoding.encode(table)
            return np.where(np.isnan(X), self.fill, X), self.encoding.notes(table)


def _copies(table: pa.Table, features: Sequence[str], y: Any) -> list[str]:
    if y is None:
        return []
    values = np.asarray(y)
    targets = [_target(column) for column in values.reshape(len(values), -1).T]
    if any(len(target) != table.num_rows for target in targets):
        return []  # the estimator refuses such a y
    return copies_of(table, features, targets)


def _target(values: Any) -> pa.ChunkedArray:
    if values.dtype.kind in "fiub":
        return pa.chunked_array([pa.array(values.astype(np.float64), from_pandas=True)])
    return pa.chunked_array([pa.array([None if each is None or each != each else str(each) for each in values])])


@contextmanager
def _value_errors() -> Iterator[None]:
    """Turn the errors of jobs into ValueError, as scikit-learn's users expect it."""
    try:
        yield
    except Problem as problem:
        raise ValueError(problem.detail) from None
