"""What is done in children: reading uploads, projecting new rows, drawing, exporting."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

import ism_plots
from app.services.group_differences import Groups, GroupView, differences
from ism_jobs.data import Model, TrainingData, used_columns
from ism_jobs.settings import Settings
from ism_jobs.spec import JobSpec
from ism_jobs.store import REQUEST_TIMEOUT, Dataset, Store, unpack
from ism_jobs.tables import Column, Limits, open_table, write_table

TableFormat = Literal["json", "csv", "npy", "parquet"]
PlotFormat = Literal["svg", "png"]


@dataclass(frozen=True)
class Upload:
    """A file that was received, and what was said about it."""

    path: Path
    size: int
    name: str
    filename: str | None
    content_type: str | None
    header: bool | None


def ingest(upload: Upload, settings: Settings, owner: str) -> tuple[Dataset, bool]:
    """Read a file into the store for its owner; tells whether it is new there."""
    reader = open_table(
        upload.path,
        filename=upload.filename,
        content_type=upload.content_type,
        header=upload.header,
        limits=limits_of(settings),
    )
    return Store.open(settings).of(owner).datasets.add(reader, upload.name, upload.size)


def remaining(spec: JobSpec, settings: Settings) -> tuple[int, int]:
    """How many rows a job that drops incomplete ones is left with, and how many different targets they have."""
    datasets = Store.open(settings, REQUEST_TIMEOUT).datasets
    description = datasets.get(spec.dataset).description
    training = TrainingData.of(datasets.read(spec.dataset, used_columns(spec, description)), spec, description)
    different = 0 if training.guidance is None else len({str(value) for value in training.guidance.tolist()})
    return len(training.rows), different


def select(id: str, columns: Sequence[str], format: TableFormat, settings: Settings) -> bytes:
    """Some columns of a data set, written in a format."""
    return write_table(Store.open(settings, REQUEST_TIMEOUT).datasets.read(id, columns), format)


def contrast(id: str, columns: Sequence[Column], groups: Groups, settings: Settings) -> list[GroupView]:
    """How the columns of a data set differ between each group of rows and all other rows."""
    parts = Store.open(settings, REQUEST_TIMEOUT).datasets.iter_parts(id, [column.name for column in columns])
    return differences(parts, columns, groups)


def project(upload: Upload, model: bytes, format: TableFormat, settings: Settings) -> tuple[bytes, list[str]]:
    """The rows of a file in the new features, written in a format, and notes; JSON holds them too."""
    reader = open_table(
        upload.path,
        filename=upload.filename,
        content_type=upload.content_type,
        header=upload.header,
        limits=limits_of(settings),
    )
    table = pa.Table.from_batches(list(reader), schema=reader.schema)
    loaded = Model.from_npz(model)
    embedding, notes = loaded.transform(table)
    columns = {axis: pa.array(column) for axis, column in zip(loaded.axes, embedding.T, strict=True)}
    body, notes = write_table(pa.table(columns), format), [*reader.notes, *notes]
    if format == "json":
        body = body[:-1] + b',"notes":' + json.dumps(notes).encode() + b"}"
    return body, notes


def convert(packed: bytes, format: TableFormat, label_columns: tuple[str, ...]) -> bytes:
    """An artifact in another format."""
    return write_table(unpack(packed), format, label_columns)


def export_onnx(model: bytes) -> bytes:
    """The model as ONNX."""
    return Model.from_npz(model).to_onnx()


def limits_of(settings: Settings) -> Limits:
    """The limits on tables."""
    return Limits(
        bytes=settings.max_inflated_bytes,
        rows=settings.max_rows,
        columns=settings.max_columns,
        cells=settings.max_cells,
        name_length=settings.max_name_length,
        text_length=settings.max_text_bytes,
    )


def draw(
    plot: str, packed: bytes, format: PlotFormat, spec: Mapping[str, Any], packed_errors: bytes | None = None
) -> bytes:
    """A picture of an artifact of a job; of loadings with their standard errors where these are known."""
    table = unpack(packed)
    if plot == "trace":
        return ism_plots.trace_plot(table, format=format)
    values = _of_axes(table)
    if plot == "loadings":
        errors = None if packed_errors is None else _of_axes(unpack(packed_errors))
        return ism_plots.loadings_plot(table.column("feature").to_pylist(), values, errors, format=format)
    groups = table.column("group").to_pylist() if "group" in table.column_names else None
    if spec["paradigm"] == "supervised":
        kind, legend = spec["target_kind"], spec["target"]
    else:
        kind, legend = "classes", "cluster"
    legend = legend if isinstance(legend, str) else None
    return ism_plots.embedding_plot(values, groups, spec["label"], format=format, kind=kind, legend=legend)


def _of_axes(table: pa.Table) -> NDArray[np.float64]:
    """The columns of the axes, side by side."""
    axes = [name for name in table.column_names if name.startswith("axis")]
    values: NDArray[np.float64] = np.column_stack([table.column(name).to_numpy() for name in axes])
    return values
