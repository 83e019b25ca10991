"""Detect the format of a file by its first bytes, then by its media type, then by its name."""

import re
from pathlib import PurePath

from ism_jobs.errors import InvalidTable, UnsupportedFormat

SUPPORTED = "Supported formats are CSV, TSV, Parquet, NPY, NPZ and JSON, each also with gzip"

# The first bytes of the formats that are read.
SIGNATURES = {b"PAR1": "parquet", b"\x93NUMPY": "npy", b"PK\x03\x04": "npz", b"PK\x05\x06": "npz"}

# The first bytes of other formats, with advice.
FOREIGN = {
    b"\xd0\xcf\x11\xe0": "an Excel workbook; save it as CSV",
    b"\x89HDF": "an HDF5 file; save the array as NPY or the table as Parquet",
    b"ARROW1": "an Arrow file; save it as Parquet",
    b"ORC": "an ORC file; save it as Parquet",
    b"%PDF": "a PDF document",
    b"\x89PNG": "a PNG picture",
    b"\xff\xd8\xff": "a JPEG picture",
    b"GIF8": "a GIF picture",
    b"BZh": "compressed with bzip2; compress it with gzip, or not at all",
    b"\xfd7zXZ": "compressed with xz; compress it with gzip, or not at all",
    b"\x28\xb5\x2f\xfd": "compressed with zstd; compress it with gzip, or not at all",
    b"7z\xbc\xaf": "a 7-Zip archive; send the table itself",
    b"Rar!": "a RAR archive; send the table itself",
    b"\x1f\x8b": "compressed twice; compress it once",
    b"RDX": "an R workspace; save the table as CSV",
    b"X\n\x00\x00": "an R object; save the table as CSV",
    b"\x80\x02": "a Python pickle, which can run code when it is read; save the array as NPY or the table as Parquet",
    b"\x80\x03": "a Python pickle, which can run code when it is read; save the array as NPY or the table as Parquet",
    b"\x80\x04": "a Python pickle, which can run code when it is read; save the array as NPY or the table as Parquet",
    b"\x80\x05": "a Python pickle, which can run code when it is read; save the array as NPY or the table as Parquet",
    b"MATLAB 5": "a MATLAB file; save the table as CSV",
    b"\x7fELF": "a program",
    b"<!DOCTYPE": "a web page; send the table itself",
    b"<!doctype": "a web page; send the table itself",
    b"<html": "a web page; send the table itself",
    b"<?xml": "XML; save the table as CSV",
}

# Formats without a signature, by the Content-Type of the upload and by the suffix of its name.
MEDIA_TYPES = {
    "application/json": "json",
    "application/x-ndjson": "json",
    "application/jsonl": "json",
    "text/tab-separated-values": "tsv",
    "text/csv": "csv",
}

# Suffixes of formats with a signature: a file without the signature is not what its name says.
BINARY = {
    ".parquet": "a Parquet file",
    ".npy": "an NPY file",
    ".npz": "an NPZ file",
    ".xlsx": "an Excel workbook",
}

SUFFIXES = {".csv": "csv", ".tsv": "tsv", ".tab": "tsv", ".json": "json", ".ndjson": "json", ".jsonl": "json"}

# "[" alone does not indicate JSON: a CSV file may start with the name "[id]".
JSON_START = re.compile(r"\s*(\{|\[\s*([\[{\]\"\-0-9]|$))")

# The first bytes of a text that name its charset.
BYTE_ORDER_MARKS = {b"\xef\xbb\xbf": "utf-8", b"\xff\xfe": "utf-16-le", b"\xfe\xff": "utf-16-be"}


def format_of(first: bytes, filename: str | None, content_type: str | None) -> str:
    """Return "parquet", "npy", "npz", "json", "csv" or "tsv". "tsv" only prefers tabs; the separators found decide."""
    if not first:
        raise InvalidTable("The file is empty. Send a table with at least one row and one column.")
    for signature, format in SIGNATURES.items():
        if first.startswith(signature):
            return format
    for signature, description in FOREIGN.items():
        if first.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(signature) or first.startswith(signature):
            raise UnsupportedFormat(f"The file is {description}. {SUPPORTED}.")
    if JSON_START.match(_opening(first)):
        return "json"
    suffix = _suffix(filename)
    if suffix in BINARY:
        raise UnsupportedFormat(
            f'The file is called "{PurePath(filename or "").name}" but its content is not that of {BINARY[suffix]}. '
            f"{SUPPORTED}."
        )
    if b"\x00" in first and not first.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise UnsupportedFormat(f"The file is neither text nor a known binary format. {SUPPORTED}.")
    media_type = (content_type or "").split(";")[0].strip().lower()
    hint = MEDIA_TYPES.get(media_type) or SUFFIXES.get(suffix) or "csv"
    if hint == "json":
        raise InvalidTable(
            "The file is sent as JSON but starts with neither [ nor {. Send an array of objects, one object per line, "
            'or {"columns": [...], "rows": [...]}.'
        )
    return "tsv" if hint == "tsv" else "csv"


def _opening(first: bytes) -> str:
    for mark, charset in BYTE_ORDER_MARKS.items():
        if first.startswith(mark):
            return first[len(mark) : 1000].decode(charset, errors="replace")
    return first[:1000].decode("latin-1")


def _suffix(filename: str | None) -> str:
    name = PurePath((filename or "").lower())
    return PurePath(name.stem).suffix if name.suffix in (".gz", ".gzip") else name.suffix
