"""What colors the dots of an embedding: classes with a legend, or values with a color bar."""

import math
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from ism_plots.names import line

Kind = Literal["auto", "classes", "values"]

CLASSES = 20  # most that a legend names; whole numbers with no more than these are classes
NAME = 28

# Okabe and Ito (2008), without the yellow that white paper swallows; beyond it Petroff (2021).
FEW = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#4C4C4C")
MANY = (
    "#3F90DA", "#FFA90E", "#BD1F01", "#832DB6", "#94A4A2",
    "#A96B59", "#E76300", "#B9AC70", "#717581", "#92DADD",
)  # fmt: skip
MARKERS = "osD^vPXp<>"
OTHERS = "#C8C8C8"


@dataclass(frozen=True)
class Classes:
    """Names in the order of the legend, and for every row the place of its class among them."""

    names: list[str]
    codes: NDArray[np.intp]
    colors: list[str]

    def markers(self, rows: int) -> str:
        """A marker for each class: all dots where there are too many rows to see shapes, unless colors repeat."""
        few = len(self.names) <= len(FEW) and rows <= 2_000
        return "".join(MARKERS[(code if few else code // len(MANY)) % len(MARKERS)] for code in range(len(self.names)))


@dataclass(frozen=True)
class Values:
    """A number for every row, NaN where it is missing."""

    numbers: NDArray[np.float64]


def grouped(groups: Sequence[Any] | NDArray[Any], kind: Kind) -> Classes | Values:
    """Values if they are numbers, unless they are whole and few; else classes. `kind` overrules it for numbers."""
    items = [_known(item) for item in (groups.tolist() if isinstance(groups, np.ndarray) else groups)]
    present = [item for item in items if item is not None]
    numbers = [item for item in present if isinstance(item, float)]
    if present and kind != "classes" and len(numbers) == len(present):
        distinct = set(numbers)
        whole = all(item.is_integer() for item in distinct)
        if kind == "values" or len(distinct) > CLASSES or not whole:
            return Values(np.array([np.nan if item is None else item for item in items], dtype=np.float64))
    return _classes(items)


def _known(item: Any) -> float | str | None:
    """The item as a number or as text; None where it is missing."""
    if item is None or (isinstance(item, float) and not math.isfinite(item)):
        return None
    if isinstance(item, bool) or not isinstance(item, int | float | np.integer | np.floating):
        return str(item)
    return float(item)


def _classes(items: list[float | str | None]) -> Classes:
    counts = Counter(item for item in items if item is not None)
    frequent = sorted(counts, key=lambda item: (-counts[item], _order(item)))
    shown = sorted(frequent if len(frequent) <= CLASSES else frequent[: CLASSES - 1], key=_order)
    names = [line(_text(item), NAME) for item in shown]
    palette = FEW if len(shown) <= len(FEW) else MANY
    colors = [palette[code % len(palette)] for code in range(len(shown))]
    places: dict[float | str | None, int] = {item: code for code, item in enumerate(shown)}
    if len(frequent) > len(shown):
        names.append(f"{len(frequent) - len(shown):,} others")
        colors.append(OTHERS)
        places |= {item: len(names) - 1 for item in frequent[len(shown) :]}
    if None in items:
        names.append("missing")
        colors.append(OTHERS)
        places[None] = len(names) - 1
    return Classes(names, np.array([places[item] for item in items], dtype=np.intp), colors)


def _text(item: float | str) -> str:
    if isinstance(item, str):
        return item
    return f"{item:.0f}" if item.is_integer() else f"{item:.6g}"


def _order(item: float | str) -> tuple[Any, ...]:
    """Numbers by size, then text with the numbers in it by size: "week 2" before "week 10"."""
    if isinstance(item, float):
        return (0, item)
    return (
        1,
        [(0, int(part), "") if part.isdecimal() else (1, 0, part) for part in re.split(r"(\d{1,18})", item)],
        item,
    )
