"""The trace plot: the objective and the eigenvalues over the iterations."""

import math
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ism_plots.canvas import COLUMN_WIDTH, GRAY, Format, draw_message, few_ticks, render, set_size
from ism_plots.groups import FEW_COLORS

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MAX_MARKED_ITERATIONS = 60  # with more iterations, lines have no markers
MAX_MARKED_ROUNDS = 60  # with more rounds, the lines between rounds would fill the plot
MAX_LINEAR_DECADES = 2  # eigenvalues that span more powers of ten have a logarithmic scale

SUPERSCRIPTS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")  # for powers of ten on the axis


def trace_plot(
    iteration: NDArray[np.float64],
    objective: NDArray[np.float64],
    eigenvalues: NDArray[np.float64],
    round: NDArray[np.float64] | None = None,
    *,
    format: Format = "svg",
) -> bytes:
    """Draw two panels over the iterations: the objective, and one line per eigenvalue.

    `eigenvalues` has a row for each iteration and a column for each axis. `round` is the round of each iteration;
    a thin line marks where a new round begins.
    """
    iteration = np.asarray(iteration, dtype=np.float64)  # a NaN breaks the line where a round begins
    starts = np.array([], dtype=np.intp) if round is None else np.flatnonzero(np.diff(round)) + 1

    def draw(figure: "Figure") -> None:
        if not len(iteration):
            draw_message(figure, "There are no iterations to show.")
            return
        set_size(figure, COLUMN_WIDTH, 92)
        above, below = figure.subplots(2, sharex=True)
        _lines(above, iteration, objective[None, :], starts, [FEW_COLORS[0]])
        _widen_if_constant(above, objective)
        above.set_ylabel("objective")
        colors = _colors(eigenvalues.shape[1])
        _lines(below, iteration, eigenvalues.T, starts, colors)
        below.set(ylabel="eigenvalues", xlabel="iteration")
        _set_scale(below, eigenvalues)
        _add_legend(figure, below, colors)
        few_ticks(above.yaxis)
        few_ticks(below.xaxis, whole=True)
        figure.align_ylabels()
        for axes in (above, below):
            if len(starts) <= MAX_MARKED_ROUNDS:
                for start in starts:
                    axes.axvline((iteration[start - 1] + iteration[start]) / 2, color=GRAY, alpha=0.4, linewidth=0.4)

    return render(draw, format)


def _lines(
    axes: "Axes",
    iteration: NDArray[np.float64],
    series: NDArray[np.float64],
    starts: NDArray[np.intp],
    colors: list[Any],
) -> None:
    """Draw each series, with a gap before each round: another Γ makes its objective incomparable."""
    alone = bool(len(starts)) and np.diff(starts, prepend=0, append=len(iteration)).min() == 1
    dots = (
        "o" if len(iteration) <= MAX_MARKED_ITERATIONS or alone else None
    )  # a round of one iteration has no line, only a marker
    broken = np.insert(iteration, starts, np.nan)
    for values, color in zip(series, colors, strict=True):
        axes.plot(broken, np.insert(values, starts, np.nan), color=color, marker=dots, markersize=2.2)


def _widen_if_constant(axes: "Axes", values: NDArray[np.float64]) -> None:
    """Widen the y axis for a nearly constant series, so that rounding errors are not magnified."""
    finite = values[np.isfinite(values)]
    if len(finite) and np.ptp(finite) <= 1e-5 * abs(finite).max():
        middle = float(finite.mean())
        axes.set_ylim(middle - max(1e-3, 0.01 * abs(middle)), middle + max(1e-3, 0.01 * abs(middle)))


def _set_scale(axes: "Axes", eigenvalues: NDArray[np.float64]) -> None:
    finite = eigenvalues[np.isfinite(eigenvalues)]
    if len(finite) and finite.min() > 0 and finite.max() > 10**MAX_LINEAR_DECADES * finite.min():
        axes.set_yscale("log")
        axes.yaxis.set_major_formatter(lambda value, _: _power_of_ten(value))
        axes.yaxis.set_minor_formatter(lambda value, _: "")
    else:
        _widen_if_constant(axes, finite)
        few_ticks(axes.yaxis)


def _power_of_ten(value: float) -> str:
    return "10" + str(round(math.log10(value))).translate(SUPERSCRIPTS)


def _colors(q: int) -> list[Any]:
    from matplotlib import colormaps

    return (
        list(FEW_COLORS[:q])
        if q <= len(FEW_COLORS)
        else [tuple(shade) for shade in colormaps["viridis"](np.linspace(0, 0.93, q))]
    )


def _add_legend(figure: "Figure", axes: "Axes", colors: list[Any]) -> None:
    """Add a legend for a few axes, or a color bar for many."""
    from matplotlib.cm import ScalarMappable
    from matplotlib.colors import ListedColormap, Normalize
    from matplotlib.lines import Line2D

    if len(colors) < 2:
        return
    if len(colors) <= len(FEW_COLORS):
        keys = [Line2D([], [], color=color, label=f"axis {axis}") for axis, color in enumerate(colors, 1)]
        figure.legend(handles=keys, loc="outside lower center", ncols=len(keys), handlelength=1, columnspacing=1)
    else:
        shades = ScalarMappable(Normalize(0.5, len(colors) + 0.5), ListedColormap(colors))
        bar = figure.colorbar(shades, ax=axes, aspect=24, pad=0.02, label="axis")
        bar.outline.set_visible(False)
        few_ticks(bar.ax.yaxis, whole=True)
