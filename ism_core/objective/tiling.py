"""How all pairs of rows are cut into tiles of the upper triangle.

A panel is a row of tiles. An engine runs shares of the panels, a long one and a short one at a time, so that all shares
are alike.
"""

from collections.abc import Iterator
from itertools import pairwise

TILE = 512  # rows of a panel at least: enough for products with X to run well; twice as many do so at full speed
PANELS = 10  # at least, before panels are higher than they must be: enough to share out

Cell = tuple[slice, slice]  # the rows and columns of a tile


def items(n: int) -> int:
    """How many pairs of panels there are to share out."""
    return -(-len(blocks(n)) // 2)


def panels_of(share: list[int], n: int, width: float, fine: int = 1) -> Iterator[tuple[slice, list[Cell]]]:
    """The panels of a share: their rows, and their tiles, so many heights wide; on the diagonal they may be finer."""
    everything = blocks(n)
    step = max(1, int(TILE * width))
    for item in share:
        for index in sorted({item, len(everything) - 1 - item}):
            rows = everything[index]
            right = [slice(start, min(start + step, n)) for start in range(rows.stop, n, step)]
            yield rows, [*_triangle(rows, max(1, TILE // fine)), *((rows, columns) for columns in right)]


def blocks(n: int) -> list[slice]:
    """Rows by panels of one height or one less, whose number goes into pairs and those on to two shares."""
    height = min(max(TILE, n // PANELS), 2 * TILE)
    count = 1 if n <= 5 * TILE // 4 else min(n, 4 * -(-n // (4 * height)))
    return [slice(start, stop) for start, stop in pairwise(n * i // count for i in range(count + 1))]


def _triangle(rows: slice, smallest: int) -> list[Cell]:
    """Tiles of the triangle where a panel meets the diagonal: only the smallest reach below it."""
    if rows.stop - rows.start <= smallest:
        return [(rows, rows)]
    middle = (rows.start + rows.stop) // 2
    upper, lower = slice(rows.start, middle), slice(middle, rows.stop)
    return [*_triangle(upper, smallest), (upper, lower), *_triangle(lower, smallest)]
