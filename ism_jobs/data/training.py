"""The training data of a job: its features as a matrix, and its target, scores or clustering as arrays.

Rows without a target are left out here. `worker/pipeline/prepare.py` fills in missing values of features.
"""

from dataclasses import dataclass
from typing import Any, Self, TypeAlias

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ism_jobs.checks import TargetKind, column_roles
from ism_jobs.data.copies import copies_of
from ism_jobs.data.encoding import Encoding
from ism_jobs.data.source import Array, is_missing
from ism_jobs.data.warnings import class_warnings, dropped_warnings, filled_warnings, left_out_warnings
from ism_jobs.errors import FieldError, InvalidSpec
from ism_jobs.sentences import listed
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
    warnings: tuple[str, ...] = ()  # on columns and rows that are left out, and on values that are filled in

    @classmethod
    def of(cls, table: pa.Table, spec: JobSpec, description: Description) -> Self:
        """Encode the features; leave out rows without a target and, with "missing": "drop", incomplete rows."""
        roles = column_roles(spec, description)
        targets = roles.guidance if isinstance(spec, SupervisedSpec) else ()
        rows, total = np.arange(table.num_rows), table.num_rows
        if spec.missing != "refuse" and targets:
            lacking = np.logical_or.reduce([is_missing(table.column(name)) for name in targets])
            if lacking.any():
                rows, table = rows[~lacking], table.filter(pa.array(~lacking))
        with_target = len(rows)
        if with_target < 2:
            sentence = f"Only {with_target} of {total} rows have a value in all targets; at least 2 are needed."
            raise InvalidSpec(sentence, [FieldError("target", sentence)])
        copies = (
            copies_of(table, roles.features, [table.column(name) for name in targets])
            if spec.features == "auto"
            else []
        )
        features = [name for name in roles.features if name not in copies]
        if not features:
            sentence = f"All features copy the target: {listed(copies, quoted=True)}. Name those to use in features."
            raise InvalidSpec(sentence, [FieldError("features", sentence)])
        encoding = _fit(table, features, spec, description)
        X = encoding.encode(table)
        guidance, reference = _values(table, roles.guidance), _values(table, roles.reference)
        if spec.missing == "drop":
            complete = np.flatnonzero(~np.isnan(X).any(axis=1))
            if len(complete) < len(rows):
                rows, X = rows[complete], X[complete]
                guidance = None if guidance is None else guidance[complete]
                reference = None if reference is None else reference[complete]
            if len(rows) < 2:
                sentence = (
                    f'"missing": "drop" leaves {len(rows)} of the {total} rows; at least 2 are needed.'
                    ' Use "auto", or leave out the features with the most missing values.'
                )
                raise InvalidSpec(sentence, [FieldError("missing", sentence)])
        left_out = [*roles.left_out, *((name, "it is a copy of the target") for name in copies)]
        warnings = [
            *left_out_warnings(left_out),
            *dropped_warnings(total, with_target, len(rows)),
            *filled_warnings(table, encoding, spec.missing),
            *class_warnings(encoding, spec),
        ]
        return cls(rows, encoding, X, guidance, roles.guidance_kind, reference, tuple(warnings))


def _fit(table: pa.Table, features: list[str], spec: JobSpec, description: Description) -> Encoding:
    formats = {name: description.column(name).date_format for name in features}
    return Encoding.fit(
        table,
        features,
        spec.categorical,
        dates={name: format for name, format in formats.items() if format is not None},
        in_parts=spec.dates == "parts",
        missing_level=spec.missing == "auto",
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
