"""JSON files: an array of rows, one object per line, or {"columns": […], "rows": […]}."""

from ism_jobs.tables.json.reading import JsonFile

__all__ = ["JsonFile"]
