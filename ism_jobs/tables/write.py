"""Write tables as files: JSON, CSV, NPY, NPZ or Parquet."""

import csv
import io
import json
import math
import re
from collections.abc import Callable, Sequence
from types import MappingProxyType
from typing import Any, Literal

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

Format = Literal["json", "csv", "npy", "npz", "parquet"]

# The media type of each format.
FORMATS = MappingProxyType(
    {
        "json": "application/json",
        "csv": "text/csv; charset=utf-8",
        "npy": "application/x-npy",
        "npz": "application/x-npz",
        "parquet": "application/vnd.apache.parquet",
    }
)


# A spreadsheet may read a cell that starts with one of these characters as a formula. The last four characters are
# full-width signs.
FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)  # no formula, whatever its sign


def write_table(table: Any, format: Format, label_columns: Sequence[str] = ()) -> bytes:
    """Return the table as a file. NPY holds only number columns, without those that label the rows.

    NPZ has an array `column0`, `column1`, … for each column, and `header`, the bytes of a JSON object: `columns` has
    the names, `levels` the texts of each text column, whose array has their indices. A missing text is -1, a missing
    number NaN. It is the format that the page reads.
    """
    if format == "npy":
        return _npy(table, label_columns)
    writers: dict[str, Callable[[Any], bytes]] = {"json": _json, "csv": _csv, "npz": _npz, "parquet": _parquet}
    if format not in writers:
        raise ValueError(f"format is {format!r}; it must be one of {', '.join(FORMATS)}.")
    return writers[format](table)


def _json(table: Any) -> bytes:
    document = {"columns": table.column_names, "rows": list(zip(*_values(table, finite=True), strict=True))}
    return json.dumps(document, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode()


def _csv(table: Any) -> bytes:
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\r\n")  # RFC 4180
    writer.writerow(map(_escape_formula, table.column_names))
    columns = [
        list(map(_escape_formula, values)) if pa.types.is_string(column.type) else values
        for column, values in zip(table.columns, _values(table, finite=False), strict=True)
    ]
    writer.writerows(zip(*columns, strict=True))
    return text.getvalue().encode()


def _escape_formula(text: str | None) -> str | None:
    """Put an apostrophe before text that a spreadsheet would run as a formula, as OWASP advises.

    Numbers in a text column stay as they are.
    """
    is_formula = text is not None and text.startswith(FORMULA_STARTS) and not _NUMBER.fullmatch(text)
    return f"'{text}" if is_formula else text


def _npy(table: Any, label_columns: Sequence[str]) -> bytes:
    names = [
        field.name for field in table.schema if field.name not in label_columns and not pa.types.is_string(field.type)
    ]
    if not names:
        raise ValueError("The table has no number columns besides its labels, so there is no NPY of it.")
    columns = [_numbers(table.column(name)) for name in names]
    array = columns[0] if len(columns) == 1 else np.column_stack(columns)
    file = io.BytesIO()
    np.save(file, np.ascontiguousarray(array), allow_pickle=False)
    return file.getvalue()


def _npz(table: Any) -> bytes:
    arrays: dict[str, Any] = {}
    levels: dict[str, list[str]] = {}
    for place, (name, column) in enumerate(zip(table.column_names, table.columns, strict=True)):
        if pa.types.is_string(column.type):
            encoded = column.combine_chunks().dictionary_encode()
            levels[name] = encoded.dictionary.to_pylist()
            arrays[f"column{place}"] = encoded.indices.fill_null(-1).to_numpy(zero_copy_only=False)
        else:
            arrays[f"column{place}"] = _narrowed(_numbers(column))
    header = json.dumps({"columns": table.column_names, "levels": levels}, ensure_ascii=False).encode()
    file = io.BytesIO()
    np.savez(file, header=np.frombuffer(header, dtype=np.uint8), **arrays)
    return file.getvalue()


def _numbers(column: Any) -> Any:
    """Return an array of the column's own type, or of float64 with NaN if values are missing."""
    return column.to_numpy().astype(np.float64 if column.null_count else column.type.to_pandas_dtype(), copy=False)


def _narrowed(values: Any) -> Any:
    """Return integers in 32 bits if they fit; JavaScript has no array of small 64-bit integers."""
    if values.dtype == np.int64 and values.size and np.abs(values).max() < 2**31:
        return values.astype(np.int32)
    return values


def _parquet(table: Any) -> bytes:
    file = io.BytesIO()
    pq.write_table(table, file, compression="zstd")
    return file.getvalue()


def _values(table: Any, finite: bool) -> list[list[Any]]:
    """Return Python values column by column, with None for NaN and, with `finite`, for infinity, which JSON lacks."""
    columns = []
    for column in table.columns:
        values = column.to_pylist()
        if pa.types.is_floating(column.type):
            writable = math.isfinite if finite else _is_number
            values = [value if value is not None and writable(value) else None for value in values]
        columns.append(values)
    return columns


def _is_number(value: float) -> bool:
    return value == value
