"""Detect the format of a file by its first bytes, then by its media type, then by its name."""

import re
from pathlib import PurePath

from ism_jobs.errors import InvalidTable, UnsupportedFormat

SUPPORTED = (
    "Supported formats are CSV, TSV, JSON, XLSX, Parquet, Feather (Arrow), Stata, SPSS, NPY and NPZ, "
    "each also with gzip or in a ZIP archive"
)

# The first bytes of the formats that are read. "zip" may be NPZ, XLSX or a zipped table.
SIGNATURES = {
    b"PAR1": "parquet",
    b"ARROW1": "arrow",
    b"\xff\xff\xff\xff": "arrow",  # a stream
    b"\x93NUMPY": "npy",
    b"PK\x03\x04": "zip",
    b"PK\x05\x06": "zip",
    b"<stata_dta>": "stata",
    b"$FL2": "spss",
    b"$FL3": "spss",
}
OLD_STATA = re.compile(rb"[\x68-\x73][\x01\x02]\x01")  # versions 104 to 115, order of bytes, and a constant

# The first bytes of other formats, with advice.
FOREIGN = {
    b"\xd0\xcf\x11\xe0": "an old Excel workbook (XLS) or one with a password; save it as XLSX without a password",
    b"\x89HDF": "an HDF5 file; save the array as NPY or the table as Parquet",
    b"FEA1": "a Feather file of version 1; save it as version 2",
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
    b"ASCII SPSS PORT": "a portable SPSS file; save it as SAV",
    b"HEADER RECORD*******": "a SAS transport file; save the table as CSV",
    b"\x00" * 12 + b"\xc2\xea\x81\x60": "a SAS file; save the table as CSV",
    b"\x7fELF": "a program",
}

# The beginnings of texts that are no table, in lower case, with advice. ARFF may begin with comments.
FOREIGN_TEXTS = (
    (
        re.compile(r"<(!--|(!doctype html|html|head|body|table|meta)\b)"),
        "a web page (HTML); open it in a browser, copy the table into a spreadsheet, and save that as CSV or XLSX",
    ),
    (re.compile(r"<(\?xml|!doctype)\b"), "XML; save the table as CSV"),
    (re.compile(r"(%[^\n]*\n\s*)*@relation\b"), "an ARFF file; save the table as CSV, for example with Weka"),
)

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
    ".feather": "a Feather file",
    ".arrow": "an Arrow file",
    ".dta": "a Stata file",
    ".sav": "an SPSS file",
    ".zsav": "an SPSS file",
    ".zip": "a ZIP archive",
}

SUFFIXES = {".csv": "csv", ".tsv": "tsv", ".tab": "tsv", ".json": "json", ".ndjson": "json", ".jsonl": "json"}

# "[" alone does not indicate JSON: a CSV file may start with the name "[id]".
JSON_START = re.compile(r"\s*(\{|\[\s*([\[{\]\"\-0-9]|$))")

# The first bytes of a text that name its charset.
BYTE_ORDER_MARKS = {b"\xef\xbb\xbf": "utf-8", b"\xff\xfe": "utf-16-le", b"\xfe\xff": "utf-16-be"}


def format_of(first: bytes, filename: str | None, content_type: str | None) -> str:
    """Return the format of a file: a value of SIGNATURES, "json", "csv" or "tsv".

    "tsv" only prefers tabs; the separators found decide.
    """
    if not first:
        raise InvalidTable("The file is empty. Send a table with at least one row and one column.")
    for signature, format in SIGNATURES.items():
        if first.startswith(signature):
            return format
    if OLD_STATA.match(first) and b"\x00" in first:
        return "stata"
    for signature, description in FOREIGN.items():
        if first.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(signature) or first.startswith(signature):
            raise UnsupportedFormat(f"The file is {description}. {SUPPORTED}.")
    opening = _opening(first)
    for pattern, description in FOREIGN_TEXTS:
        if pattern.match(opening.lstrip().lower()):
            raise UnsupportedFormat(f"The file is {description}. {SUPPORTED}.")
    if JSON_START.match(opening):
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
            return first[len(mark) :].decode(charset, errors="replace")
    return first.decode("latin-1")


def _suffix(filename: str | None) -> str:
    name = PurePath((filename or "").lower())
    return PurePath(name.stem).suffix if name.suffix in (".gz", ".gzip") else name.suffix
