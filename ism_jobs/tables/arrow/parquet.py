"""Parquet files: the counts in the footer are checked first, then the rows are streamed."""

from collections.abc import Iterator
from typing import Any

import pyarrow.parquet as pq

from ism_jobs.tables.arrow.batches import ArrowTable
from ism_jobs.tables.kinds import TEXT, canonical_type
from ism_jobs.tables.source import Mapped

MOST_FOOTER_BYTES = 1 << 28  # of names and counts in the footer


class ParquetFile(ArrowTable):
    """A table in a Parquet file."""

    format = "parquet"
    title = "Parquet"

    def _open(self) -> tuple[Any, int]:
        opened = self._opened([])
        footer = opened.metadata
        self.limits.check_shape(footer.num_rows, footer.num_columns)
        self.limits.check_bytes(
            sum(footer.row_group(group).total_byte_size for group in range(footer.num_row_groups)), "The table"
        )
        return opened.schema_arrow, footer.num_rows

    def _iter_batches(self) -> Iterator[Any]:
        # Text stays dictionary-encoded until its length is checked: a small file can hold very long columns.
        words = [field.name for field in self._given if canonical_type(field.type, field.name) == TEXT]
        yield from self._opened(words).iter_batches(batch_size=self._rows_at_a_time, use_threads=False)

    def _opened(self, words: list[str]) -> Any:
        return pq.ParquetFile(
            Mapped(self.file).reader(),
            read_dictionary=words,
            pre_buffer=False,
            thrift_string_size_limit=MOST_FOOTER_BYTES,
            thrift_container_size_limit=MOST_FOOTER_BYTES,
        )
