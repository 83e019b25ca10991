"""Tables in and out: files of every format become one canonical form, and results are written as files."""

from ism_jobs.tables.description import Column, Description
from ism_jobs.tables.limits import Limits
from ism_jobs.tables.reader import Reader, open_table, read_table
from ism_jobs.tables.source import disk_full_is_a_problem
from ism_jobs.tables.write import FORMATS, write_table

__all__ = [
    "FORMATS",
    "Column",
    "Description",
    "Limits",
    "Reader",
    "disk_full_is_a_problem",
    "open_table",
    "read_table",
    "write_table",
]
