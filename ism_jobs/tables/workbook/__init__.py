"""Excel workbooks (XLSX): the cells of one sheet are streamed into a CSV file, which is read like any other."""

from ism_jobs.tables.workbook.reading import XlsxFile

__all__ = ["XlsxFile"]
