"""Names of columns: without surrounding spaces, not empty, unique."""

from collections.abc import Sequence

from ism_jobs.errors import InvalidTable
from ism_jobs.sentences import listed
from ism_jobs.tables.limits import Limits


def numbered(columns: int, prefix: str = "x") -> list[str]:
    """Return names for columns that have none: x1, x2, …"""
    return [f"{prefix}{position}" for position in range(1, columns + 1)]


def unique_names(given: Sequence[str], limits: Limits) -> tuple[list[str], list[str]]:
    """Return unique names, and notes on those that were changed."""
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
        notes.append(f"Column names that occur more than once were numbered: {listed(duplicates, quoted=True)}.")
    if unnamed:
        notes.append(f"Columns without a name are named by their position: {listed(unnamed, quoted=True)}.")
    return names, notes


def check_encodable(name: str) -> None:
    """Raise InvalidTable if a name has a lone surrogate, which JSON can escape but UTF-8 cannot encode."""
    try:
        name.encode()
    except UnicodeEncodeError:
        raise InvalidTable(
            f"The column name {name!a} contains a lone surrogate, which is not a character; write it in valid Unicode."
        ) from None
