"""Files of Arrow's types: Parquet, Feather and Arrow IPC. Their record batches become blocks."""

from ism_jobs.tables.arrow.ipc import IpcFile
from ism_jobs.tables.arrow.parquet import ParquetFile

__all__ = ["IpcFile", "ParquetFile"]
