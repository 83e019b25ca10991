"""Write arrays and tables as the bytes of files in every binary format that is read.

The tests of the table readers and the fuzz drill use these functions. They write CSV and JSON by hand. The same table
always gives the same bytes: times of writing are replaced by constants.
"""

import io
import tempfile
import zipfile
from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet as pq

WRITTEN = datetime(2020, 1, 1)  # the time of writing in every file
SAV_TIME = slice(92, 109)  # bytes of the time of writing in an SPSS file


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


def feather(table: Any, **options: Any) -> bytes:
    """Return the bytes of a Feather file of an Arrow table; `options` go to `write_feather`."""
    file = io.BytesIO()
    pyarrow.feather.write_feather(table, file, **options)
    return file.getvalue()


def arrow_stream(table: Any) -> bytes:
    """Return the bytes of an Arrow stream of an Arrow table."""
    file = io.BytesIO()
    with pa.ipc.new_stream(file, table.schema) as writer:
        writer.write_table(table)
    return file.getvalue()


def zipped(members: Mapping[str, bytes | str], compression: int = zipfile.ZIP_DEFLATED) -> bytes:
    """Return the bytes of a ZIP archive."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", compression) as archive:
        for name, content in members.items():
            archive.writestr(zipfile.ZipInfo(name, WRITTEN.timetuple()[:6]), content, compression)
    return file.getvalue()


def xlsx(**sheets: Sequence[Sequence[Any]]) -> bytes:
    """Return the bytes of an Excel workbook with these sheets, each a list of rows."""
    import openpyxl

    book = openpyxl.Workbook(write_only=True)
    for name, rows in sheets.items():
        sheet = book.create_sheet(name)
        for row in rows:
            sheet.append(list(row))
    file = io.BytesIO()
    book.save(file)
    with zipfile.ZipFile(file) as archive:
        return zipped({name: archive.read(name) for name in archive.namelist() if not name.startswith("docProps")})


def stata(frame: Any, **options: Any) -> bytes:
    """Return the bytes of a Stata file of a pandas frame; `options` go to `to_stata`."""
    file = io.BytesIO()
    frame.to_stata(file, write_index=False, time_stamp=WRITTEN, **options)
    return file.getvalue()


def spss(frame: Any, **options: Any) -> bytes:
    """Return the bytes of an SPSS file of a pandas frame; `options` go to `pyreadstat.write_sav`."""
    import pyreadstat

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "table.sav"
        pyreadstat.write_sav(frame, path, **options)
        content = bytearray(path.read_bytes())
    content[SAV_TIME] = b"01 Jan 2000:00:00"
    return bytes(content)
