"""Partitions of dask arrays and dask frames, which Dask computes one at a time."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ism_core.errors import InvalidInput
from ism_core.objective.partitions.sources import named_columns
from ism_core.objective.partitions.table import BLOCK_ROWS, Block, Partitions


def of_collection(X: Any, y: Any, columns: Sequence[str] | None) -> Partitions:
    """Return the partitions of a dask frame with a named target, or of a dask array with another as y."""
    if hasattr(X, "to_delayed") and hasattr(X, "columns"):
        features, target = named_columns([str(name) for name in X.columns], y, columns)
        kept = X[[*features, *([] if target is None else [target])]]
        return FramePartitions(tuple(kept.to_delayed()), features, target)
    if columns is not None or isinstance(y, str):
        raise InvalidInput("columns", "X has no named columns; pass y as an array and leave columns out.")
    if X.ndim != 2:
        raise InvalidInput("X", f"X must be a table of rows and columns, not a dask array of {X.ndim} dimension(s).")
    if np.isnan(X.shape[0]):
        X = X.compute_chunk_sizes()
    X = X.rechunk({1: -1})
    if y is None:
        return ArrayOfDask(tuple(X.to_delayed().ravel()), (), int(X.shape[1]))
    from dask import array

    y = array.asarray(y)  # type: ignore[no-untyped-call]
    if len(y) != len(X):
        raise InvalidInput("y", f"y has {len(y)} value(s) but X has {len(X)} rows; there must be one for each row.")
    y = y.rechunk({0: X.chunks[0], **({1: -1} if y.ndim == 2 else {})})
    return ArrayOfDask(tuple(X.to_delayed().ravel()), tuple(y.to_delayed().ravel()), int(X.shape[1]))


@dataclass(frozen=True)
class FramePartitions:
    """The partitions of a dask frame."""

    parts: tuple[Any, ...]  # delayed frames of pandas
    features: tuple[str, ...]
    target: str | None

    @property
    def columns(self) -> int:
        return len(self.features)

    def __len__(self) -> int:
        return len(self.parts)

    def blocks(self, index: int) -> Iterator[Block]:
        frame = _computed(self.parts[index])
        for start in range(0, len(frame), BLOCK_ROWS):
            some = frame.iloc[start : start + BLOCK_ROWS]
            try:
                X = some[[*self.features]].to_numpy(dtype=np.float64, na_value=np.nan)
            except (TypeError, ValueError) as error:
                raise InvalidInput("X", f"Features must be numbers: {error}. Name others in columns.") from None
            yield X, None if self.target is None else some[self.target].to_numpy()


@dataclass(frozen=True)
class ArrayOfDask:
    """The chunks of a dask array, with those of the targets."""

    parts: tuple[Any, ...]
    targets: tuple[Any, ...]
    columns: int

    def __len__(self) -> int:
        return len(self.parts)

    def blocks(self, index: int) -> Iterator[Block]:
        X = _computed(self.parts[index])
        y = _computed(self.targets[index]) if self.targets else None
        for start in range(0, len(X), BLOCK_ROWS):
            rows = slice(start, start + BLOCK_ROWS)
            yield X[rows], None if y is None else y[rows]


def _computed(part: Any) -> Any:
    """Compute a partition in this thread, whatever clients there are."""
    return part.compute(scheduler="synchronous")
