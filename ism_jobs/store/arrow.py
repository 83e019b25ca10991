"""Tables as bytes, the way they are stored: Arrow's stream format, compressed with Zstandard.

Data sets are stored batch by batch, artifacts of jobs as one table each.
"""

import pyarrow as pa

# For each table that a job produces, the columns that label its rows. The other columns hold its numbers.
LABEL_COLUMNS = {
    "W": ("feature",),
    "embedding": ("row", "group", "picture"),
    "labels": ("row",),
    "stability": ("feature",),
    "trace": ("stage",),
    "metrics": ("metric",),
}


def pack(table: "pa.Table | pa.RecordBatch") -> bytes:
    """Serialize a table."""
    sink = pa.BufferOutputStream()
    options = pa.ipc.IpcWriteOptions(compression="zstd")
    with pa.ipc.new_stream(sink, table.schema, options=options) as writer:
        writer.write(table)
    packed: bytes = sink.getvalue().to_pybytes()
    return packed


def unpack(packed: bytes) -> pa.Table:
    """Return the table that `pack` has serialized."""
    with pa.ipc.open_stream(packed) as reader:
        return reader.read_all()
