"""The functions that run in a sandbox process: reading uploads, projecting rows, drawing plots, exporting models."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

import ism_plots
from app.links import Plot
from app.sandbox.limits import table_limits
from ism_jobs.data import Model, TrainingData, used_columns
from ism_jobs.settings import Settings
from ism_jobs.spec import JobSpec
from ism_jobs.store import REQUEST_TIMEOUT, Dataset, Store, unpack
from ism_jobs.tables import Reader, open_table, write_table

TableFormat = Literal["json", "csv", "npy", "parquet"]
PlotFormat = Literal["svg", "png"]
PLOT_SOURCES: dict[Plot, str] = {"embedding": "embedding", "loadings": "W", "trace": "trace"}  # the table of each plot


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


def count_remaining(spec: JobSpec, settings: Settings) -> tuple[int, int]:
    """Return how many rows remain if a job drops incomplete rows, and how many different targets they have."""
    datasets = Store.open(settings, REQUEST_TIMEOUT).datasets
    description = datasets.get(spec.dataset).description
    training = TrainingData.of(datasets.read(spec.dataset, used_columns(spec, description)), spec, description)
    different = 0 if training.guidance is None else len({str(value) for value in training.guidance.tolist()})
    return len(training.rows), different


def select_columns(id: str, columns: Sequence[str], format: TableFormat, settings: Settings) -> bytes:
    """Return some columns of a data set in a file format."""
    return write_table(Store.open(settings, REQUEST_TIMEOUT).datasets.read(id, columns), format)


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


def convert_table(packed: bytes, format: TableFormat, label_columns: tuple[str, ...]) -> bytes:
    """Return an artifact in another file format."""
    return write_table(unpack(packed), format, label_columns)


def export_onnx(model: bytes) -> bytes:
    """Return a model as ONNX."""
    return Model.from_npz(model).to_onnx()


def draw_plot(
    plot: Plot,
    packed: bytes,
    format: PlotFormat,
    spec: Mapping[str, Any],
    packed_errors: bytes | None = None,
    shares: Sequence[float] | None = None,
) -> bytes:
    """Draw a plot of an artifact of a job.

    Loadings are drawn with their standard errors and the shares of the axes in the importance, if these are known.
    """
    table = unpack(packed)
    if plot == "trace":
        return _draw_trace(table, format)
    values = _axis_columns(table)
    if plot == "loadings":
        errors = None if packed_errors is None else _axis_columns(unpack(packed_errors))
        names = table.column("feature").to_pylist()
        return ism_plots.loadings_plot(names, values, errors, format=format, shares=shares)
    groups = table.column("group").to_pylist() if "group" in table.column_names else None
    if spec["paradigm"] == "supervised":
        kind, legend = spec["target_kind"], spec["target"]
    else:
        kind, legend = "classes", "cluster"
    legend = legend if isinstance(legend, str) else None
    picture = table.column("picture").to_numpy() if "picture" in table.column_names else None
    return ism_plots.embedding_plot(
        values, groups, spec["label"], format=format, kind=kind, legend=legend, picture=picture
    )


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


def _draw_trace(table: pa.Table, format: PlotFormat) -> bytes:
    ascent = table.filter(pc.equal(table["stage"], "ascent"))
    table = ascent if ascent.num_rows else table  # the trace of a job that only searched has no ascent
    count = sum(name.startswith("eigenvalue") for name in table.column_names)
    eigenvalues = [_numbers(table, f"eigenvalue{axis + 1}") for axis in range(count)]
    return ism_plots.trace_plot(
        _numbers(table, "iteration"),
        _numbers(table, "objective"),
        np.array(eigenvalues).reshape(count, table.num_rows).T,
        _numbers(table, "round"),
        format=format,
    )


def _numbers(table: pa.Table, name: str) -> NDArray[np.float64]:
    numbers: NDArray[np.float64] = table[name].to_numpy(zero_copy_only=False).astype(np.float64)
    return numbers


def _axis_columns(table: pa.Table) -> NDArray[np.float64]:
    """Return the columns axis1, axis2, … side by side."""
    axes = [name for name in table.column_names if name.startswith("axis")]
    values: NDArray[np.float64] = np.column_stack([table.column(name).to_numpy() for name in axes])
    return values
