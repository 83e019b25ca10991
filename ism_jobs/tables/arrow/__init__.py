"""Arrow's types: Parquet, Feather and Arrow IPC files, and frames in memory. Record batches become blocks."""

from ism_jobs.tables.arrow.dates import dated, unit_needed
from ism_jobs.tables.arrow.frames import FrameTable
from ism_jobs.tables.arrow.ipc import IpcFile
from ism_jobs.tables.arrow.parquet import ParquetFile

__all__ = ["FrameTable", "IpcFile", "ParquetFile", "dated", "unit_needed"]
