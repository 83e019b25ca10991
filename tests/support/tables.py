"""Read a table from bytes, as a test states them."""

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


def planted_csv() -> bytes:
    """Return 600 rows with two classes along x0, x1 and x2; x27 and x28 are nearly equal and tell nothing."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((600, 30))
    X[:, 28] = X[:, 27] + 0.05 * rng.standard_normal(600)
    classes = X[:, 0] + 0.8 * X[:, 1] - 0.6 * X[:, 2] + 0.5 * rng.standard_normal(600) > 0
    lines = [",".join([f"x{column}" for column in range(30)] + ["class"])]
    lines += [
        ",".join([f"{value:.5f}" for value in row] + ["ab"[int(one)]]) for row, one in zip(X, classes, strict=True)
    ]
    return "\n".join(lines).encode()


def write_rows(folder: Path, files: int = 3, rows: int = 2_000, seed: int = 0, **columns: Any) -> Any:
    """Write a table of two informative features, three others, text and a class as Parquet files; return all of it."""
    rng = np.random.default_rng(seed)
    folder.mkdir(parents=True, exist_ok=True)
    tables = []
    for number in range(files):
        codes = rng.integers(0, 3, rows)
        X = rng.standard_normal((rows, 5)) + 2 * np.eye(3, 5)[codes]
        table = pa.table(
            {
                **{f"x{place}": X[:, place].astype(np.float32) for place in range(5)},
                "color": pa.array(np.array(["red", "green", "blue"])[rng.integers(0, 3, rows)]),
                "class": pa.array(np.array(["a", "b", "c"])[codes]),
                **columns,
            }
        )
        pq.write_table(table, folder / f"part-{number}.parquet", row_group_size=rows // 2)
        tables.append(table)
    return pa.concat_tables(tables)
