"""From a table and a spec to what is learnt from: numbers for the features, and what is known of each row."""

from dataclasses import dataclass
from typing import Any, Self, TypeAlias

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ism_jobs.checks.columns import Kind, roles
from ism_jobs.data.onehot import Array, Encoding
from ism_jobs.errors import FieldError, InvalidSpec
from ism_jobs.spec.paradigms import JobSpec, SupervisedSpec
from ism_jobs.tables import Description

Given: TypeAlias = NDArray[Any]  # one value a row: text (with None) or numbers (with NaN); several columns of numbers


@dataclass(frozen=True, eq=False)
class Design:
    """The rows that a job learns from."""

    rows: NDArray[np.int64]  # their places in the table
    encoding: Encoding
    X: Array  # encoded features; NaN is a missing value
    given: Given | None  # target, scores or clustering
    kind: Kind | None  # how that is read
    reference: Given | None

    @classmethod
    def of(cls, table: pa.Table, spec: JobSpec, description: Description) -> Self:
        """Encode the features, and with "missing": "drop" leave out the rows that lack something."""
        parts = roles(spec, description)
        encoding = Encoding.fit(table, parts.features, spec.categorical)
        X = encoding.encode(table)
        given = _values(table, parts.given)
        rows = np.arange(table.num_rows)
        if spec.missing == "drop":
            lacking = np.isnan(X).any(axis=1)
            if isinstance(spec, SupervisedSpec) and given is not None:
                lacking |= _missing(given)
            rows = rows[~lacking]
            if len(rows) < 2:
                sentence = (
                    f'"missing": "drop" leaves {len(rows)} of the {table.num_rows} rows; at least 2 are needed.'
                    ' Use "mean", or leave out the features that miss most.'
                )
                raise InvalidSpec(sentence, [FieldError("missing", sentence)])
        reference = _values(table, parts.reference)
        return cls(
            rows=rows,
            encoding=encoding,
            X=X if len(rows) == len(X) else X[rows],
            given=None if given is None else given[rows],
            kind=parts.kind,
            reference=None if reference is None else reference[rows],
        )


def columns_of(spec: JobSpec, description: Description) -> list[str]:
    """All columns that a job reads."""
    parts = roles(spec, description)
    return list(dict.fromkeys([*parts.features, *parts.given, *parts.reference]))


def _values(table: pa.Table, columns: tuple[str, ...]) -> Given | None:
    if not columns:
        return None
    arrays = [_array(table.column(name)) for name in columns]
    return arrays[0] if len(arrays) == 1 else np.column_stack(arrays)


def _array(column: pa.ChunkedArray) -> Given:
    if pa.types.is_string(column.type):
        return np.array(column.to_pylist(), dtype=object)
    values: Given = column.to_numpy(zero_copy_only=False)
    return values


def _missing(given: Given) -> NDArray[np.bool_]:
    if given.dtype == object:
        return np.array([value is None for value in given])
    return np.atleast_1d(np.isnan(given.reshape(len(given), -1)).any(axis=1))
