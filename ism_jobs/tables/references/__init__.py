"""Tables by reference: their rows stay in Parquet or CSV files on a mounted path, in an object store or on the web."""

from ism_jobs.tables.references.describe import describe_reference
from ism_jobs.tables.references.errors import Gone, Unreachable
from ism_jobs.tables.references.listing import check_unchanged
from ism_jobs.tables.references.parts import TableParts
from ism_jobs.tables.references.places import ANYWHERE, Place, Roots, WrongPlace
from ism_jobs.tables.references.reference import Reference
from ism_jobs.tables.references.stores import exists, new_file, open_file, try_writing

__all__ = [
    "ANYWHERE",
    "Gone",
    "Place",
    "Reference",
    "Roots",
    "TableParts",
    "Unreachable",
    "WrongPlace",
    "check_unchanged",
    "describe_reference",
    "exists",
    "new_file",
    "open_file",
    "try_writing",
]
