"""Write arrays and tables as the bytes of NPY, NPZ and Parquet files.

The tests of the table readers and the fuzz drill use these functions. They write CSV and JSON by hand.
"""

import io
from typing import Any

import numpy as np
import pyarrow.parquet as pq


def npy(array: Any, **options: Any) -> bytes:
    """Return the bytes of an NPY file of one array; `options` go to `numpy.save`."""
    file = io.BytesIO()
    np.save(file, array, **options)
    return file.getvalue()


def npz(*arrays: Any, **named: Any) -> bytes:
    """Return the bytes of a compressed NPZ file of some arrays."""
    file = io.BytesIO()
    np.savez_compressed(file, *arrays, **named)
    return file.getvalue()


def parquet(table: Any, **options: Any) -> bytes:
    """Return the bytes of a Parquet file of an Arrow table; `options` go to `write_table`."""
    file = io.BytesIO()
    pq.write_table(table, file, **options)
    return file.getvalue()
