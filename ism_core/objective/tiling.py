"""Tiles of the upper triangle of all pairs of rows.

A panel is a row of tiles. An engine runs shares of the panels, always a long one with a short one, so that all shares
are equal.
"""

from collections.abc import Iterator
from itertools import pairwise

TILE = 512  # fewest rows of a panel; products with X reach full speed with twice as many
MIN_PANELS = 10  # number of panels below which panels keep their fewest rows, so that threads have enough of them

Cell = tuple[slice, slice]  # the rows and columns of a tile


def items(n: int) -> int:
    """Return the number of pairs of panels."""
    return -(-len(blocks(n)) // 2)


def panels_of(share: list[int], n: int, width: float, fine: int = 1) -> Iterator[tuple[slice, list[Cell]]]:
    """Yield the rows and the tiles of each panel of a share.

    Tiles are `width` times TILE wide, and those on the diagonal at most TILE / `fine` high.
    """
    everything = blocks(n)
    step = max(1, int(TILE * width))
    for item in share:
        for index in sorted({item, len(everything) - 1 - item}):
            rows = everything[index]
            right = [slice(start, min(start + step, n)) for start in range(rows.stop, n, step)]
            yield rows, [*_triangle(rows, max(1, TILE // fine)), *((rows, columns) for columns in right)]


def blocks(n: int) -> list[slice]:
    """Return the rows of each panel; heights differ by 1 at most, and the number of panels is a multiple of 4."""
    height = min(max(TILE, n // MIN_PANELS), 2 * TILE)
    count = 1 if n <= 5 * TILE // 4 else min(n, 4 * -(-n // (4 * height)))
    return [slice(start, stop) for start, stop in pairwise(n * i // count for i in range(count + 1))]


def _triangle(rows: slice, smallest: int) -> list[Cell]:
    """Return the tiles of a panel at the diagonal, by bisection; only the smallest reach below the diagonal."""
    if rows.stop - rows.start <= smallest:
        return [(rows, rows)]
    middle = (rows.start + rows.stop) // 2
    upper, lower = slice(rows.start, middle), slice(middle, rows.stop)
    return [*_triangle(upper, smallest), (upper, lower), *_triangle(lower, smallest)]
