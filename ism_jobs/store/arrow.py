"""Tables as bytes, the way they are kept: Arrow's stream format, compressed."""

import pyarrow as pa

# The columns of a job's tables that are not among its numbers.
LABEL_COLUMNS = {
    "W": ("feature",),
    "embedding": ("row", "group"),
    "labels": ("row",),
    "stability": ("feature",),
    "trace": ("stage",),
    "metrics": ("metric",),
}


def pack(table: "pa.Table | pa.RecordBatch") -> bytes:
    """A table as it is kept."""
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema, options=pa.ipc.IpcWriteOptions(compression="zstd")) as writer:
        writer.write(table)
    packed: bytes = sink.getvalue().to_pybytes()
    return packed


def unpack(packed: bytes) -> pa.Table:
    """The table that `pack` was given."""
    with pa.ipc.open_stream(packed) as reader:
        return reader.read_all()
