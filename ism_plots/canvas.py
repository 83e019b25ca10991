"""The common parts of all plots: style, size and rendering.

pyplot is not used, because it keeps figures alive and looks for a display. The same input gives the same bytes.
"""

import io
import threading
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis
    from matplotlib.figure import Figure

Format = Literal["svg", "png"]

COLUMN_WIDTH = 85.0  # mm, one column of a two-column paper
PAGE_WIDTH = 174.0  # mm, both columns
MM_PER_INCH = 25.4
DPI = 300  # resolution of PNG files and of rasterized points, as journals require
GRAY = "#7F7F7F"
FONT = "DejaVu Sans"  # included in matplotlib

STYLE: Any = {
    "text.parse_math": False,  # the name of a feature may contain "$"
    "font.family": ["sans-serif"],
    "font.sans-serif": [FONT],
    "font.size": 7,
    "axes.titlesize": 8,
    "axes.labelsize": 7,
    "axes.linewidth": 0.5,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.unicode_minus": True,
    "axes.formatter.use_mathtext": False,
    "xtick.labelsize": 6.5,
    "ytick.labelsize": 6.5,
    "xtick.major.width": 0.5,
    "ytick.major.width": 0.5,
    "xtick.major.size": 2.5,
    "ytick.major.size": 2.5,
    "legend.fontsize": 6.5,
    "legend.title_fontsize": 6.5,
    "legend.frameon": False,
    "lines.linewidth": 1.0,
    "figure.constrained_layout.h_pad": 0.03,
    "figure.constrained_layout.w_pad": 0.03,
    "svg.hashsalt": "ism",
    "pdf.fonttype": 42,  # fonts that can be searched and copied
}

_drawing = threading.Lock()  # matplotlib's style and the warning filters are global to the process


def render(draw: Callable[["Figure"], None], format: Format) -> bytes:
    """Create a figure, let `draw` fill it, and return it as bytes."""
    import matplotlib
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    file = io.BytesIO()
    with drawing():
        figure = Figure(layout="constrained")
        FigureCanvasAgg(figure)
        draw(figure)
        # Text is drawn as paths, which look the same everywhere. If the font lacks a character, it stays text, because
        # a font of the reader may have it.
        matplotlib.rcParams["svg.fonttype"] = "path" if _font_covers(figure) else "none"
        metadata = {"Date": None, "Creator": None} if format == "svg" else {"Software": None}
        figure.savefig(file, format=format, dpi=DPI, metadata=metadata)
    return file.getvalue()


@contextmanager
def drawing() -> Iterator[None]:
    """Use the style of all plots until the block ends; one thread draws at a time."""
    import matplotlib

    with _drawing, warnings.catch_warnings(), matplotlib.rc_context(STYLE):
        warnings.filterwarnings("ignore", message="Glyph .* missing from")
        warnings.filterwarnings("ignore", message="Matplotlib currently does not support .* natively")
        yield


def set_size(figure: "Figure", width: float, height: float) -> None:
    """Set the size of the figure in millimeters."""
    figure.set_size_inches(width / MM_PER_INCH, height / MM_PER_INCH)


def few_ticks(axis: "Axis", intervals: int = 5, *, whole: bool = False) -> None:
    """Limit the number of intervals between ticks, and write numbers out unless they are very large or small."""
    from matplotlib.ticker import MaxNLocator, ScalarFormatter

    written = ScalarFormatter(useOffset=False)
    written.set_powerlimits((-3, 5))
    axis.set_major_locator(MaxNLocator(intervals, steps=[1, 2, 5, 10], integer=whole))
    axis.set_major_formatter(written)
    axis.get_offset_text().set_fontsize(6)


def add_remark(axes: "Axes", text: str) -> None:
    """Add a small gray text above the right end of the axes."""
    axes.annotate(
        text, (1, 1), (0, 2), xycoords="axes fraction", textcoords="offset points", ha="right", va="bottom",
        fontsize=5.5, color=GRAY,
    )  # fmt: skip


def draw_message(figure: "Figure", sentence: str) -> None:
    """Draw a message in place of a plot without data."""
    set_size(figure, COLUMN_WIDTH, 30)
    figure.text(0.5, 0.5, sentence, ha="center", va="center", color=GRAY)


def _font_covers(figure: "Figure") -> bool:
    from matplotlib.font_manager import findfont, get_font
    from matplotlib.text import Text

    known = get_font(findfont(FONT)).get_charmap()
    texts = (artist.get_text() for artist in figure.findobj(Text) if isinstance(artist, Text))
    return all(ord(character) in known for text in texts for character in text)
