"""Read a table from bytes, as a test states them."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa

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
