"""The importance plot: the share of each feature with its standard error, and the loss if the feature is shuffled."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ism_plots.canvas import COLUMN_WIDTH, GRAY, Format, add_remark, draw_message, few_ticks, render, set_size
from ism_plots.names import one_line

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MAX_BARS = 20
NAME_WIDTH = 28  # characters of a name
BAR_COLOR, DROP_COLOR = "#0072B2", "#D55E00"


@dataclass(frozen=True)
class Importance:
    """A feature, or collinear features: its share, and what held-out rows lose if it is shuffled."""

    name: str
    share: float
    error: float | None = None
    unclear: bool = False  # within two standard errors of 0
    drop: float | None = None
    drop_error: float = 0.0


def importance_plot(entries: Sequence[Importance], *, format: Format = "svg") -> bytes:
    """Draw the 20 largest shares as bars, gray if they are unclear, and the losses as diamonds on an upper scale."""
    kept = sorted(entries, key=lambda entry: -entry.share)[:MAX_BARS]

    def draw(figure: "Figure") -> None:
        if not kept:
            draw_message(figure, "There are no features to show.")
            return
        set_size(figure, COLUMN_WIDTH, 22 + 3.6 * max(5, len(kept)))
        axes, places = figure.subplots(), np.arange(len(kept))
        shares = np.array([100 * entry.share for entry in kept])
        errors = np.array([100 * (entry.error or 0) for entry in kept])
        axes.barh(places, shares, height=0.7, color=[GRAY if entry.unclear else BAR_COLOR for entry in kept])
        axes.errorbar(shares, places, xerr=errors, fmt="none", ecolor="black", elinewidth=0.6, capsize=1.2)
        axes.set_yticks(places, [one_line(entry.name, NAME_WIDTH) for entry in kept])
        axes.set_ylim(len(kept) - 0.4, -0.6)
        axes.set_xlim(0, 1.08 * max(1e-9, float((shares + errors).max())))
        axes.set_xlabel("importance in %, with one standard error")
        axes.spines["left"].set_visible(False)
        axes.tick_params(axis="y", length=0)
        few_ticks(axes.xaxis)
        if len(entries) > len(kept):
            add_remark(axes, f"{len(kept)} of {len(entries):,}")
        drops = np.array([np.nan if entry.drop is None else entry.drop for entry in kept])
        if np.isnan(drops).all():
            return
        upper = axes.twiny()
        widths = np.array([entry.drop_error for entry in kept])
        upper.errorbar(
            drops, places, xerr=widths, fmt="D", markersize=3, color=DROP_COLOR, ecolor=DROP_COLOR, elinewidth=0.6,
            capsize=1.2, markeredgecolor="white", markeredgewidth=0.4, clip_on=False,
        )  # fmt: skip
        upper.set_xlim(0, 1.08 * max(1e-9, float(np.nanmax(drops + widths))))
        upper.set_xlabel("explained variance lost if shuffled", color=DROP_COLOR)
        upper.tick_params(axis="x", colors=DROP_COLOR)
        upper.spines["top"].set_visible(True)
        upper.spines["top"].set_color(DROP_COLOR)
        upper.spines["left"].set_visible(False)
        few_ticks(upper.xaxis)

    return render(draw, format)
