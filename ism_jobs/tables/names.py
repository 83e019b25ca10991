"""Names of columns: stripped, never empty, never twice."""

from collections.abc import Sequence

from ism_jobs.errors import InvalidTable
from ism_jobs.tables.limits import Limits

SHOWN = 5  # names listed in a note


def numbered(columns: int, prefix: str = "x") -> list[str]:
    """Names for columns that have none: x1, x2, …"""
    return [f"{prefix}{position}" for position in range(1, columns + 1)]


def unique_names(given: Sequence[str], limits: Limits) -> tuple[list[str], list[str]]:
    """The names as they are used, and notes on those that had to change."""
    stripped = [name.strip() for name in given]
    taken = {name for name in stripped if name}
    used: set[str] = set()
    names, renamed, unnamed = [], [], []
    next_copy: dict[str, int] = {}
    for position, name in enumerate(stripped, start=1):
        new = name or f"column{position}"
        if new in used or (not name and new in taken):
            copy = next_copy.get(new, 2)
            while f"{new}.{copy}" in taken or f"{new}.{copy}" in used:
                copy += 1
            next_copy[new] = copy + 1
            new = f"{new}.{copy}"
            renamed.append(new)
        if not name:
            unnamed.append(new)
        limits.check_name(new)
        check_encodable(new)
        used.add(new)
        names.append(new)
    notes = []
    if duplicates := [name for name in renamed if name not in unnamed]:
        notes.append(f"Column names that came more than once were numbered: {listed(duplicates)}.")
    if unnamed:
        notes.append(f"Columns without a name are called by their position: {listed(unnamed)}.")
    return names, notes


def check_encodable(name: str) -> None:
    """Half of a surrogate pair can be escaped in JSON, but it is no character."""
    try:
        name.encode()
    except UnicodeEncodeError:
        raise InvalidTable(f"The column name {name!a} holds half a character; write it as valid Unicode.") from None


def listed(names: Sequence[str]) -> str:
    """The first few names, and how many more there are."""
    shown = ", ".join(f'"{name}"' for name in names[:SHOWN])
    return shown if len(names) <= SHOWN else f"{shown} and {len(names) - SHOWN:,} more"
