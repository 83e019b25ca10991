"""The sheet that every picture is drawn on: its style, its size, and how it becomes bytes.

Only matplotlib's objects are used, never pyplot, which keeps figures alive and looks for a screen. The same input gives
the same bytes.
"""

import io
import threading
import warnings
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis
    from matplotlib.figure import Figure

Format = Literal["svg", "png"]

COLUMN = 85.0  # mm, one column of a paper with two
PAGE = 174.0  # mm, both
DPI = 300
GRAY = "#7F7F7F"
FONT = "DejaVu Sans"  # comes with matplotlib

STYLE: Any = {
    "text.parse_math": False,  # a feature may be called "price in $"
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
}

_drawing = threading.Lock()  # matplotlib's style and Python's warning filters belong to the whole process


def render(draw: Callable[["Figure"], None], format: Format) -> bytes:
    """The figure that `draw` fills, as bytes."""
    import matplotlib
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    file = io.BytesIO()
    with _drawing, warnings.catch_warnings(), matplotlib.rc_context(STYLE):
        warnings.filterwarnings("ignore", message="Glyph .* missing from")
        warnings.filterwarnings("ignore", message="Matplotlib currently does not support .* natively")
        figure = Figure(layout="constrained")
        FigureCanvasAgg(figure)
        draw(figure)
        # Text is drawn as paths, the same on every screen, unless the font lacks some of it: the reader's may not.
        matplotlib.rcParams["svg.fonttype"] = "path" if _covered(figure) else "none"
        metadata = {"Date": None, "Creator": None} if format == "svg" else {"Software": None}
        figure.savefig(file, format=format, dpi=DPI, metadata=metadata)
    return file.getvalue()


def size(figure: "Figure", width: float, height: float) -> None:
    """Make the figure so many millimeters wide and high."""
    figure.set_size_inches(width / 25.4, height / 25.4)


def few_ticks(axis: "Axis", intervals: int = 5, *, whole: bool = False) -> None:
    """At most so many intervals between ticks, and numbers written out unless they are very large or small."""
    from matplotlib.ticker import MaxNLocator, ScalarFormatter

    written = ScalarFormatter(useOffset=False)
    written.set_powerlimits((-3, 5))
    axis.set_major_locator(MaxNLocator(intervals, steps=[1, 2, 5, 10], integer=whole))
    axis.set_major_formatter(written)
    axis.get_offset_text().set_fontsize(6)


def remark(axes: "Axes", text: str) -> None:
    """A small gray sentence above the right end of the axes."""
    axes.annotate(
        text, (1, 1), (0, 2), xycoords="axes fraction", textcoords="offset points", ha="right", va="bottom",
        fontsize=5.5, color=GRAY,
    )  # fmt: skip


def nothing(figure: "Figure", sentence: str) -> None:
    """A figure that says why there is nothing on it."""
    size(figure, COLUMN, 30)
    figure.text(0.5, 0.5, sentence, ha="center", va="center", color=GRAY)


def _covered(figure: "Figure") -> bool:
    from matplotlib.font_manager import findfont, get_font
    from matplotlib.text import Text

    known = get_font(findfont(FONT)).get_charmap()
    texts = (artist.get_text() for artist in figure.findobj(Text) if isinstance(artist, Text))
    return all(ord(character) in known for text in texts for character in text)
