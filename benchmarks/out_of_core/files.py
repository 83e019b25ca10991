"""Make the Parquet files of the measurements, and read them in the ways that are compared."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow
import pyarrow.dataset
import pyarrow.parquet

from ism_core import Partitions, partitions
from ism_core.arrays import Array, Ints

COLUMNS, CLASSES, FILES = 30, 5, 60
GROUP_ROWS = 2**17  # rows of a row group, and of the arrays that are made at a time
BATCH_ROWS = 2**16  # rows that are read at a time
NAMES = [f"x{column}" for column in range(COLUMNS)]


def make(folder: Path, rows: int) -> None:
    """Write the files, unless they are there."""
    if len(list(folder.glob("*.parquet"))) == FILES:
        return
    folder.mkdir(parents=True, exist_ok=True)
    centers = 0.7 * np.random.default_rng(0).standard_normal((CLASSES, COLUMNS))
    fields = [*((name, pyarrow.float32()) for name in NAMES), ("class", pyarrow.int8())]
    for number, count in enumerate(np.diff(np.linspace(0, rows, FILES + 1).astype(int))):
        rng, path = np.random.default_rng(number), folder / f"rows-{number:02}.parquet"
        schema = pyarrow.schema(fields)
        with pyarrow.parquet.ParquetWriter(path, schema, compression="none", use_dictionary=False) as file:
            for start in range(0, count, GROUP_ROWS):
                y = rng.integers(0, CLASSES, min(GROUP_ROWS, count - start)).astype(np.int8)
                X = (rng.standard_normal((len(y), COLUMNS)) + centers[y]).astype(np.float32)
                file.write_table(pyarrow.table([*(pyarrow.array(column) for column in X.T), y], schema=schema))


def dataset(folder: str, files: int) -> Any:
    """Return the first files as a data set."""
    return pyarrow.dataset.dataset([str(path) for path in sorted(Path(folder).glob("*.parquet"))[:files]])


def table(folder: str, files: int) -> Partitions:
    """Return the first files as a table in partitions."""
    return partitions(dataset(folder, files), "class")


def batches(folder: str, files: int) -> Iterator[Any]:
    """Read the files once by pyarrow."""
    yield from dataset(folder, files).to_batches(batch_size=BATCH_ROWS)


def rows(folder: str, files: int, of_each: int | None = None) -> tuple[Array, Ints]:
    """Return the rows and classes of the first files, or as many of each, in single precision as in the files."""
    counts = [fragment.count_rows() for fragment in dataset(folder, files).get_fragments()]
    kept = [count if of_each is None else min(count, of_each) for count in counts]
    X, y, first = np.empty((sum(kept), COLUMNS), np.float32), np.empty(sum(kept), np.int8), 0
    for fragment, count in zip(dataset(folder, files).get_fragments(), kept, strict=True):
        last = first + count
        for batch in fragment.to_batches(batch_size=BATCH_ROWS):
            some = batch.slice(0, min(batch.num_rows, last - first))
            if not some.num_rows:
                break
            to = slice(first, first + some.num_rows)
            for column, name in enumerate(NAMES):
                X[to, column] = some.column(name).to_numpy()
            y[to] = some.column("class").to_numpy()
            first = to.stop
    return X, y


def as_rows(batch: Any) -> Array:
    """Return the features of a batch in double precision."""
    return np.column_stack([batch.column(name).to_numpy() for name in NAMES]).astype(np.float64)
