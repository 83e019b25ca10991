"""CSV files as a table by reference: how they are written, and the kinds of their columns, from their beginnings."""

from collections.abc import Sequence
from itertools import starmap
from typing import Any

import numpy as np
import pyarrow as pa

from ism_jobs.errors import InvalidTable
from ism_jobs.tables.csv import ColumnKinds, sniff
from ism_jobs.tables.kinds import TEXT
from ism_jobs.tables.limits import Limits
from ism_jobs.tables.names import numbered, unique_names
from ism_jobs.tables.references.errors import read_errors
from ism_jobs.tables.references.parts import csv_batches
from ism_jobs.tables.references.places import Place, Roots
from ism_jobs.tables.references.reference import Dialect, File, KeptColumn, Reference
from ism_jobs.tables.references.stores import open_file

SAMPLE_BYTES = 1 << 20  # of the beginning of a file
SAMPLED_FILES = 8  # whose beginnings are read


def csv_reference(
    place: Place, files: Sequence[File], roots: Roots, limits: Limits, header: bool | None
) -> tuple[Reference, int]:
    """Return the reference of CSV files, and their estimated number of rows."""
    chosen = np.unique(np.linspace(0, len(files) - 1, SAMPLED_FILES).round().astype(int)).tolist()
    beginnings = [_beginning(place.at(files[number].path), files[number].size, roots) for number in chosen]
    text = _decoded(beginnings[0], place.at(files[0].path).uri)
    is_tsv = files[0].path.lower().endswith(".tsv")
    found = sniff(text, len(beginnings[0]) == files[0].size, header, "\t" if is_tsv else None)
    if found.aligned:
        raise InvalidTable(f"{files[0].path} separates its columns with spaces; separate them with commas or tabs.")
    dialect = Dialect(found.separator, found.decimal, found.has_header)
    limits.check_shape(0, len(found.first_row))
    names = unique_names(found.first_row, limits)[0] if found.has_header else numbered(len(found.first_row))
    kinds, rows, size = ColumnKinds(len(names), found.decimal), 0, 0
    for number, content in zip(chosen, beginnings, strict=True):
        each = place.at(files[number].path)
        _check_header(content, dialect, found.first_row, each.uri, place.at(files[0].path).uri)
        types = dict.fromkeys(names, TEXT)
        for batch in csv_batches(pa.BufferReader(content), dialect, names, types, names, each.uri):
            kinds.add(batch.columns)
            rows += batch.num_rows
        size += len(content)
    if not rows:
        raise InvalidTable(f"{place.uri} has a header but no rows below it. Send at least one row of values.")
    found_kinds: list[Any] = ["number" if kind == "number" else "text" for kind in kinds.result()]
    columns = tuple(starmap(KeptColumn, zip(names, found_kinds, strict=True)))
    return Reference(place.uri, "csv", tuple(files), columns, dialect), round(
        rows * sum(file.size for file in files) / size
    )


def _beginning(place: Place, size: int, roots: Roots) -> bytes:
    """Return the first bytes of a file up to the end of a line."""
    with read_errors(place.uri), open_file(place, roots) as file:
        content: bytes = file.read(SAMPLE_BYTES)
    if len(content) == size:
        return content
    end = content.rfind(b"\n") + 1
    if not end:
        raise InvalidTable(f"{place.uri} has a first line of more than {SAMPLE_BYTES:,} bytes; it is no table.")
    return content[:end]


def _decoded(content: bytes, uri: str) -> str:
    try:
        return content.decode()
    except UnicodeDecodeError:
        raise InvalidTable(f"{uri} is not written in UTF-8. Save it as UTF-8, without a byte order mark.") from None


def _check_header(content: bytes, dialect: Dialect, expected: list[str], uri: str, first: str) -> None:
    """Raise InvalidTable unless a file has the names of the first one, in the same order."""
    if not dialect.has_header:
        return
    names = sniff(_decoded(content, uri), False, True, dialect.separator).first_row
    if names != expected:
        different = next((name for name in names if name not in expected), None)
        lacking = next((name for name in expected if name not in names), None)
        detail = "in another order" if different is None and lacking is None else f"such as {different or lacking!r}"
        raise InvalidTable(f"{uri} has other columns than {first}, {detail}. All files must have the same header.")
