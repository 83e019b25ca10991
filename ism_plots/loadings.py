"""What the new features are made of: the strongest loadings of each axis, as bars to either side of zero."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ism_plots.canvas import COLUMN, GRAY, PAGE, Format, few_ticks, nothing, remark, render, size
from ism_plots.names import line

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FEATURES = 20
AXES = 4
NAME = 28
POSITIVE, NEGATIVE = "#0072B2", "#D55E00"


def loadings_plot(
    features: Sequence[str],
    W: NDArray[np.float64],
    errors: NDArray[np.float64] | None = None,
    *,
    format: Format = "svg",
) -> bytes:
    """Bars for the 20 features of largest row norm in W, strongest on top; a panel for each of the first 4 axes.

    Errors, of the shape of W, are drawn as whiskers of one to either side.
    """
    d, q = W.shape
    if len(features) != d:
        raise ValueError(f"There are {len(features)} names for the {d} rows of W; one is needed for each.")
    if errors is not None and errors.shape != W.shape:
        raise ValueError(f"The errors have the shape {errors.shape}; it must be that of W, {W.shape}.")
    strongest = np.argsort(-np.linalg.norm(W, axis=1), kind="stable")[:FEATURES]
    names = [line(features[row], NAME) for row in strongest]
    bars = W[strongest, :AXES]
    whiskers = np.zeros_like(bars) if errors is None else errors[strongest, :AXES]
    low, high = min(0.0, (bars - whiskers).min(initial=0)), max(0.0, (bars + whiskers).max(initial=0))
    margin = 0.05 * (high - low or 1.0)

    def draw(figure: "Figure") -> None:
        if not bars.size:
            nothing(figure, "There are no loadings to show.")
            return
        panels = bars.shape[1]
        size(figure, COLUMN if panels <= 2 else PAGE, 16 + 3.6 * max(5, len(names)))
        places = np.arange(len(names))
        for axis, axes in enumerate(figure.subplots(1, panels, sharex=True, sharey=True, squeeze=False)[0]):
            heights = bars[:, axis]
            axes.barh(places, heights, height=0.7, color=np.where(heights < 0, NEGATIVE, POSITIVE).tolist())
            if errors is not None:
                drawn = whiskers[:, axis] > 0  # a feature that an axis does without has none
                axes.errorbar(
                    heights[drawn], places[drawn], xerr=whiskers[drawn, axis],
                    fmt="none", ecolor="black", elinewidth=0.6, capsize=1.2, capthick=0.6,
                )  # fmt: skip
            axes.axvline(0, color="black", linewidth=0.5)
            axes.grid(axis="y", color=GRAY, alpha=0.2, linewidth=0.3)
            axes.set_axisbelow(True)
            axes.set_xlim(low - margin, high + margin)
            axes.set_xlabel(f"loading on axis {axis + 1}")
            axes.spines["left"].set_visible(False)
            axes.tick_params(axis="y", length=0)
            few_ticks(axes.xaxis, 5 if panels == 1 else 3)
        axes.set_yticks(places, names)
        axes.set_ylim(len(names) - 0.4, -0.6)
        remarks = [f"{len(names)} of {d:,} features"] * (d > len(names)) + [f"{panels} of {q} axes"] * (q > panels)
        remarks += ["whiskers: one standard error"] * (errors is not None)
        if remarks:
            remark(axes, ", ".join(remarks))

    return render(draw, format)
