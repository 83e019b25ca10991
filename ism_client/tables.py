"""Tables to upload: a path, an open file, a pandas frame, a numpy array, or rows as dicts."""

import csv
import io
import json
import math
import sys
import tempfile
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import IO, Any

import numpy as np

MEDIA_TYPES = {
    ".csv": "text/csv",
    ".tsv": "text/tab-separated-values",
    ".json": "application/json",
    ".npy": "application/x-npy",
    ".npz": "application/x-npz",
    ".parquet": "application/vnd.apache.parquet",
    ".feather": "application/vnd.apache.arrow.file",
    ".arrow": "application/vnd.apache.arrow.file",
    ".xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
    ".dta": "application/x-stata-dta",
    ".sav": "application/x-spss-sav",
    ".zip": "application/zip",
}


@dataclass(frozen=True)
class Payload:
    """An open table and its file name."""

    file: IO[bytes] | io.RawIOBase
    filename: str

    @property
    def replayable(self) -> bool:
        """Whether it can be sent again from the start."""
        return not isinstance(self.file, _Pipe)

    def body(self) -> dict[str, Any]:
        """Return the multipart body; httpx streams the file from its start."""
        media_type = MEDIA_TYPES.get(Path(self.filename).suffix.lower(), "application/octet-stream")
        return {"files": {"file": (self.filename, self.file, media_type)}}


@contextmanager
def opened(source: Any, names: Sequence[str] | None = None, name: str | None = None) -> Iterator[Payload]:
    """Open a table for upload. A file that is already open stays open. `name` names tables without a file name.

    with opened("wine.csv") as payload:
        ...
    """
    is_file = isinstance(source, str | PathLike) or hasattr(source, "read")
    if names is not None and (is_file or _is_frame(source)):
        raise TypeError(f"names are for arrays only; a {type(source).__name__} has names of its own.")
    if isinstance(source, str | PathLike):
        with open(source, "rb") as file:
            yield Payload(_binary(file), Path(source).name)
    elif is_file:
        yield Payload(_binary(source), _name_of(source) or name or "table")
    else:
        with tempfile.TemporaryFile() as file:
            suffix = _write(source, names, file)
            file.seek(0)
            yield Payload(file, (name or "table").removesuffix(suffix) + suffix)


def _write(source: Any, names: Sequence[str] | None, file: IO[bytes]) -> str:
    if _is_frame(source):
        return _write_frame(source, file)
    if isinstance(source, Sequence) and source and all(isinstance(row, Mapping) for row in source):
        file.write(json.dumps([{name: _plain(value) for name, value in row.items()} for row in source]).encode())
        return ".json"
    if not isinstance(source, np.ndarray | Sequence) or isinstance(source, bytes):
        raise TypeError(
            f"A {type(source).__name__} is not a table; give a path, an open file, a pandas DataFrame, a numpy array "
            "or a list of dicts."
        )
    return _write_array(np.asarray(source), names, file)


def _write_array(array: np.ndarray[Any, Any], names: Sequence[str] | None, file: IO[bytes]) -> str:
    if array.dtype.kind not in "biufUO" or array.ndim not in (1, 2):
        raise TypeError(f"The array is {array.ndim}-dimensional of type {array.dtype}; give rows of numbers or text.")
    rows = array[:, None] if array.ndim == 1 else array
    if names is not None and len(names) != rows.shape[1]:
        raise ValueError(f"There are {len(names)} names for {rows.shape[1]} columns.")
    if array.dtype.kind in "biuf":
        return _write_numbers(rows, names, file)
    text = io.TextIOWrapper(file, encoding="utf-8", newline="")
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(names or [f"x{column + 1}" for column in range(rows.shape[1])])
    writer.writerows([_plain(value) for value in row] for row in rows.tolist())
    text.detach()
    return ".csv"


def _write_numbers(rows: np.ndarray[Any, Any], names: Sequence[str] | None, file: IO[bytes]) -> str:
    """Write NPY, or NPZ with an array per column if there are names. numpy.savez cannot write a column named "file"."""
    if names is None:
        np.save(file, rows, allow_pickle=False)
        return ".npy"
    if len(set(names)) < len(names):
        raise ValueError("Some columns have the same name; give each column a name of its own.")
    with zipfile.ZipFile(file, "w") as archive:
        for name, column in zip(names, rows.T, strict=True):
            with archive.open(f"{name}.npy", "w", force_zip64=True) as member:
                np.lib.format.write_array(member, np.ascontiguousarray(column), allow_pickle=False)
    return ".npz"


def _write_frame(frame: Any, file: IO[bytes]) -> str:
    """Write Parquet, which keeps numbers in text columns as text; CSV if pyarrow is missing or a column mixes types."""
    named = frame.set_axis([str(name) for name in frame.columns], axis=1)
    try:
        named.to_parquet(file, index=False)
    except (ImportError, ValueError, TypeError):
        file.seek(0)
        file.truncate()
        named.to_csv(file, index=False)
        return ".csv"
    return ".parquet"


def _is_frame(source: Any) -> bool:
    pandas = sys.modules.get("pandas")
    return pandas is not None and isinstance(source, pandas.DataFrame)


def _plain(value: Any) -> Any:
    value = value.item() if isinstance(value, np.generic) else value
    return None if isinstance(value, float) and math.isnan(value) else value


def _name_of(file: Any) -> str | None:
    name = getattr(file, "name", None)
    return Path(name).name if isinstance(name, str) and not name.startswith("<") else None


def _binary(file: Any) -> IO[bytes] | io.RawIOBase:
    if isinstance(file, io.StringIO):
        return io.BytesIO(file.getvalue().encode())
    raw = file.buffer if isinstance(file, io.TextIOWrapper) else file
    seekable = getattr(raw, "seekable", None)
    return raw if seekable is not None and seekable() else _Pipe(raw)


class _Pipe(io.RawIOBase):
    """A stream with only `read`, so that httpx neither measures nor rewinds it."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file

    def read(self, size: int = -1) -> bytes:
        return self._file.read(size)
