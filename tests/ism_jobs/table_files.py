"""Files in every format for the tests of tables, and one way to read them."""

import io
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from ism_jobs.tables import Description, open_table


@dataclass(frozen=True)
class Read:
    table: Any
    description: Description
    digest: str
    format: str
    notes: list[str]

    @property
    def values(self) -> dict[str, list[Any]]:
        return self.table.to_pydict()

    @property
    def kinds(self) -> list[str]:
        return [column.kind for column in self.description.columns]


def read(folder: Path, content: bytes | str, name: str = "table", **options: Any) -> Read:
    path = folder / "upload"
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    reader = open_table(path, filename=name, **options)
    table = pa.Table.from_batches(list(reader), schema=reader.schema)
    return Read(table, reader.description(), reader.digest(), reader.format, reader.notes)


def npy(array: Any, **options: Any) -> bytes:
    file = io.BytesIO()
    np.save(file, array, **options)
    return file.getvalue()


def npz(*arrays: Any, **named: Any) -> bytes:
    file = io.BytesIO()
    np.savez_compressed(file, *arrays, **named)
    return file.getvalue()


def parquet(table: Any, **options: Any) -> bytes:
    file = io.BytesIO()
    pq.write_table(table, file, **options)
    return file.getvalue()
