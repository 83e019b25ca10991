"""Pieces of sentences about what came: values as a reader would write them, lists that end, the name that was meant."""

import difflib
import itertools
import json
import math
from collections.abc import Iterable, Sequence
from typing import Any

LONGEST_VALUE = 60  # characters of a value that a sentence shows
LISTED = 8  # names that a sentence lists
LONGEST_NAME = 500  # characters of a name that others are compared with


def shown(value: Any) -> str:
    """A value as JSON, cut where it is long."""
    if isinstance(value, int) and value.bit_length() > 100:
        return f"a whole number of about {round(value.bit_length() * math.log10(2)):,} digits"
    if isinstance(value, dict | list) and not value:
        return "an empty object" if isinstance(value, dict) else "an empty list"
    try:
        written = json.dumps(_beginning(value), ensure_ascii=False, default=lambda other: type(other).__name__)
    except (ValueError, RecursionError):  # numbers too long to print, nesting too deep
        written = f"a {type(value).__name__}"
    return _printable(cut(written, LONGEST_VALUE))


def cut(text: str, length: int) -> str:
    """The text, with an ellipsis where it is longer."""
    return text if len(text) <= length else text[: length - 1] + "…"


def named(name: str) -> str:
    """A name in quotes."""
    return _printable(f'"{cut(name, LONGEST_VALUE)}"')


def figure(number: float) -> str:
    """A number with separators or a short exponent: 20,000 or 1e-50."""
    if number == int(number) and abs(number) < 1e15:
        return f"{int(number):,}"
    return f"{number:.6g}".replace("e+", "e")


def counted(count: int, one: str, many: str | None = None) -> str:
    """1 row, 2 rows"""
    return f"{count:,} {one if count == 1 else many or one + 's'}"


def listed(names: Sequence[str], quoted: bool = False) -> str:
    """The first few names and how many there are in all."""
    first = [_printable(named(name) if quoted else cut(name, LONGEST_VALUE)) for name in names[:LISTED]]
    if len(names) > LISTED:
        return f"{', '.join(first)}, … ({len(names):,})"
    return " and ".join([", ".join(first[:-1]), first[-1]]) if len(first) > 1 else "".join(first)


def alternatives(names: Sequence[str]) -> str:
    """ "a", "b" or "c" """
    quoted = [named(name) for name in names]
    return f"{', '.join(quoted[:-1])} or {quoted[-1]}" if len(quoted) > 1 else quoted[0]


def nearest(name: str, names: Iterable[str]) -> str | None:
    """The name that was probably meant: the same but for its case and separators, or one with a few letters changed."""
    plain = _plain(name[:LONGEST_NAME])
    candidates: dict[str, str] = {}
    for candidate in names:
        candidates.setdefault(_plain(candidate), candidate)
    if plain in candidates:
        return candidates[plain]
    close = difflib.get_close_matches(plain[:LONGEST_VALUE], candidates, n=1, cutoff=0.65)
    return candidates[close[0]] if close else None


def did_you_mean(came: str, suggestion: str | None, allowed: str) -> str:
    """What came and what is allowed, and between them the question whether another name was meant."""
    if suggestion is None:
        return f"{came}; {allowed}"
    return f"{came}; did you mean {named(suggestion)}? {allowed[0].upper()}{allowed[1:]}"


def _plain(name: str) -> str:
    return "".join(letter for letter in name.lower() if letter.isalnum()) or name


def _beginning(value: Any) -> Any:
    """As much of a value as a sentence may show: all of it may be megabytes."""
    if isinstance(value, str):
        return value[:LONGEST_VALUE]
    if isinstance(value, list):
        return [_beginning(one) for one in value[:LONGEST_VALUE]]
    if isinstance(value, dict):
        return {_beginning(name): _beginning(one) for name, one in itertools.islice(value.items(), LONGEST_VALUE)}
    return value


def _printable(text: str) -> str:
    """Without halves of characters, which JSON can hold and UTF-8 cannot."""
    return text.encode("utf-8", "backslashreplace").decode("utf-8")
