"""Tables in partitions made of what users have: arrays, mapped files, Arrow data sets and Dask collections."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np

from ism_core.arrays import Array
from ism_core.errors import InvalidInput
from ism_core.objective.partitions.table import BLOCK_ROWS, ArrayPartitions, Block, Partitions

BYTES_IN_MEMORY = 2**28  # bytes of a mapped array, in double precision, up to which it is read as a whole


def is_partitioned(X: object) -> bool:
    """Tell whether X is read in parts: `Partitions`, a large mapped array, an Arrow data set or a Dask collection."""
    if isinstance(X, np.memmap):
        return 8 * X.size > BYTES_IN_MEMORY
    return isinstance(X, Partitions) or _package(X) == "dask" or _is_arrow_dataset(X)


def feature_names(table: Partitions) -> list[str] | None:
    """Return the names of the features; None if they have none."""
    names = getattr(table, "features", None)
    return None if names is None else list(names)


def partitions(X: Any, y: Any = None, columns: Sequence[str] | None = None) -> Partitions:
    """Return a table that solves read in parts, so that it may exceed the memory.

    Parameters
    ----------
    X : array, memory-mapped array, pyarrow Dataset, dask array or dask frame
        The rows. A mapped array comes from `numpy.load(path, mmap_mode="r")`.
    y : array-like, str or None
        The targets: an array as long as X, or the name of a column if X has named columns.
    columns : sequence of str or None
        The names of the features; None means all columns but y.

    Returns
    -------
    Partitions
        For `solve(table, Supervised(), …)`.

    Examples
    --------
    >>> import numpy as np
    >>> from ism_core import Gaussian, Supervised, partitions, solve
    >>> rng = np.random.default_rng(0)
    >>> y = np.arange(1000) % 2
    >>> X = rng.standard_normal((1000, 3)) + 3 * np.outer(y, [1, 0, 0])
    >>> abs(solve(partitions(X, y), Supervised(), Gaussian(), q=1).W).round(1).T.tolist()
    [[1.0, 0.0, 0.0]]
    """
    if isinstance(X, Partitions):
        return X
    if _is_arrow_dataset(X):
        return ArrowPartitions.of(X, y, columns)
    if _package(X) == "dask":
        from ism_core.objective.partitions.dask_collections import of_collection

        return of_collection(X, y, columns)
    if columns is not None:
        raise InvalidInput("columns", "columns names features, and X has no named columns; leave it out.")
    table = X if isinstance(X, np.ndarray) else np.asarray(X)
    if table.ndim != 2 or table.dtype.kind not in "fiub":
        raise InvalidInput("X", f"X must be a table of numbers, not an array of {table.dtype} of shape {table.shape}.")
    targets = None if y is None else y if isinstance(y, np.ndarray) else np.asarray(y)
    if targets is not None and len(targets) != len(table):
        raise InvalidInput(
            "y", f"y has {len(targets)} value(s) but X has {len(table)} rows; there must be one for each row."
        )
    return ArrayPartitions(table, targets)


@dataclass(frozen=True)
class ArrowPartitions:
    """A data set of pyarrow, such as a folder of Parquet files: a partition for each row group."""

    fragments: tuple[Any, ...]
    schema: Any
    features: tuple[str, ...]
    target: str | None

    @staticmethod
    def of(dataset: Any, y: Any, columns: Sequence[str] | None) -> "ArrowPartitions":
        """Check the columns and split the files into row groups."""
        features, target = named_columns(dataset.schema.names, y, columns)
        _check_columns(dataset.schema, features, target, dataset.schema, "X")
        parts: list[Any] = []
        with _read_errors("X"):
            for fragment in dataset.get_fragments():
                path = getattr(fragment, "path", "X")
                _check_columns(fragment.physical_schema, features, target, dataset.schema, path)
                split = getattr(fragment, "split_by_row_group", None)
                parts += [fragment] if split is None else split()
        return ArrowPartitions(tuple(parts), dataset.schema, features, target)

    @property
    def columns(self) -> int:
        return len(self.features)

    def __len__(self) -> int:
        return len(self.fragments)

    def blocks(self, index: int) -> Iterator[Block]:
        names = [*self.features] if self.target is None else [*self.features, self.target]
        with _read_errors(getattr(self.fragments[index], "path", "X")):
            batches = self.fragments[index].to_batches(
                schema=self.schema, columns=names, batch_size=BLOCK_ROWS, use_threads=False
            )
            for batch in batches:
                if batch.num_rows:
                    y = None if self.target is None else batch.column(self.target).to_numpy(zero_copy_only=False)
                    yield _numbers([batch.column(name) for name in self.features]), y


ARROW_NUMBERS = {
    *(f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)),
    *("halffloat", "float", "double", "bool"),
}


def _check_columns(found: Any, features: Sequence[str], target: str | None, common: Any, path: str) -> None:
    """Raise InvalidInput unless a file has all columns, with numbers as features and targets like those of others."""
    for name in (*features, *(() if target is None else (target,))):
        if found.get_field_index(name) < 0:
            raise InvalidInput("X", f"{path} has no column {name!r}, which other files have.")
        kind, expected = (str(schema.field(name).type) for schema in (found, common))
        if name != target and kind not in ARROW_NUMBERS:
            raise InvalidInput(
                "X", f"Column {name!r} of {path} holds {kind}, and features must be numbers; name others in columns."
            )
        if (kind in ARROW_NUMBERS) != (expected in ARROW_NUMBERS):
            raise InvalidInput("y", f"Column {name!r} of {path} holds {kind}, and that of other files {expected}.")


def _numbers(columns: list[Any]) -> Array:
    """Return the columns as a table; missing values become NaN."""
    table = np.empty((len(columns[0]), len(columns)))
    for position, column in enumerate(columns):
        table[:, position] = column.to_numpy(zero_copy_only=False)
    return table


@contextmanager
def _read_errors(name: str) -> Iterator[None]:
    """Turn errors of the storage into a sentence."""
    try:
        yield
    except Exception as error:
        if not isinstance(error, OSError) and _package(error) != "pyarrow":
            raise
        reason = str(error).split("\n")[0].rstrip(". ")
        raise InvalidInput("X", f"{name} cannot be read: {reason}.") from error


def named_columns(names: Sequence[str], y: Any, columns: Sequence[str] | None) -> tuple[tuple[str, ...], str | None]:
    """Return the names of the features and of the target of a table with named columns."""
    if y is not None and not isinstance(y, str):
        raise InvalidInput("y", "X has named columns, so y must be the name of one of them.")
    asked = [*(() if columns is None else columns), *([] if y is None else [y])]
    for name in asked:
        if name not in names:
            raise InvalidInput("columns", f"Unknown column {name!r}. The table has: {', '.join(names)}.")
    features = tuple(name for name in names if name != y) if columns is None else tuple(columns)
    if not features or y in features:
        raise InvalidInput("columns", "columns must name one feature or more, and not the target.")
    return features, y


def _package(value: object) -> str:
    return type(value).__module__.split(".")[0]


def _is_arrow_dataset(X: object) -> bool:
    return _package(X) == "pyarrow" and hasattr(X, "get_fragments")
