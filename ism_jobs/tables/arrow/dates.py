"""Timestamps as ISO text, with no more digits than their column needs: days, seconds, or fractions of a second."""

from typing import Any

import numpy as np
import pyarrow as pa

UNITS = ("D", "s", "ms", "us", "ns")  # from coarse to fine
TICKS = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}  # of a timestamp in one second
DAY = 86_400  # seconds
MOST_DAYS = 1 << 31  # that Arrow's type of dates can count


def unit_needed(column: Any, unit: str) -> str:
    """Return the coarsest unit, not coarser than `unit`, in which all timestamps of the column are whole."""
    own: str = column.type.unit
    ticks = column.drop_null().view(pa.int64()).to_numpy(zero_copy_only=False)
    for candidate in UNITS[UNITS.index(unit) :]:
        if candidate == own or _fits(ticks, candidate, column.type):
            return candidate
    return own


def _fits(ticks: Any, unit: str, type: Any) -> bool:
    step = _step(unit, type)
    if unit == "D" and (type.tz is not None or (len(ticks) and np.abs(ticks // step).max() >= MOST_DAYS)):
        return False  # midnight of a time zone is not known here
    return not (ticks % step).any()


def _step(unit: str, type: Any) -> int:
    """Return how many ticks of the type make one unit."""
    own = TICKS[type.unit]
    return own * DAY if unit == "D" else max(1, own // TICKS[unit])


def dated(column: Any, unit: str) -> Any:
    """Return timestamps as dates if the unit is "D", else as timestamps of the unit."""
    if unit == "D":
        days = column.view(pa.int64()).to_numpy(zero_copy_only=False) // _step("D", column.type)
        mask = column.is_null().to_numpy(zero_copy_only=False)
        return pa.array(np.where(mask, 0, days).astype(np.int32), pa.date32(), mask=mask)
    return column.cast(pa.timestamp(unit, column.type.tz))
