"""Convert columns to their canonical form: float64 or string, with null for missing values."""

from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from ism_jobs.errors import FieldError, InvalidTable

NUMBER = pa.float64()
TEXT = pa.string()

# Texts that stand for a missing value in formats that cannot mark one.
MISSING = pa.array(["", "NA", "N/A", "NaN", "nan", "null", "NULL", "None", "?"])
MISSING_SIGNS = pa.array(["-", "."])  # missing among numbers; among words they may be words
MISSING_NUMBER = pa.array([*MISSING.to_pylist(), *MISSING_SIGNS.to_pylist()])
BOOLEANS = pa.array(["true", "false"])


def numbers(column: Any, decimal: str = ".") -> Any | None:
    """Convert strings to float64; return None if one of them is neither a number nor missing."""
    if decimal != ".":
        if pc.any(pc.match_substring_regex(column, r"[^\s]\.|\.[^\s]")).as_py():  # a point alone is a missing value
            return None
        column = pc.replace_substring(column, decimal, ".")
    try:
        return without_nan(pc.cast(column, NUMBER))
    except pa.ArrowInvalid:
        pass
    trimmed = pc.utf8_trim_whitespace(column)
    known = pc.if_else(pc.is_in(trimmed, value_set=MISSING_NUMBER), pa.scalar(None, TEXT), trimmed)
    try:
        return without_nan(pc.cast(known, NUMBER))
    except pa.ArrowInvalid:
        return None


def booleans(column: Any) -> Any | None:
    """Convert the strings true and false to 1 and 0; return None if one of them is something else."""
    lowered = pc.utf8_lower(texts(pc.utf8_trim_whitespace(column)))
    if lowered.null_count + pc.sum(pc.is_in(lowered, value_set=BOOLEANS)).as_py() < len(lowered):
        return None
    return pc.cast(pc.cast(pc.equal(lowered, "true"), pa.uint8()), NUMBER)


def texts(column: Any) -> Any:
    """Return strings of a format that cannot mark missing values, with null for blanks and the words in MISSING."""
    absent = pc.is_in(pc.utf8_trim_whitespace(column), value_set=MISSING)
    return pc.if_else(absent, pa.scalar(None, TEXT), column) if pc.any(absent).as_py() else column


def without_blanks(column: Any) -> Any:
    """Return strings of a format that marks missing values, with null for blanks too."""
    blank = pc.equal(pc.utf8_trim_whitespace(column), "")
    return pc.if_else(blank, pa.scalar(None, TEXT), column) if pc.any(blank).as_py() else column


def without_nan(column: Any) -> Any:
    """Return float64 with null for NaN."""
    if not pc.any(pc.is_nan(column)).as_py():
        return column
    return pa.array(column.to_numpy(zero_copy_only=False), NUMBER, from_pandas=True)


def canonical_type(given: Any, name: str) -> Any:
    """Return the canonical type of a column of a typed format; raise InvalidTable if it is nested."""
    if isinstance(given, pa.BaseExtensionType):
        given = given.storage_type
    if pa.types.is_nested(given):
        sentence = f'The column "{name}" holds nested values ({str(given)[:60]}). Give every part a column of its own.'
        raise InvalidTable(sentence, [FieldError(name, sentence)])
    numeric = (
        pa.types.is_boolean,
        pa.types.is_integer,
        pa.types.is_floating,
        pa.types.is_decimal,
        pa.types.is_null,
    )
    return NUMBER if any(test(given) for test in numeric) else TEXT


def as_numbers(column: Any) -> Any:
    """Return a column of a typed format as an array of numbers, with NaN for missing values."""
    if isinstance(column, pa.ExtensionArray):
        column = column.storage
    if pa.types.is_boolean(column.type):
        column = pc.cast(column, pa.uint8())
    elif not (pa.types.is_integer(column.type) or pa.types.is_floating(column.type)):
        column = pc.cast(column, NUMBER)
    return column.to_numpy(zero_copy_only=False)


def as_texts(column: Any, name: str) -> Any:
    """Return a column of a typed format as strings."""
    if isinstance(column, pa.ExtensionArray):
        column = column.storage
    try:
        return without_blanks(_strings(column))
    except (pa.ArrowInvalid, UnicodeDecodeError) as error:
        sentence = f'The column "{name}" holds values that are not valid UTF-8 text. Convert them first.'
        raise InvalidTable(sentence, [FieldError(name, sentence)]) from error


def _strings(column: Any) -> Any:
    if pa.types.is_dictionary(column.type):
        # converts each distinct word once
        words = pc.take(_strings(column.dictionary), column.indices)
        return words if words.type == TEXT else pc.cast(words, TEXT)
    try:
        strings = pc.cast(column, TEXT)
    except pa.ArrowNotImplementedError:
        return pa.array([None if value is None else str(value) for value in column.to_pylist()], TEXT)
    strings.validate(full=True)
    return strings
