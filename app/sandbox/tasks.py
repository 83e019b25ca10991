"""The functions that run in a sandbox process: reading uploads, projecting rows, exporting models."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

import numpy as np
import pyarrow as pa

from app.sandbox.limits import table_limits
from ism_jobs.data import Model, TrainingData, used_columns
from ism_jobs.errors import FieldError, InvalidSpec
from ism_jobs.settings import Settings
from ism_jobs.spec import JobSpec
from ism_jobs.store import REQUEST_TIMEOUT, Dataset, Store, unpack
from ism_jobs.tables import Reader, open_table, write_table

TableFormat = Literal["json", "csv", "npy", "parquet"]


@dataclass(frozen=True)
class Upload:
    """A received file, and what the request says about it."""

    path: Path
    size: int
    name: str
    filename: str | None
    content_type: str | None
    header: bool | None  # whether the first line of a CSV holds names; None lets the reader decide


def ingest(upload: Upload, settings: Settings, owner: str) -> tuple[Dataset, bool]:
    """Read a file into the store of its owner. Return the data set and whether it is new."""
    reader = _open(upload, settings)
    return Store.open(settings).of(owner).datasets.add(reader, upload.name, upload.size)


def count_remaining(spec: JobSpec, settings: Settings) -> tuple[int, int, int, tuple[str, ...]]:
    """Return how many rows a job learns from, how many different targets they have, the features, and warnings."""
    datasets = Store.open(settings, REQUEST_TIMEOUT).datasets
    description = datasets.get(spec.dataset).description
    training = TrainingData.of(datasets.read(spec.dataset, used_columns(spec, description)), spec, description)
    different = 0 if training.guidance is None else len({str(value) for value in training.guidance.tolist()})
    return len(training.rows), different, training.X.shape[1], training.warnings


def select_rows(
    id: str, columns: Sequence[str], format: TableFormat, settings: Settings, offset: int, limit: int | None
) -> bytes:
    """Return some columns and rows of a data set in a file format."""
    table = Store.open(settings, REQUEST_TIMEOUT).datasets.read(id, columns)
    return write_table(table.slice(offset, limit), format)


def project_upload(upload: Upload, model: bytes, format: TableFormat, settings: Settings) -> tuple[bytes, list[str]]:
    """Project the rows of a file onto the axes of a model. Return the projection in a file format, and notes.

    JSON also contains the notes.
    """
    loaded = Model.from_npz(model)
    reader = _open(upload, settings, loaded.encoding.texts)
    table = pa.Table.from_batches(list(reader), schema=reader.schema)
    embedding, notes = loaded.transform(table)
    columns = {axis: pa.array(column) for axis, column in zip(loaded.axes, embedding.T, strict=True)}
    body, notes = write_table(pa.table(columns), format), [*reader.notes, *notes]
    if format == "json":
        body = body[:-1] + b',"notes":' + json.dumps(notes).encode() + b"}"
    return body, notes


def project_rows(
    dataset: str, model: bytes, packed_embedding: bytes, W: Sequence[Sequence[float]], format: TableFormat,
    settings: Settings,
) -> bytes:  # fmt: skip
    """Project the rows of a job, filled in and scaled as in the job, onto the columns of another W."""
    loaded = Model.from_npz(model)
    if len(W) != len(loaded.features):
        raise InvalidSpec(
            f"W has {len(W):,} rows; it needs {len(loaded.features):,}, one for each feature of the job.",
            [FieldError("W", f"has {len(W):,} rows instead of {len(loaded.features):,}")],
        )
    table = Store.open(settings, REQUEST_TIMEOUT).datasets.read(dataset, loaded.encoding.columns)
    rows = unpack(packed_embedding)["row"]
    other = replace(loaded, W=np.array(W, dtype=np.float64), axes=())
    embedding = other.project(loaded.encoding.encode(table.take(rows)))
    columns = {axis: pa.array(column) for axis, column in zip(other.axes, embedding.T, strict=True)}
    return write_table(pa.table({"row": rows, **columns}), format)


def convert_table(packed: bytes, format: TableFormat, label_columns: tuple[str, ...]) -> bytes:
    """Return an artifact in another file format."""
    return write_table(unpack(packed), format, label_columns)


def export_onnx(model: bytes) -> bytes:
    """Return a model as ONNX."""
    return Model.from_npz(model).to_onnx()


def _open(upload: Upload, settings: Settings, text: Sequence[str] = ()) -> Reader:
    """Open a file. The columns in `text` stay text even if their values are numbers with a unit."""
    return open_table(
        upload.path,
        filename=upload.filename,
        content_type=upload.content_type,
        header=upload.header,
        limits=table_limits(settings),
        text=text,
    )
