"""NPY and NPZ files, mapped into memory after their headers were checked."""

from ism_jobs.tables.numpy.arrays import NpyFile, NpzFile

__all__ = ["NpyFile", "NpzFile"]
