"""A document of A4 pages as PDF: headings, paragraphs, code, tables and plots, one below the other."""

import io
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from ism_plots.canvas import DPI, GRAY, MM_PER_INCH, PAGE_WIDTH, drawing
from ism_plots.names import one_line, text_width

if TYPE_CHECKING:
    from matplotlib.backends.backend_pdf import PdfPages
    from matplotlib.figure import Figure

PAPER = (210.0, 297.0)  # mm, A4
LEFT, TOP, BOTTOM = (PAPER[0] - PAGE_WIDTH) / 2, 16.0, 16.0  # margins in mm
GAP = 4.0  # mm between plots, and between columns of a table
MM_PER_POINT = MM_PER_INCH / 72
LEADING = 1.45  # distance of lines, in font sizes
LETTER = 0.54  # mean width of a letter of DejaVu Sans in English, in font sizes
WIDE_LETTER = 0.61  # width of a letter in code, and the mean of names and numbers in a table
MAX_ROWS = 30  # of a table
KEPT_ROWS = 12  # a table with at most so many rows stays on one page
CELL_WIDTH = 36  # characters of a cell
HEADING_ROOM = 45.0  # mm that must be left below a heading

Style = Literal["title", "heading", "lead", "text", "note", "code"]
STYLES: dict[Style, dict[str, Any]] = {
    "title": {"fontsize": 16, "weight": "bold"},
    "heading": {"fontsize": 11, "weight": "bold"},
    "lead": {"fontsize": 9.5},
    "text": {"fontsize": 8},
    "note": {"fontsize": 6.5, "color": GRAY},
    "code": {"fontsize": 6.5, "family": "DejaVu Sans Mono"},
}


@dataclass(frozen=True)
class Text:
    """A text in one of the styles; its lines are broken where the page ends."""

    text: str
    style: Style = "text"


@dataclass(frozen=True)
class Grid:
    """A table; its columns from the index `numbers` on are aligned to the right, and its first 30 rows are shown."""

    heads: Sequence[str]
    rows: Sequence[Sequence[Any]]
    numbers: int = 1


@dataclass(frozen=True)
class Plots:
    """Plots as PNG, side by side at their own size."""

    images: Sequence[bytes]


Block = Text | Grid | Plots


def pdf_document(blocks: Sequence[Block], title: str) -> bytes:
    """Return the blocks as a PDF. The same blocks give the same bytes."""
    file = io.BytesIO()
    with drawing():
        from matplotlib.backends.backend_pdf import PdfPages

        metadata = {"Title": one_line(title, 200), "Creator": "ISM", "Producer": None, "CreationDate": None}
        with PdfPages(file, metadata=metadata) as pdf:
            sheets = _Sheets(pdf)
            for block in blocks:
                sheets.add(block)
            sheets.finish()
    return file.getvalue()


class _Sheets:
    """Pages that are filled from the top; a new one begins if a block does not fit."""

    def __init__(self, pdf: "PdfPages") -> None:
        self._pdf = pdf
        self._figure: Figure | None = None
        self._down = 0.0  # mm from the top of the page

    def add(self, block: Block) -> None:
        if isinstance(block, Text):
            self._text(block)
        elif isinstance(block, Grid):
            self._grid(block)
        else:
            self._plots(block)

    def finish(self) -> None:
        """Write the page, if there is one."""
        if self._figure is not None:
            self._pdf.savefig(self._figure, dpi=DPI)  # type: ignore[no-untyped-call]
        self._figure = None

    def _room(self, height: float) -> "Figure":
        """Return the page that has room for so many millimeters."""
        from matplotlib.figure import Figure

        if self._figure is None or self._down + height > PAPER[1] - BOTTOM:
            self.finish()
            self._figure = Figure(figsize=(PAPER[0] / MM_PER_INCH, PAPER[1] / MM_PER_INCH))
            self._down = TOP
        return self._figure

    def _text(self, block: Text) -> None:
        style = STYLES[block.style]
        size = style["fontsize"] * MM_PER_POINT
        most = int(PAGE_WIDTH / ((WIDE_LETTER if block.style == "code" else LETTER) * size))
        if block.style in ("title", "heading"):
            self._room(HEADING_ROOM)
            self._down += 0.0 if self._down == TOP else 4.0
        for paragraph in block.text.splitlines():
            for line in textwrap.wrap(paragraph, most, subsequent_indent=_indent(paragraph, block.style)) or [""]:
                self._write(line, style)
        self._down += 1.5

    def _write(self, line: str, style: dict[str, Any]) -> None:
        height = LEADING * style["fontsize"] * MM_PER_POINT
        self._put(self._room(height), LEFT, line, style)
        self._down += height

    def _put(self, figure: "Figure", across: float, text: str, style: dict[str, Any], side: str = "left") -> None:
        base = self._down + style["fontsize"] * MM_PER_POINT
        figure.text(across / PAPER[0], 1 - base / PAPER[1], text, va="baseline", ha=side, **style)

    def _grid(self, grid: Grid) -> None:
        cells = [[one_line(cell, CELL_WIDTH) if str(cell) else "" for cell in row] for row in grid.rows[:MAX_ROWS]]
        heads = [one_line(head, CELL_WIDTH) if head else "" for head in grid.heads]
        style = STYLES["text"] | {"fontsize": 7}
        letter, height = WIDE_LETTER * 7 * MM_PER_POINT, LEADING * 7 * MM_PER_POINT
        widths = [max(map(text_width, column)) * letter for column in zip(heads, *cells, strict=True)]
        shown = len(widths)
        while shown > 1 and sum(widths[:shown]) + GAP * (shown - 1) > PAGE_WIDTH:
            shown -= 1
        self._room((1 + min(len(cells), KEPT_ROWS)) * height)
        for place, row in enumerate([heads, *cells]):
            figure, left = self._room(height), LEFT
            for column, text in enumerate(row[:shown]):
                is_number = column >= grid.numbers
                across = left + widths[column] if is_number else left
                weight = {"weight": "bold"} if place == 0 else {}
                self._put(figure, across, text, style | weight, "right" if is_number else "left")
                left += widths[column] + GAP
            self._down += height
        left_out = [f"{len(grid.rows) - MAX_ROWS:,} more rows"] * (len(grid.rows) > MAX_ROWS)
        left_out += [f"{len(widths) - shown:,} more columns"] * (shown < len(widths))
        if left_out:
            self._write(f"{' and '.join(left_out)} are in the HTML report", STYLES["note"])
        self._down += 2.0

    def _plots(self, block: Plots) -> None:
        from matplotlib.image import imread

        images = [imread(io.BytesIO(image))[:, :, :3] for image in block.images]  # PNGs of plots are opaque
        sizes = [(image.shape[1] / DPI * MM_PER_INCH, image.shape[0] / DPI * MM_PER_INCH) for image in images]
        shrink = min(1.0, PAGE_WIDTH / (sum(width for width, _ in sizes) + GAP * (len(sizes) - 1)))
        tallest = shrink * max(height for _, height in sizes)
        figure, left = self._room(tallest), LEFT
        for image, size in zip(images, sizes, strict=True):
            width, height = shrink * size[0], shrink * size[1]
            bottom = PAPER[1] - self._down - height
            box = (left / PAPER[0], bottom / PAPER[1], width / PAPER[0], height / PAPER[1])
            axes = figure.add_axes(box)
            axes.imshow(image, interpolation="none", aspect="auto")
            axes.set_axis_off()
            left += width + GAP
        self._down += tallest + 2.0


def _indent(line: str, style: Style) -> str:
    """Return the indent of the lines that continue a line of code."""
    return " " * (len(line) - len(line.lstrip()) + 4) if style == "code" else ""
