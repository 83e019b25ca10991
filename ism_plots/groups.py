"""The groups that color the points of an embedding: classes with a legend, or values with a color bar."""

import math
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from ism_plots.names import one_line

Kind = Literal["auto", "classes", "values"]

MAX_CLASSES = 20  # most classes in a legend; integers with at most so many distinct values are classes
NAME_WIDTH = 28  # characters of a class name
MAX_SHAPED_ROWS = 2_000  # with more rows, the shapes of markers cannot be seen

# Okabe and Ito (2008) without yellow, which is invisible on white paper; Petroff (2021) for more classes.
FEW_COLORS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#4C4C4C")
MANY_COLORS = (
    "#3F90DA", "#FFA90E", "#BD1F01", "#832DB6", "#94A4A2",
    "#A96B59", "#E76300", "#B9AC70", "#717581", "#92DADD",
)  # fmt: skip
MARKERS = "osD^vPXp<>"
OTHERS_COLOR = "#C8C8C8"  # light gray, for classes that have no color of their own


@dataclass(frozen=True)
class Classes:
    """Class names in the order of the legend, and the class code of every row."""

    names: list[str]
    codes: NDArray[np.intp]
    colors: list[str]

    def markers(self, rows: int) -> str:
        """Return a marker for each class: different shapes for a few rows, otherwise dots unless colors repeat."""
        few = len(self.names) <= len(FEW_COLORS) and rows <= MAX_SHAPED_ROWS
        return "".join(
            MARKERS[(code if few else code // len(MANY_COLORS)) % len(MARKERS)] for code in range(len(self.names))
        )


@dataclass(frozen=True)
class Values:
    """A number for every row; NaN if it is missing."""

    numbers: NDArray[np.float64]


def group_items(groups: Sequence[Any] | NDArray[Any], kind: Kind) -> Classes | Values:
    """Return values for numbers, and classes for text and for a few distinct integers. `kind` overrides this."""
    items = [_known(item) for item in (groups.tolist() if isinstance(groups, np.ndarray) else groups)]
    present = [item for item in items if item is not None]
    numbers = [item for item in present if isinstance(item, float)]
    if present and kind != "classes" and len(numbers) == len(present):
        distinct = set(numbers)
        whole = all(item.is_integer() for item in distinct)
        if kind == "values" or len(distinct) > MAX_CLASSES or not whole:
            return Values(np.array([np.nan if item is None else item for item in items], dtype=np.float64))
    return _classes(items)


def _known(item: Any) -> float | str | None:
    """Return the item as a number or as text; None if it is missing."""
    if item is None or (isinstance(item, float) and not math.isfinite(item)):
        return None
    if isinstance(item, bool) or not isinstance(item, int | float | np.integer | np.floating):
        return str(item)
    return float(item)


def _classes(items: list[float | str | None]) -> Classes:
    counts = Counter(item for item in items if item is not None)
    frequent = sorted(counts, key=lambda item: (-counts[item], _order(item)))
    shown = sorted(frequent if len(frequent) <= MAX_CLASSES else frequent[: MAX_CLASSES - 1], key=_order)
    names = [one_line(_text(item), NAME_WIDTH) for item in shown]
    palette = FEW_COLORS if len(shown) <= len(FEW_COLORS) else MANY_COLORS
    colors = [palette[code % len(palette)] for code in range(len(shown))]
    places: dict[float | str | None, int] = {item: code for code, item in enumerate(shown)}
    if len(frequent) > len(shown):
        names.append(f"{len(frequent) - len(shown):,} others")
        colors.append(OTHERS_COLOR)
        places |= {item: len(names) - 1 for item in frequent[len(shown) :]}
    if None in items:
        names.append("missing")
        colors.append(OTHERS_COLOR)
        places[None] = len(names) - 1
    return Classes(names, np.array([places[item] for item in items], dtype=np.intp), colors)


def _text(item: float | str) -> str:
    if isinstance(item, str):
        return item
    return f"{item:.0f}" if item.is_integer() else f"{item:.6g}"


def _order(item: float | str) -> tuple[Any, ...]:
    """Return the sort key: numbers first, then text in natural order, "week 2" before "week 10"."""
    if isinstance(item, float):
        return (0, item)
    return (
        1,
        [(0, int(part), "") if part.isdecimal() else (1, 0, part) for part in re.split(r"(\d{1,18})", item)],
        item,
    )
