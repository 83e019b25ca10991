"""Numbers that are written as text: with a currency, a per cent sign, a unit, or a mark between thousands.

A column is read as numbers if each of its values is one, all with the same currency, unit and marks. Whole numbers
without any of these stay text if the file says that they are text: they may be codes such as "02134".
"""

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ism_jobs.sentences import named
from ism_jobs.tables.block import Block
from ism_jobs.tables.kinds import MISSING_NUMBER, NUMBER, TEXT

CURRENCIES = "$€£¥₹₩₽"
MARKS = ",.'’ \u00a0\u202f"  # between groups of three digits
PATTERN = (
    rf"^(?P<sign>[-+−]?) ?(?P<before>[{CURRENCIES}]?)[ \x{{a0}}]?(?P<inner>[-−]?)"
    rf"(?P<digits>[0-9]?[0-9{MARKS}]*[0-9](?:[eE][-+]?[0-9]+)?)"
    rf"[ \x{{a0}}\x{{202f}}]?(?P<after>(?:[%‰{CURRENCIES}]|[\pL°µ][\pL°µ²³/·]{{0,14}})?)$"
)
DIGITS = {  # by the decimal mark
    ".": r"^(?:[0-9]{1,3}(?:[,'’ \x{a0}\x{202f}][0-9]{3})+|[0-9]*)(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?$",
    ",": r"^(?:[0-9]{1,3}(?:[.'’ \x{a0}\x{202f}][0-9]{3})+|[0-9]+)(?:,[0-9]+)?$",
}
PLAIN = r"[0-9eE+-]"  # characters of a number that are no marks
FIRST_VALUES = 16  # first values of a column that are tried; they already identify most words
_LIKE_NUMBER = re.compile(
    rf"[-+−({CURRENCIES}]?[\s{CURRENCIES}]*[0-9][0-9{MARKS}]*([eE][-+]?[0-9]+)?\)?\s?[%‰°{CURRENCIES}\w]{{0,3}}"
)
_NO_VALUES = frozenset(MISSING_NUMBER.to_pylist())


def looks_like_number(text: str) -> bool:
    """Return whether a person would take this text for a number."""
    return text in _NO_VALUES or _LIKE_NUMBER.fullmatch(text) is not None


@dataclass
class _Style:
    """How all numbers of a column are written, as far as it is known."""

    is_possible: bool = True
    before: str | None = None
    after: str | None = None
    marks: set[str] = field(default_factory=set)
    fits: set[str] = field(default_factory=lambda: {".", ","})  # decimal marks that fit all values

    def add(self, column: Any) -> None:
        """Look at more values."""
        parts = _parts(column)
        if parts is None:
            self.is_possible = False
            return
        if len(parts) == 0:
            return
        digits = parts.field("digits")
        self.fits = {mark for mark in self.fits if pc.all(pc.match_substring_regex(digits, DIGITS[mark])).as_py()}
        before, after = (set(pc.unique(parts.field(part)).to_pylist()) for part in ("before", "after"))
        self.marks |= set("".join(pc.unique(pc.replace_substring_regex(digits, PLAIN, "")).to_pylist()))
        same = {self.before, *before} - {None}, {self.after, *after} - {None}
        self.is_possible = bool(self.fits) and len(self.thousands) <= 1 and all(len(each) == 1 for each in same)
        if self.is_possible:
            (self.before,), (self.after,) = same

    @property
    def decimal(self) -> str:
        """The decimal mark."""
        return "." if "." in self.fits else ","

    @property
    def thousands(self) -> set[str]:
        """The marks between thousands; at most one if the style is possible."""
        return self.marks - {self.decimal}

    @property
    def is_number(self) -> bool:
        """Whether the column is read as numbers. A bare decimal comma is not enough: "1,2" may be a list."""
        if not self.is_possible or self.before is None:
            return False
        is_marked = bool(self.before or self.after or self.thousands)
        return is_marked or (self.decimal == "." and "." in self.marks)

    @property
    def description(self) -> str:
        """What was left out of the texts."""
        found = [named(sign) for sign in (self.before, self.after) if sign]
        found += [f"{named(mark)} between thousands" for mark in self.thousands]
        found += ['"," as decimal mark'] if self.decimal == "," and "," in self.marks else []
        return f" ({', '.join(found)})" if found else ""

    def numbers(self, column: Any) -> Any:
        """Return the texts as an array of numbers, with NaN for missing values."""
        parts = _extracted(column)
        digits = pc.struct_field(parts, "digits")  # null if the parts are null
        for mark in self.thousands:
            digits = pc.replace_substring(digits, mark, "")
        digits = pc.replace_substring(digits, ",", ".")
        signs = pc.binary_join_element_wise(pc.struct_field(parts, "sign"), pc.struct_field(parts, "inner"), "")
        negative = pc.match_substring_regex(signs, "[-−]")
        values = pc.cast(digits, NUMBER).to_numpy(zero_copy_only=False)
        return np.where(pc.fill_null(negative, False).to_numpy(zero_copy_only=False), -values, values)


class WrittenNumbers:
    """The text columns of a table that hold numbers. The columns in `text` stay text."""

    def __init__(self, schema: Any, blocks: Iterator[Block], text: Collection[str] = ()) -> None:
        self._given = schema
        names = [field.name for field in schema if field.type == TEXT]
        styles = {row: _Style() for row, name in enumerate(names) if name not in text}
        is_first = True
        while styles and (block := next(blocks, None)) is not None:
            for row, style in styles.items():
                if is_first:
                    style.add(block.texts[row].slice(0, FIRST_VALUES))
                if style.is_possible:
                    style.add(block.texts[row])
            styles = {row: style for row, style in styles.items() if style.is_possible}
            is_first = False
        self._styles = {row: style for row, style in styles.items() if style.is_number}
        found = {names[row]: style for row, style in self._styles.items()}
        self.schema = pa.schema([(field.name, NUMBER if field.name in found else field.type) for field in schema])
        self.notes = []
        if found:
            listed = ", ".join(f"{named(name)}{style.description}" for name, style in found.items())
            self.notes = [f"Texts were read as numbers: {listed}."]

    def convert(self, block: Block) -> Block:
        """Return a block in which these columns are numbers."""
        if not self._styles:
            return block
        numbers, texts = iter(block.numbers), iter(enumerate(block.texts))
        kept_numbers, kept_texts = [], []
        for type in self._given.types:
            if type == NUMBER:
                kept_numbers.append(next(numbers))
                continue
            row, column = next(texts)
            if row in self._styles:
                kept_numbers.append(self._styles[row].numbers(column))
            else:
                kept_texts.append(column)
        return Block(block.rows, np.array(kept_numbers), kept_texts)


def _extracted(column: Any) -> Any:
    """Return the parts of each value, null for missing values and for texts that are no numbers."""
    return pc.extract_regex(pc.utf8_trim_whitespace(column), pattern=PATTERN)


def _parts(column: Any) -> Any | None:
    """Return the parts of all known values; None if one of them is no number."""
    known = pc.utf8_trim_whitespace(pc.drop_null(column))
    known = known.filter(pc.invert(pc.is_in(known, value_set=MISSING_NUMBER)))
    parts = _extracted(known)
    return None if parts.null_count else parts
