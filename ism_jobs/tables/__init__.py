"""Tables in and out: files in every format become one canonical form."""

from ism_jobs.tables.description import Column, Description
from ism_jobs.tables.limits import Limits
from ism_jobs.tables.reader import Reader, open_table, read_table
from ism_jobs.tables.write import FORMATS, write_table

__all__ = ["FORMATS", "Column", "Description", "Limits", "Reader", "open_table", "read_table", "write_table"]
