"""Values of Stata and SPSS as Arrow columns: numbers, text, dates by their display format, and value labels as text."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from ism_jobs.tables.kinds import NUMBER, TEXT

DAY = 86_400_000  # milliseconds
SPSS_EPOCH = np.datetime64("1582-10-14", "ms")  # SPSS counts seconds from here
STATA_EPOCH = np.datetime64("1960-01-01", "ms")
LONGEST = 9_000 * 366 * DAY  # milliseconds from an epoch; values beyond are no dates

SPSS_DATE = re.compile(r"(A|E|J|S)?DATE\d|(QYR|MOYR|WKYR)\d")
SPSS_TIME = re.compile(r"(DATETIME|YMDHMS)\d")
STATA_FORMAT = re.compile(r"%-?(t[cCdmqh]|d)")
STATA_MONTHS = {"tm": 1, "tq": 3, "th": 6}  # months of one month, quarter or half year


def date_kind(format: str) -> str | None:
    """Return the kind of dates that a display format shows, or None if it shows no dates."""
    if found := STATA_FORMAT.match(format):
        return "td" if found[1] == "d" else found[1].lower()
    if SPSS_DATE.match(format):
        return "date"
    return "datetime" if SPSS_TIME.match(format) else None


def arrow_column(values: Sequence[Any], kind: str | None, labels: Mapping[Any, str] | None, is_text: bool) -> Any:
    """Return values as an Arrow column; `kind` is that of their dates, `labels` has the text for each value."""
    if labels is not None:
        return pa.array([None if value is None else labels.get(value) for value in values], TEXT)
    if is_text:
        return pa.array(values, TEXT)
    numbers = np.array(values, np.float64)  # None becomes NaN
    return pa.array(numbers, NUMBER, from_pandas=True) if kind is None else _dates(numbers, kind)


def _dates(numbers: Any, kind: str) -> Any:
    if kind in STATA_MONTHS:
        months, known = _whole(numbers * STATA_MONTHS[kind], LONGEST // DAY // 31)
        stamps = (np.datetime64("1960-01", "M") + months).astype("datetime64[ms]")
    else:
        milliseconds, known = _whole(numbers * {"td": DAY, "tc": 1}.get(kind, 1000), LONGEST)
        stamps = (STATA_EPOCH if kind in ("td", "tc") else SPSS_EPOCH) + milliseconds
    days = kind not in ("tc", "datetime")
    stamps = stamps.astype("datetime64[D]") if days else stamps
    return pa.array(stamps, pa.date32() if days else pa.timestamp("ms"), mask=~known)


def _whole(numbers: Any, most: int) -> tuple[Any, Any]:
    """Return whole numbers, and which of them are known and not beyond `most`."""
    known = np.abs(numbers) <= most  # False for NaN
    return np.where(known, numbers, 0).round().astype(np.int64), known
