"""The loadings plot: the largest loadings of each axis as horizontal bars."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ism_plots.canvas import (
    COLUMN_WIDTH,
    GRAY,
    PAGE_WIDTH,
    Format,
    add_remark,
    draw_message,
    few_ticks,
    render,
    set_size,
)
from ism_plots.names import one_line

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MAX_FEATURES = 20  # features with the largest norm in W, weighed by the shares of the axes
MAX_AXES = 4  # panels
NAME_WIDTH = 28  # characters of a feature name
POSITIVE_COLOR, NEGATIVE_COLOR = "#0072B2", "#D55E00"


def loadings_plot(
    features: Sequence[str],
    W: NDArray[np.float64],
    errors: NDArray[np.float64] | None = None,
    *,
    format: Format = "svg",
    shares: Sequence[float] | None = None,
) -> bytes:
    """Draw bars for the 20 features with the largest row norm in W, in a panel for each of the first 4 axes.

    `errors` has the shape of W and holds standard errors, which are drawn as whiskers. `shares` weigh the axes in the
    norm; an axis with the share 0 is there for plots only.
    """
    d, q = W.shape
    if len(features) != d:
        raise ValueError(f"There are {len(features)} names for the {d} rows of W; give one for each row.")
    if errors is not None and errors.shape != W.shape:
        raise ValueError(f"The errors have the shape {errors.shape}; it must be that of W, {W.shape}.")
    weights = np.ones(q) if shares is None or not any(shares) else np.sqrt(np.asarray(shares))
    strongest = np.argsort(-np.linalg.norm(W * weights, axis=1), kind="stable")[:MAX_FEATURES]
    names = [one_line(features[row], NAME_WIDTH) for row in strongest]
    bars = W[strongest, :MAX_AXES]
    whiskers = np.zeros_like(bars) if errors is None else errors[strongest, :MAX_AXES]
    low, high = min(0.0, (bars - whiskers).min(initial=0)), max(0.0, (bars + whiskers).max(initial=0))
    margin = 0.05 * (high - low or 1.0)

    def draw(figure: "Figure") -> None:
        if not bars.size:
            draw_message(figure, "There are no loadings to show.")
            return
        panels = bars.shape[1]
        set_size(figure, COLUMN_WIDTH if panels <= 2 else PAGE_WIDTH, 16 + 3.6 * max(5, len(names)))
        places = np.arange(len(names))
        for axis, axes in enumerate(figure.subplots(1, panels, sharex=True, sharey=True, squeeze=False)[0]):
            heights = bars[:, axis]
            axes.barh(places, heights, height=0.7, color=np.where(heights < 0, NEGATIVE_COLOR, POSITIVE_COLOR).tolist())
            if errors is not None:
                drawn = whiskers[:, axis] > 0  # features outside the support of an axis have no error
                axes.errorbar(
                    heights[drawn], places[drawn], xerr=whiskers[drawn, axis],
                    fmt="none", ecolor="black", elinewidth=0.6, capsize=1.2, capthick=0.6,
                )  # fmt: skip
            axes.axvline(0, color="black", linewidth=0.5)
            axes.grid(axis="y", color=GRAY, alpha=0.2, linewidth=0.3)
            axes.set_axisbelow(True)
            axes.set_xlim(low - margin, high + margin)
            remark = "" if weights[axis] else "\n(for plots only)"
            axes.set_xlabel(f"loading on axis {axis + 1}{remark}")
            axes.spines["left"].set_visible(False)
            axes.tick_params(axis="y", length=0)
            few_ticks(axes.xaxis, 5 if panels == 1 else 3)
        axes.set_yticks(places, names)
        axes.set_ylim(len(names) - 0.4, -0.6)
        remarks = [f"{len(names)} of {d:,} features"] * (d > len(names)) + [f"{panels} of {q} axes"] * (q > panels)
        remarks += ["whiskers: one standard error"] * (errors is not None)
        if remarks:
            add_remark(axes, ", ".join(remarks))

    return render(draw, format)
