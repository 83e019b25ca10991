"""What a job makes of a column by itself: a feature, and how it becomes numbers, or nothing, and why.

Everything is judged by the description of the column, so that the API, the page and `ism fit` decide alike.
"""

import re
import sys
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from ism_jobs.checks.ordinal import ordered
from ism_jobs.sentences import counted
from ism_jobs.tables import Column

FeatureKind = Literal["number", "onehot", "binary", "ordinal", "date", "date_parts"]
Categorical = Literal["auto", "onehot", "refuse"]
Dates = Literal["auto", "number", "parts"]

MAX_ONEHOT_LEVELS = 1_000  # of a text column that is encoded on request: one feature for each level
MAX_AUTO_LEVELS = 30  # of a text column that is encoded by itself
ROWS_PER_LEVEL = 10  # rows for each level, on average, that a text column needs to be encoded by itself
FEWEST_AUTO_LEVELS = 4  # a text column with so few levels is encoded in small tables too
# A text column identifies rows if at least this share of its values is distinct; so does a whole-number column with a
# name of NUMBERING_NAMES or NUMBERING_WORDS.
NEARLY_ALL = 0.9
MAX_MISSING = 0.5  # share of missing values beyond which a column is left out
FEWEST_COUNTED_ROWS = 10  # a column that counts fewer rows may be a measurement, such as a dose
FEWEST_GROUPS = 20  # fewer groups of consecutive rows may be levels, such as a dose
MAX_GROUP_ROWS = 30  # rows of a group, on average; larger groups may be a table that is sorted by a measurement
PARTS_OF_DATE = ("year", "month", "weekday")  # and the hour, if the dates have a time

# Last words of a name that mark an identifier, for texts and whole numbers
IDENTIFIER_WORDS = frozenset(("id", "ids", "uuid", "guid", "identifier", "rownames", "rowname"))
IDENTIFIER_NAMES = frozenset(("row names", "row name"))
# Last words that mark an identifier of persons or groups, for whole numbers
GROUP_WORDS = frozenset(("subject", "subj", "patient", "participant", "respondent", "person", "stratum", "strata"))
# Names, and last words, that mark row numbers if nearly all values differ, or if they count rows within groups
NUMBERING_NAMES = frozenset(
    ("index", "idx", "row", "rows", "no", "nr", "obs", "observation", "case", "record", "serial", "seq", "key")
)
NUMBERING_WORDS = frozenset(("index", "idx", "no", "nr", "key"))
COUNTED_WORDS = frozenset(("number", "num"))  # last words that mark them only if the values count rows within groups
# Last words of quantities that are measured in steps; such a column stays a feature even if it numbers groups of rows
STEP_WORDS = frozenset(
    (
        *("time", "day", "days", "week", "weeks", "month", "months", "year", "years", "hour", "hours", "minute", "age"),
        *("period", "wave", "visit", "round", "trial", "session", "step", "rank", "dose", "level", "grade", "distance"),
    )
)
UNNAMED = re.compile(r"(column1|unnamed.*)", re.IGNORECASE)
WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[^\W\d_A-Z]+|\d+")  # of a name in any_style or AnyStyle


@dataclass(frozen=True)
class ColumnUse:
    """How a column becomes a feature, or the reason why it does not."""

    kind: FeatureKind | None  # None if it is left out
    reason: str | None = None  # a clause such as "it numbers the rows"


def column_use(
    column: Column, rows: int, categorical: Categorical = "auto", dates: Dates = "auto", *, named: bool = False
) -> ColumnUse:
    """Return the use of a column that has no other role. A column that the job has named is never left out."""
    if not named:
        reason = (
            _empty_reason(column, rows)
            or _identifier_reason(column, rows)
            or (_date_reason(column) if dates == "auto" else None)
            or _level_reason(column, rows, categorical)
        )
        if reason is not None:
            return ColumnUse(None, reason)
    if column.kind == "number":
        return ColumnUse("number")
    if column.date_format is not None:
        return ColumnUse("date_parts" if dates == "parts" else "date")
    return ColumnUse(text_kind(column.levels, column.distinct) if categorical == "auto" else "onehot")


def text_kind(levels: list[str] | None, distinct: int | None) -> FeatureKind:
    """Return how text becomes numbers: by order, as one 0/1 feature, or as a 0/1 feature for each level."""
    if levels is not None and distinct == len(levels):
        if distinct == 2:
            return "binary"
        if ordered(levels) is not None:
            return "ordinal"
    return "onehot"


def date_parts(date_format: str) -> tuple[str, ...]:
    """Return the parts that dates in this format become."""
    return (*PARTS_OF_DATE, "hour") if "%H" in date_format else PARTS_OF_DATE


def nearly_all_distinct(column: Column, rows: int) -> bool:
    """Return whether nearly all values of a column are different; also if there are too many to be counted."""
    return column.distinct is None or column.distinct >= NEARLY_ALL * (rows - column.missing)


def varies(column: Column) -> bool:
    """Return whether a column varies by more than the rounding of its values, as in ism_core's scaling."""
    if column.minimum is None or column.maximum is None:
        return column.kind == "text" and not column.constant
    size = max(abs(column.maximum), abs(column.minimum))
    return column.maximum / 2 - column.minimum / 2 > 5 * sys.float_info.epsilon * size  # halves do not overflow


def _empty_reason(column: Column, rows: int) -> str | None:
    if column.missing >= rows:
        return "it has no values"
    if column.missing > MAX_MISSING * rows:
        return f"{column.missing:,} of its {rows:,} values are missing"
    return None if varies(column) else "it is constant"


@lru_cache(10_000)  # names of columns come again with every job on their table
def _words(name: str) -> tuple[str, ...]:
    return tuple(word.lower() for word in WORD.findall(name))


def _identifier_reason(column: Column, rows: int) -> str | None:
    words = _words(column.name)
    last, name = (words[-1] if words else ""), " ".join(words)
    is_number = column.kind == "number"
    if (last in IDENTIFIER_WORDS or name in IDENTIFIER_NAMES) and (column.whole or not is_number):
        return "its name says that it identifies rows or groups"
    if last in GROUP_WORDS and column.whole and column.distinct != 2:
        return "its name says that it identifies persons or groups"
    if not is_number:
        if column.date_format is None and column.distinct is not None and nearly_all_distinct(column, rows):
            return f"{counted(column.distinct, 'text')} in {counted(rows - column.missing, 'row')} identify the rows"
        return None
    if column.counter == "rows" and column.minimum in (0, 1) and rows >= FEWEST_COUNTED_ROWS:
        return "it numbers the rows"
    marks_numbers = (
        name in NUMBERING_NAMES or last in NUMBERING_WORDS or UNNAMED.fullmatch(column.name.strip()) is not None
    )
    if marks_numbers and column.whole and nearly_all_distinct(column, rows):
        return "it numbers the rows"
    if column.counter == "blocks" and (marks_numbers or last in COUNTED_WORDS):
        return "it numbers rows within groups"
    return "it numbers groups of rows" if _numbers_groups(column, rows) and last not in STEP_WORDS else None


def _numbers_groups(column: Column, rows: int) -> bool:
    """Return whether a column numbers many small groups of consecutive rows from 0 or 1 on."""
    if column.counter != "groups" or column.minimum not in (0, 1) or column.distinct is None:
        return False
    return column.distinct >= FEWEST_GROUPS and rows <= MAX_GROUP_ROWS * column.distinct


def _date_reason(column: Column) -> str | None:
    return None if column.date_format is None else 'it holds dates, which dates = "number" or "parts" would use'


def _level_reason(column: Column, rows: int, categorical: Categorical) -> str | None:
    """Return the reason if a text column has too many levels to become a 0/1 feature for each."""
    if column.kind == "number" or column.date_format is not None:
        return None
    most = MAX_ONEHOT_LEVELS
    if categorical == "auto":
        most = max(FEWEST_AUTO_LEVELS, min(MAX_AUTO_LEVELS, (rows - column.missing) // ROWS_PER_LEVEL))
    if column.distinct is None:
        return "it has too many different texts to encode"
    return f"it has {column.distinct:,} different texts, too many to encode" if column.distinct > most else None
