"""Frames of pandas, polars or pyarrow, and arrays with names, as tables that are read like files."""

import io
import sys
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from ism_jobs.errors import InvalidTable
from ism_jobs.tables.arrow.batches import ArrowTable
from ism_jobs.tables.limits import Limits


class FrameTable(ArrowTable):
    """A table in memory."""

    format = "frame"
    title = "frame"

    def __init__(self, frame: Any, names: Sequence[str], limits: Limits) -> None:
        self._table = _as_arrow(frame, names)
        super().__init__(io.BytesIO(), limits)

    def _open(self) -> tuple[Any, int]:
        return self._table.schema, self._table.num_rows

    def _iter_batches(self) -> Iterator[Any]:
        yield from self._table.to_batches()


def _as_arrow(frame: Any, names: Sequence[str]) -> Any:
    """Return a frame as an Arrow table; an array has the names that are given."""
    pandas = sys.modules.get("pandas")
    try:
        if pandas is not None and isinstance(frame, pandas.DataFrame):
            named = frame.set_axis([str(name) for name in frame.columns], axis=1)
            return pa.Table.from_pandas(named, preserve_index=False).replace_schema_metadata(None)
        if isinstance(frame, pa.Table):
            return frame
        if hasattr(frame, "__arrow_c_stream__"):
            return pa.table(frame)
        columns = np.asarray(frame).T
        return pa.table([pa.array(each.tolist(), from_pandas=True) for each in columns], names=list(names))
    except (pa.ArrowException, TypeError, ValueError) as error:
        raise InvalidTable(f"The frame is no table of numbers and text: {str(error).partition(chr(10))[0]}") from error
