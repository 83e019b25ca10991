"""The functions that run in a sandbox process: reading uploads, projecting rows, exporting models.

`ingest` runs in the service: it stores what `parse_upload` sends.
"""

import json
from collections.abc import Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Literal

import numpy as np
import pyarrow as pa

from app.sandbox.messages import Answer, Located, Upload
from app.sandbox.pool import SandboxPool
from ism_jobs.data import Model, TrainingData, used_columns
from ism_jobs.errors import FieldError, InvalidSpec
from ism_jobs.sentences import counted
from ism_jobs.spec import JobSpec
from ism_jobs.store import Dataset, Store, pack, unpack
from ism_jobs.tables import (
    Description,
    Limits,
    Place,
    Reader,
    Reference,
    Roots,
    describe_reference,
    open_table,
    write_table,
)

TableFormat = Literal["json", "csv", "npy", "npz", "parquet"]
Ranges = Mapping[str, tuple[float, float]]  # the smallest and largest value of a column

MAX_OUTSIDE = 5  # columns with values outside their range that a note names


async def ingest(sandbox: SandboxPool, upload: Upload, limits: Limits, store: Store) -> tuple[Dataset, bool]:
    """Read a file into the store of its owner. Return the data set and whether it is new."""
    return await sandbox.receive(partial(_add, store, upload), parse_upload, upload, limits)


def _add(store: Store, upload: Upload, answer: Answer) -> tuple[Dataset, bool]:
    return store.datasets.add(_ParsedTable(answer), upload.name, upload.size)


class _ParsedTable:
    """A table as `parse_upload` sends it."""

    def __init__(self, answer: Answer) -> None:
        self._answer = answer

    def __iter__(self) -> Iterator[bytes]:
        return iter(self._answer)

    def digest(self) -> str:
        return str(self._answer.value["digest"])

    def description(self) -> Description:
        return Description.model_validate_json(self._answer.value["description"])


def parse_upload(upload: Upload, limits: Limits) -> Generator[bytes, None, dict[str, str]]:
    """Read a file. Yield its rows as packed batches; return its description and digest."""
    reader = _open(upload, limits)
    for batch in reader:
        yield pack(batch)
    return {"digest": reader.digest(), "description": reader.description().model_dump_json()}


async def register(sandbox: SandboxPool, located: Located, limits: Limits, store: Store) -> tuple[Dataset, bool]:
    """Describe a table by reference and store the description. Return the data set and whether it is new."""

    def add(answer: Answer) -> tuple[Dataset, bool]:
        (packed,), value = list(answer), answer.value
        reference = Reference.from_json(packed)
        described = _Described(packed, reference.digest, str(value["description"]))
        return store.datasets.add(described, located.name or str(value["name"]), reference.size)

    return await sandbox.receive(add, describe_located, located, limits)


@dataclass(frozen=True)
class _Described:
    """A table by reference as `describe_located` sends it: one chunk, which says where the rows are."""

    packed: bytes
    hexdigest: str
    described: str

    def __iter__(self) -> Iterator[bytes]:
        return iter([self.packed])

    def digest(self) -> str:
        return self.hexdigest

    def description(self) -> Description:
        return Description.model_validate_json(self.described)


def describe_located(located: Located, limits: Limits) -> Generator[bytes, None, dict[str, str]]:
    """Read footers and a sample of a table by reference. Yield where it is; return its description and its name."""
    roots = Roots.of(located.roots, "ISM_TABLE_ROOTS")
    reference, description = describe_reference(located.uri, roots, limits, located.header)
    yield reference.to_json()
    return {"description": description.model_dump_json(), "name": Place.parse(located.uri).name}


def count_remaining(chunks: Iterator[bytes], spec: JobSpec, description: Description) -> Sequence[Any]:
    """Return how many rows a job learns from, how many different targets they have, the features, and warnings."""
    training = TrainingData.of(_table(chunks, used_columns(spec, description)), spec, description)
    different = 0 if training.guidance is None else len({str(value) for value in training.guidance.tolist()})
    return len(training.rows), different, training.X.shape[1], training.warnings


def select_rows(
    chunks: Iterator[bytes], columns: Sequence[str], format: TableFormat, offset: int, limit: int | None
) -> bytes:
    """Return some columns and rows of a data set in a file format."""
    return write_table(_table(chunks, columns).slice(offset, limit), format)


def project_upload(
    upload: Upload, model: bytes, format: TableFormat, limits: Limits, ranges: Ranges
) -> Generator[bytes, None, list[str]]:
    """Project the rows of a file onto the axes of a model. Yield the projection in a file format; return the notes.

    `ranges` has the smallest and largest value of columns of the job's table. JSON also contains the notes.
    """
    loaded = Model.from_npz(model)
    reader = _open(upload, limits, loaded.encoding.texts)
    table = pa.Table.from_batches(list(reader), schema=reader.schema)
    embedding, notes = loaded.transform(table)
    notes += _outside(table, ranges, loaded.encoding.columns)
    columns = {axis: pa.array(column) for axis, column in zip(loaded.axes, embedding.T, strict=True)}
    body, notes = write_table(pa.table(columns), format), [*reader.notes, *notes]
    if format == "json":
        body = body[:-1] + b',"notes":' + json.dumps(notes).encode() + b"}"
    yield body
    return notes


def project_rows(
    chunks: Iterator[bytes], model: bytes, packed_embedding: bytes, W: Sequence[Sequence[float]], format: TableFormat
) -> bytes:
    """Project the rows of a job, filled in and scaled as in the job, onto the columns of another W."""
    loaded = Model.from_npz(model)
    if len(W) != len(loaded.features):
        raise InvalidSpec(
            f"W has {counted(len(W), 'row')}; it needs {len(loaded.features):,}, one for each feature of the job.",
            [FieldError("W", f"has {counted(len(W), 'row')} instead of {len(loaded.features):,}")],
        )
    table = _table(chunks, loaded.encoding.columns)
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


def _table(chunks: Iterator[bytes], columns: Sequence[str]) -> pa.Table:
    return pa.concat_tables([unpack(chunk).select(list(columns)) for chunk in chunks])


def _outside(table: pa.Table, ranges: Ranges, columns: Sequence[str]) -> list[str]:
    """Return a note on values outside the range of the job's table; the columns with most of them come first."""
    found = []
    for name in columns:
        if name not in ranges or not pa.types.is_floating(table.schema.field(name).type):
            continue
        low, high = ranges[name]
        values = table[name].to_numpy()
        beyond = np.fmax(low - values, values - high)  # NaN if the value is missing
        count = int((beyond > 0).sum())
        if count:
            row = int(np.nanargmax(beyond))
            found.append((count, f'"{name}" in {count} row(s), farthest in row {row + 1} ({values[row]:g})'))
    if not found:
        return []
    named = [text for _, text in sorted(found, key=lambda each: -each[0])]
    more = f"; and {len(named) - MAX_OUTSIDE} more column(s)" if len(named) > MAX_OUTSIDE else ""
    return [f"Values outside the range of the job's table: {'; '.join(named[:MAX_OUTSIDE])}{more}."]


def _open(upload: Upload, limits: Limits, text: Sequence[str] = ()) -> Reader:
    """Open a file. The columns in `text` stay text even if their values are numbers with a unit."""
    return open_table(
        upload.path,
        filename=upload.filename,
        content_type=upload.content_type,
        header=upload.header,
        limits=limits,
        text=text,
    )
