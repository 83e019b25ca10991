"""The order of the levels of a text column, if the levels themselves state it beyond doubt."""

import re
from collections.abc import Collection

MAX_LEVELS = 20  # of an ordinal column: the description of a data set lists no more
FEWEST_LEVELS = 3  # two levels need no order

# Words in ascending order; words in one place mean the same.
SCALES: tuple[tuple[tuple[str, ...], ...], ...] = (
    (("very low",), ("low",), ("medium", "moderate", "middle", "mid"), ("high",), ("very high",)),
    (("tiny", "very small", "xs"), ("small", "s"), ("medium", "m"), ("large", "l"), ("huge", "very large", "xl")),
    (("never",), ("rarely", "seldom"), ("sometimes", "some"), ("often",), ("always",)),
    (("none", "no"), ("mild",), ("moderate",), ("severe",)),
    (("bad",), ("medium", "average"), ("good",)),
    (("very poor",), ("poor",), ("fair",), ("good",), ("very good",), ("excellent",)),
    (("strongly disagree",), ("disagree",), ("neutral", "undecided"), ("agree",), ("strongly agree",)),
)
PLACE = re.compile(r"(\d+)(?:st|nd|rd|th)\b(.*)", re.IGNORECASE)  # "1st", "2nd class"
RANGE = re.compile(r"(<|>|≤|≥|<=|>=|under |over )?\s*(\d+(?:\.\d+)?)\s*(?:\+|(?:-|–|to)\s*\d+(?:\.\d+)?\s*(.*)|)")


def ordered(levels: Collection[str]) -> tuple[str, ...] | None:
    """Return the levels in ascending order, or None if they do not state one."""
    if not FEWEST_LEVELS <= len(levels) <= MAX_LEVELS:
        return None
    for positions in (_on_a_scale(levels), _places(levels), _ranges(levels)):
        if positions is not None and len(set(positions.values())) == len(positions):
            return tuple(sorted(positions, key=lambda level: positions[level]))
    return None


def _on_a_scale(levels: Collection[str]) -> dict[str, float] | None:
    for scale in SCALES:
        places = {word: place for place, words in enumerate(scale) for word in words}
        words = {level: re.sub(r"[\s_-]+", " ", level.strip().lower()) for level in levels}
        if all(word in places for word in words.values()):
            return {level: float(places[word]) for level, word in words.items()}
    return None


def _places(levels: Collection[str]) -> dict[str, float] | None:
    """Return the numbers of "1st", "2nd" and so on; what follows must be the same in all levels."""
    found = {level: PLACE.fullmatch(level.strip()) for level in levels}
    if not all(found.values()) or len({match[2] for match in found.values() if match}) > 1:
        return None
    return {level: float(match[1]) for level, match in found.items() if match}


def _ranges(levels: Collection[str]) -> dict[str, float] | None:
    """Return the lower ends of ranges such as "<18", "18-24" and "65+"; at least one must have two ends."""
    found = {level: RANGE.fullmatch(level.strip()) for level in levels}
    if not all(found.values()) or not any(match[3] is not None for match in found.values() if match):
        return None
    below = ("<", "≤", "<=", "under ")
    return {level: float(match[2]) - (match[1] in below) / 2 for level, match in found.items() if match}
