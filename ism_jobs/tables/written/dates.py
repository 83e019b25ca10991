"""Dates that are written as text: the format that all dates of a column have, and their values."""

from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

FIRST_VALUES = 16  # first values of a column that are tried; they already tell most text from dates

# The shape of a date and the formats (strptime) that it can have. If several fit all values, the first is taken.
SHAPES = (
    (r"\d{4}-\d{1,2}-\d{1,2}", ("%Y-%m-%d",)),
    (r"\d{4}/\d{1,2}/\d{1,2}", ("%Y/%m/%d",)),
    (r"\d{1,2}\.\d{1,2}\.\d{4}", ("%d.%m.%Y",)),
    (r"\d{1,2}/\d{1,2}/\d{4}", ("%m/%d/%Y", "%d/%m/%Y")),
    (r"\d{1,2}/\d{1,2}/\d{2}", ("%m/%d/%y", "%d/%m/%y")),
    (r"\d{1,2}-\d{1,2}-\d{4}", ("%m-%d-%Y", "%d-%m-%Y")),
    (r"\d{1,2} [A-Za-z]{3,9} \d{4}", ("%d %b %Y",)),
    (r"\d{1,2}-[A-Za-z]{3,9}-\d{4}", ("%d-%b-%Y",)),
    (r"[A-Za-z]{3,9} \d{1,2}, \d{4}", ("%b %d, %Y",)),
)
TIMES = (("", ""), (r" \d{1,2}:\d{2}:\d{2}", " %H:%M:%S"), (r" \d{1,2}:\d{2}", " %H:%M"))
FORMATS = {
    date + time: f"^{date_shape}{time_shape}$"
    for date_shape, dates in SHAPES
    for time_shape, time in TIMES
    for date in dates
}
# A time of day; fractions of a second and the time zone behind it are left out.
TIME_OF_DAY = r"^(.*\d)[T ]+(\d{1,2}:\d{2}(?::\d{2})?)(?:[.,]\d+)? ?(?:Z|UTC|[+-]\d{2}:?\d{2})?$"


class DateFormats:
    """Finds the format of the dates of a text column, block by block."""

    def __init__(self) -> None:
        self._formats: list[str] | None = None  # those that fit all values so far; None before the first value

    def add(self, column: Any) -> None:
        """Look at more values."""
        if self._formats == []:
            return
        known = pc.drop_null(column)
        if len(known) == 0:
            return
        if self._formats is None:
            self._formats = _fitting(list(FORMATS), known.slice(0, FIRST_VALUES))
        self._formats = _fitting(self._formats, known)

    @property
    def format(self) -> str | None:
        """The format that all values have; None if they are not all dates."""
        return self._formats[0] if self._formats else None


def parse_dates(column: Any, format: str) -> Any:
    """Return dates as seconds since 1970, with null for missing values and for texts in another format."""
    plain = _plain(column)
    shaped = pc.if_else(pc.match_substring_regex(plain, FORMATS[format]), plain, pa.scalar(None, pa.string()))
    return pc.strptime(shaped, format=format, unit="s", error_is_null=True)


def _fitting(formats: list[str], known: Any) -> list[str]:
    """Return the formats that all of these values have."""
    if not formats:
        return []
    plain = _plain(known)
    shaped = {
        shape: pc.all(pc.match_substring_regex(plain, shape)).as_py()
        for shape in {FORMATS[format] for format in formats}
    }
    return [
        format
        for format in formats
        if shaped[FORMATS[format]] and pc.strptime(plain, format=format, unit="s", error_is_null=True).null_count == 0
    ]


def _plain(column: Any) -> Any:
    return pc.replace_substring_regex(pc.utf8_trim_whitespace(column), TIME_OF_DAY, r"\1 \2")
