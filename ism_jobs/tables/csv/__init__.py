"""CSV and TSV files: their dialect is detected, then each column's type."""

from ism_jobs.tables.csv.reading import CsvFile

__all__ = ["CsvFile"]
