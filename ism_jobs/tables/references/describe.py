"""The description of a table by reference, from the footers of its files and a sample of its rows."""

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.types as pa_types

from ism_jobs.errors import FieldError, InvalidTable
from ism_jobs.sentences import counted, named
from ism_jobs.tables.arrow import unit_needed
from ism_jobs.tables.description import Description
from ism_jobs.tables.kinds import NUMBER, canonical_type
from ism_jobs.tables.limits import Limits
from ism_jobs.tables.names import unique_names
from ism_jobs.tables.reader import read_frame
from ism_jobs.tables.references.csv_files import csv_reference
from ism_jobs.tables.references.errors import read_errors
from ism_jobs.tables.references.listing import format_of, list_files
from ism_jobs.tables.references.parts import TableParts, footer
from ism_jobs.tables.references.places import Place, Roots, WrongPlace
from ism_jobs.tables.references.reference import File, KeptColumn, Reference

READERS = 16  # footers or parts that are read at a time
SAMPLE_ROWS = 24_000  # rows from which columns are described; more than the 10,000 texts that are counted
SAMPLE_PARTS, MOST_PARTS = 8, 100  # parts of the table that they come from, evenly spread: more if parts are small


def describe_reference(
    uri: str, roots: Roots, limits: Limits, header: bool | None = None
) -> tuple[Reference, Description]:
    """Return the reference of a table and its description."""
    try:
        place = Place.parse(uri)
        roots.check(place)
        files = list_files(place, roots)
    except WrongPlace as error:
        raise InvalidTable(str(error), [FieldError("uri", str(error))]) from None
    if format_of(files[0].path) == "csv":
        reference, estimate = csv_reference(place, files, roots, limits, header)
        return _described(reference, roots, estimate, {})
    footers = _footers(place, files, roots)
    kept = [
        file._replace(groups=tuple(found.row_group(group).num_rows for group in range(found.num_row_groups)))
        for file, found in zip(files, footers, strict=True)
    ]
    columns = _columns(place, kept, footers, limits)
    reference = Reference(place.uri, "parquet", tuple(kept), columns)
    if not reference.rows:
        raise InvalidTable(f"{place.uri} has no rows. Send at least one row of values.")
    return _described(reference, roots, reference.rows, _statistics(footers, columns))


def _footers(place: Place, files: Sequence[File], roots: Roots) -> list[Any]:
    def read(file: File) -> Any:
        each = place.at(file.path)
        with read_errors(each.uri):
            return footer(each, file, roots)

    with ThreadPoolExecutor(READERS) as readers:
        return list(readers.map(read, files))


def _columns(place: Place, files: Sequence[File], footers: Sequence[Any], limits: Limits) -> tuple[KeptColumn, ...]:
    """Return the columns of the first file; raise InvalidTable unless all others have the same ones."""
    schemas = [found.schema.to_arrow_schema() for found in footers]
    first = schemas[0]
    limits.check_shape(0, len(first))
    if unique_names(first.names, limits)[0] != first.names:
        raise InvalidTable(f"{files[0].path} has columns without a name, or with the same name; give each its own.")
    kinds = {field.name: _kind(field) for field in first}
    for file, schema in zip(files[1:], schemas[1:], strict=True):
        if schema.equals(first):
            continue
        others = {field.name: _kind(field) for field in schema}
        for name in [*kinds, *others]:
            if name not in others or name not in kinds:
                lacking, having = (file, files[0]) if name not in others else (files[0], file)
                sentence = f"{lacking.path} has no column {named(name)}, which {having.path} has."
            elif kinds[name] != others[name]:
                sentence = (
                    f"Column {named(name)} holds {_words(kinds[name])} in {files[0].path} and {_words(others[name])}"
                    f" in {file.path}."
                )
            else:
                continue
            raise InvalidTable(f"{sentence} All files of a table must have the same columns.")
    return tuple(KeptColumn(name, kind) for name, kind in kinds.items())


def _kind(field: Any) -> Any:
    if pa_types.is_timestamp(field.type):
        return "time"
    return "number" if canonical_type(field.type, field.name) == NUMBER else "text"


def _words(kind: str) -> str:
    return {"number": "numbers", "time": "timestamps"}.get(kind, "text")


def _statistics(footers: Sequence[Any], columns: Sequence[KeptColumn]) -> dict[str, tuple[float, float]]:
    """Return the smallest and largest number of each column of numbers of which all row groups tell them."""
    places = {footers[0].schema.column(place).path: place for place in range(footers[0].num_columns)}
    found = {}
    for column in columns:
        if column.kind == "number" and column.name in places:
            ends = [_ends(each, place) for each, place in _chunks(footers, column.name, places)]
            if ends and all(end is not None for end in ends):
                low, high = zip(*(end for end in ends if end is not None), strict=True)
                found[column.name] = min(low), max(high)
    return found


def _chunks(footers: Sequence[Any], name: str, places: dict[str, int]) -> Iterator[tuple[Any, int]]:
    for found in footers:
        place = places[name]
        if place >= found.num_columns or found.schema.column(place).path != name:  # another order of the columns
            place = next(p for p in range(found.num_columns) if found.schema.column(p).path == name)
        for group in range(found.num_row_groups):
            yield found.row_group(group), place


def _ends(group: Any, place: int) -> tuple[float, float] | None:
    statistics = group.column(place).statistics
    if statistics is None or not statistics.has_min_max:
        return None
    try:
        low, high = float(statistics.min), float(statistics.max)
    except (TypeError, ValueError):
        return None
    return (low, high) if np.isfinite(low) and np.isfinite(high) else None


def _described(
    reference: Reference, roots: Roots, rows: int, ends: dict[str, tuple[float, float]]
) -> tuple[Reference, Description]:
    """Return the reference with units, and its description from a sample: the first rows of some parts."""
    reference = _with_units(reference, roots)
    source = TableParts(reference, roots)
    count = max(SAMPLE_PARTS, min(MOST_PARTS, SAMPLE_ROWS * len(source) // rows)) if rows else SAMPLE_PARTS
    chosen = np.unique(np.linspace(0, len(source) - 1, count).round().astype(int)).tolist()
    names = [column.name for column in reference.columns]
    each = -(-SAMPLE_ROWS // len(chosen))
    with ThreadPoolExecutor(min(READERS, len(chosen))) as readers:
        slices = list(readers.map(lambda part: _first_rows(source, part, names, each), chosen))
    samples = [source.table(batches, names) for batches in slices if batches]
    if not samples:
        raise InvalidTable(f"{reference.uri} has no rows. Send at least one row of values.")
    texts = [column.name for column in reference.columns if column.kind == "text"]
    first, sample = (read_frame(each, text=texts)[1] for each in (samples[0], pa.concat_tables(samples)))
    counted_rows = sample.rows
    rows = rows if reference.rows is not None else max(rows, counted_rows)
    share = rows / counted_rows
    columns = []
    for column, begin in zip(sample.columns, first.columns, strict=True):
        found: dict[str, Any] = {"counter": begin.counter}
        if counted_rows < rows:
            found["missing"] = min(round(column.missing * share), rows)
        if column.name in ends:
            low, high = ends[column.name]
            found |= {"minimum": low, "maximum": high, "constant": column.constant and low == high}
        columns.append(column.model_copy(update=found))
    notes = [*sample.notes]
    if counted_rows < rows:
        about = "" if reference.rows is not None else "about "
        notes.append(
            f"The columns are described by {counted_rows:,} of {about}{rows:,} rows, the first ones of"
            f" {counted(len(chosen), 'part')} of the table."
        )
    return reference, Description(
        rows=rows,
        columns=columns,
        preview=first.preview,
        format=reference.format,
        notes=notes,
        uri=reference.uri,
        sampled=counted_rows if counted_rows < rows else None,
    )


def _with_units(reference: Reference, roots: Roots) -> Reference:
    """Return the reference with the coarsest unit of its timestamps in the first rows, so that dates have no time."""
    times = [column.name for column in reference.columns if column.kind == "time"]
    if not times:
        return reference
    units = dict.fromkeys(times, "D")
    for batch in _first_rows(TableParts(reference, roots), 0, times, SAMPLE_ROWS):
        units = {name: unit_needed(batch.column(name), unit) for name, unit in units.items()}
    columns = [
        KeptColumn(column.name, "text", units[column.name]) if column.kind == "time" else column
        for column in reference.columns
    ]
    return replace(reference, columns=tuple(columns))


def _first_rows(source: TableParts, part: int, names: Sequence[str], count: int) -> list[Any]:
    """Return the first rows of a part."""
    found: list[Any] = []
    for batch in source.batches(part, names, most=count):
        found.append(batch.slice(0, count))
        count -= len(found[-1])
        if count <= 0:
            break
    return found
