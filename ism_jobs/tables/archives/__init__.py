"""ZIP archives: what they are (NPZ, a workbook, or a zipped table), and their members within the limits."""

from ism_jobs.tables.archives.kinds import archive_format, unpacked_table
from ism_jobs.tables.archives.members import files_of, iter_pieces, opened_archive

__all__ = ["archive_format", "files_of", "iter_pieces", "opened_archive", "unpacked_table"]
