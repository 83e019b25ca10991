"""Tables in and out: files of every format become one canonical form, and results are written as files."""

from ism_jobs.tables.description import Column, Description
from ism_jobs.tables.limits import Limits
from ism_jobs.tables.reader import Reader, open_table, read_frame, read_table
from ism_jobs.tables.references import (
    ANYWHERE,
    Place,
    Reference,
    Roots,
    TableParts,
    WrongPlace,
    check_unchanged,
    describe_reference,
    exists,
    new_file,
    open_file,
    try_writing,
)
from ism_jobs.tables.source import translate_disk_full
from ism_jobs.tables.write import FORMATS, write_table
from ism_jobs.tables.written import parse_dates

__all__ = [
    "ANYWHERE",
    "FORMATS",
    "Column",
    "Description",
    "Limits",
    "Place",
    "Reader",
    "Reference",
    "Roots",
    "TableParts",
    "WrongPlace",
    "check_unchanged",
    "describe_reference",
    "exists",
    "new_file",
    "open_file",
    "open_table",
    "parse_dates",
    "read_frame",
    "read_table",
    "translate_disk_full",
    "try_writing",
    "write_table",
]
