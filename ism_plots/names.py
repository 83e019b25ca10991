"""Users' text in pictures: any characters, any length, made into one short line."""

import unicodedata
from typing import Any

REPLACEMENT = "\ufffd"
_SPACES = {"Cc", "Zl", "Zp", "Zs"}  # line breaks and tabs among them
_UNDRAWABLE = {"Cn", "Co", "Cs"}  # some of these may not even stand in XML


def line(text: Any, width: int) -> str:
    """The text as one line of at most `width` columns; from a longer one the middle is left out."""
    clean = " ".join("".join(map(_drawable, unicodedata.normalize("NFC", str(text)))).split())
    if not clean:
        return "(empty)"
    if columns(clean) <= width:
        return clean
    tail = _fitting(clean[::-1], (width - 1) // 3)[::-1]
    head = _fitting(clean, width - 1 - columns(tail))
    return f"{head.rstrip()}…{tail.lstrip()}"


def columns(text: str) -> int:
    """How many columns the text takes; Chinese, Japanese and Korean characters take two each."""
    return sum(_columns(character) for character in text)


def _drawable(character: str) -> str:
    category = unicodedata.category(character)
    if category == "Cf":  # marks such as U+202E would turn the text around them
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
