"""CSV and TSV files: their dialect is detected, then each column's type."""

from ism_jobs.tables.csv.column_kinds import ColumnKinds
from ism_jobs.tables.csv.reading import CsvFile
from ism_jobs.tables.csv.sniff import sniff

__all__ = ["ColumnKinds", "CsvFile", "sniff"]
