"""The training data of a job: its features as a matrix, and its target, scores or clustering as arrays.

Rows with missing values are left out here. `worker/pipeline/prepare.py` fills missing values.
"""

from dataclasses import dataclass
from typing import Any, Self, TypeAlias

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ism_jobs.checks import TargetKind, column_roles
from ism_jobs.data.onehot import Array, Encoding
from ism_jobs.errors import FieldError, InvalidSpec
from ism_jobs.spec import JobSpec, SupervisedSpec
from ism_jobs.tables import Description

# One value for each row: text (None if missing) or numbers (NaN if missing); or several columns of numbers.
Guidance: TypeAlias = NDArray[Any]


@dataclass(frozen=True, eq=False)
class TrainingData:
    """The rows that a job learns from."""

    rows: NDArray[np.int64]  # their positions in the table
    encoding: Encoding
    X: Array  # encoded features, NaN if missing
    guidance: Guidance | None  # target, scores or clustering
    guidance_kind: TargetKind | None
    reference: Guidance | None

    @classmethod
    def of(cls, table: pa.Table, spec: JobSpec, description: Description) -> Self:
        """Encode the features; with "missing": "drop", leave out rows with missing values."""
        roles = column_roles(spec, description)
        encoding = Encoding.fit(table, roles.features, spec.categorical)
        X = encoding.encode(table)
        guidance = _values(table, roles.guidance)
        rows = np.arange(table.num_rows)
        if spec.missing == "drop":
            lacking = np.isnan(X).any(axis=1)
            if isinstance(spec, SupervisedSpec) and guidance is not None:
                lacking |= _missing(guidance)
            rows = rows[~lacking]
            if len(rows) < 2:
                sentence = (
                    f'"missing": "drop" leaves {len(rows)} of the {table.num_rows} rows; at least 2 are needed.'
                    ' Use "mean", or leave out the features with the most missing values.'
                )
                raise InvalidSpec(sentence, [FieldError("missing", sentence)])
        reference = _values(table, roles.reference)
        return cls(
            rows=rows,
            encoding=encoding,
            X=X if len(rows) == len(X) else X[rows],
            guidance=None if guidance is None else guidance[rows],
            guidance_kind=roles.guidance_kind,
            reference=None if reference is None else reference[rows],
        )


def used_columns(spec: JobSpec, description: Description) -> list[str]:
    """Return the names of all columns that a job reads."""
    roles = column_roles(spec, description)
    return list(dict.fromkeys([*roles.features, *roles.guidance, *roles.reference]))


def _values(table: pa.Table, columns: tuple[str, ...]) -> Guidance | None:
    if not columns:
        return None
    arrays = [_array(table.column(name)) for name in columns]
    return arrays[0] if len(arrays) == 1 else np.column_stack(arrays)


def _array(column: pa.ChunkedArray) -> Guidance:
    if pa.types.is_string(column.type):
        return np.array(column.to_pylist(), dtype=object)
    values: Guidance = column.to_numpy(zero_copy_only=False)
    return values


def _missing(guidance: Guidance) -> NDArray[np.bool_]:
    if guidance.dtype == object:
        return np.array([value is None for value in guidance])
    return np.atleast_1d(np.isnan(guidance.reshape(len(guidance), -1)).any(axis=1))
