"""Numbers and dates that are written as text: how they are recognized, and their values."""

from ism_jobs.tables.written.dates import DateFormats, parse_dates
from ism_jobs.tables.written.numbers import WrittenNumbers, looks_like_number

__all__ = ["DateFormats", "WrittenNumbers", "looks_like_number", "parse_dates"]
