"""Parts of error messages: values, names and lists of bounded length, and the name that was probably meant."""

import difflib
import itertools
import json
import math
from collections.abc import Iterable, Sequence
from typing import Any

LONGEST_VALUE = 60  # characters of a value or name that a sentence shows
MOST_LISTED = 8  # names that a sentence lists
SIMILARITY = 0.65  # difflib's ratio from which a name is suggested: one letter in three may differ
LONGEST_COMPARED = 500  # characters of a name that is searched for among others


def shown(value: Any) -> str:
    """Return a value as JSON, truncated if it is long."""
    if isinstance(value, int) and value.bit_length() > 100:
        return f"a whole number of about {round(value.bit_length() * math.log10(2)):,} digits"
    if isinstance(value, dict | list) and not value:
        return "an empty object" if isinstance(value, dict) else "an empty list"
    try:
        written = json.dumps(_shortened(value), ensure_ascii=False, default=lambda other: type(other).__name__)
    except (ValueError, RecursionError):  # numbers with too many digits, nesting too deep
        written = f"a {type(value).__name__}"
    return _printable(truncated(written, LONGEST_VALUE))


def truncated(text: str, length: int) -> str:
    """Return the text, with an ellipsis if it is longer than `length`."""
    return text if len(text) <= length else text[: length - 1] + "…"


def named(name: str) -> str:
    """Return a name in quotes."""
    return _printable(f'"{truncated(name, LONGEST_VALUE)}"')


def figure(number: float) -> str:
    """Return a number with separators or a short exponent: 20,000 or 1e-50."""
    if number == int(number) and abs(number) < 1e15:
        return f"{int(number):,}"
    return f"{number:.6g}".replace("e+", "e")


def counted(count: int, one: str, many: str | None = None) -> str:
    """Return a count with its noun: "1 row", "2 rows"."""
    return f"{count:,} {one if count == 1 else many or one + 's'}"


def listed(names: Sequence[str], quoted: bool = False) -> str:
    """Return the first few names, and how many there are in all."""
    first = [_printable(named(name) if quoted else truncated(name, LONGEST_VALUE)) for name in names[:MOST_LISTED]]
    if len(names) > MOST_LISTED:
        return f"{', '.join(first)}, … ({len(names):,})"
    return " and ".join([", ".join(first[:-1]), first[-1]]) if len(first) > 1 else "".join(first)


def alternatives(names: Sequence[str]) -> str:
    """Return names in quotes, the last after "or"."""
    quoted = [named(name) for name in names]
    return f"{', '.join(quoted[:-1])} or {quoted[-1]}" if len(quoted) > 1 else quoted[0]


def nearest(name: str, names: Iterable[str]) -> str | None:
    """Return the name that was probably meant: equal but for case and separators, or with a few letters changed."""
    plain = _plain(name[:LONGEST_COMPARED])
    candidates: dict[str, str] = {}
    for candidate in names:
        candidates.setdefault(_plain(candidate), candidate)
    if plain in candidates:
        return candidates[plain]
    close = difflib.get_close_matches(plain[:LONGEST_VALUE], candidates, n=1, cutoff=SIMILARITY)
    return candidates[close[0]] if close else None


def did_you_mean(problem: str, suggestion: str | None, allowed: str) -> str:
    """Return the problem and what is allowed; between them, ask whether the suggested name was meant."""
    if suggestion is None:
        return f"{problem}; {allowed}"
    return f"{problem}; did you mean {named(suggestion)}? {allowed[0].upper()}{allowed[1:]}"


def _plain(name: str) -> str:
    return "".join(letter for letter in name.lower() if letter.isalnum()) or name


def _shortened(value: Any) -> Any:
    """Return as much of a value as a sentence can show, since all of it may be megabytes."""
    if isinstance(value, str):
        return value[:LONGEST_VALUE]
    if isinstance(value, list):
        return [_shortened(one) for one in value[:LONGEST_VALUE]]
    if isinstance(value, dict):
        return {_shortened(name): _shortened(one) for name, one in itertools.islice(value.items(), LONGEST_VALUE)}
    return value


def _printable(text: str) -> str:
    """Escape lone surrogates, which JSON can hold and UTF-8 cannot."""
    return text.encode("utf-8", "backslashreplace").decode("utf-8")
