"""User text in plots: text of any length and with any characters becomes one short line."""

import unicodedata
from typing import Any

REPLACEMENT = "\ufffd"  # drawn instead of a character that fonts or XML cannot show
_SPACES = {"Cc", "Zl", "Zp", "Zs"}  # Unicode categories of spaces, line breaks and control characters
_UNDRAWABLE = {"Cn", "Co", "Cs"}  # Unicode categories without glyphs; XML does not allow some of them


def one_line(text: Any, width: int) -> str:
    """Return the text as one line of at most `width` columns; the middle of longer text is left out."""
    clean = " ".join("".join(map(_drawable, unicodedata.normalize("NFC", str(text)))).split())
    if not clean:
        return "(empty)"
    if text_width(clean) <= width:
        return clean
    tail = _fitting(clean[::-1], (width - 1) // 3)[::-1]
    head = _fitting(clean, width - 1 - text_width(tail))
    return f"{head.rstrip()}…{tail.lstrip()}"


def text_width(text: str) -> int:
    """Return the width of the text in columns; Chinese, Japanese and Korean characters take two."""
    return sum(_columns(character) for character in text)


def _drawable(character: str) -> str:
    category = unicodedata.category(character)
    if category == "Cf":  # characters such as U+202E would reverse the surrounding text
        return ""
    if category in _SPACES:
        return " "
    return REPLACEMENT if category in _UNDRAWABLE else character


def _columns(character: str) -> int:
    if unicodedata.combining(character):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1


def _fitting(text: str, width: int) -> str:
    used = 0
    for place, character in enumerate(text):
        used += _columns(character)
        if used > width:
            return text[:place]
    return text
