"""The rows of a data set in their new features, colored by what is known about them."""

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ism_plots.canvas import COLUMN, GRAY, Format, few_ticks, nothing, remark, render, size
from ism_plots.groups import FEW, OTHERS, Classes, Kind, Values, grouped
from ism_plots.names import columns, line

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

ROWS = 100_000  # beyond this a seeded sample is drawn
VECTORS = 3_000  # more dots than this are pixels also in an SVG
HEIGHT = 72.0  # mm, without the legend
LINE = 3.5  # mm, of the legend
TITLE = 52
SHORT = 3  # columns of a class name that fits among its dots


def embedding_plot(
    embedding: NDArray[np.float64],
    groups: Sequence[Any] | NDArray[Any] | None = None,
    title: str | None = None,
    *,
    format: Format = "svg",
    kind: Kind = "auto",
    legend: str | None = None,
) -> bytes:
    """A scatter plot of the first two axes; with one axis its distribution.

    `groups` has an item for each row: text or a few whole numbers make a legend, other numbers a color bar, and `kind`
    says "classes" or "values" where that guess is wrong. `legend` is the heading of either.
    """
    points, items = _drawn(embedding, groups)
    known = None if items is None else grouped(items, kind)
    remarks = []
    if len(points) < len(embedding):
        remarks.append(f"{len(points):,} of {len(embedding):,} rows")
    if embedding.shape[1] > 2:
        remarks.append(f"axes 1 and 2 of {embedding.shape[1]}")

    def draw(figure: "Figure") -> None:
        if not len(points):
            nothing(figure, "There are no rows to show.")
            return
        size(figure, COLUMN, HEIGHT)
        axes = figure.subplots()
        if points.shape[1] == 1:
            _line(axes, points[:, 0], known, legend)
        else:
            _plane(figure, axes, points, known, legend)
        if title:
            axes.set_title(line(title, TITLE), pad=12 if remarks else 6)
        if remarks:
            remark(axes, ", ".join(remarks))

    return render(draw, format)


def _drawn(
    embedding: NDArray[np.float64], groups: Sequence[Any] | NDArray[Any] | None
) -> tuple[NDArray[np.float64], list[Any] | None]:
    """The points that are drawn and their groups, in a random order so that no class lies on top of the others."""
    if groups is not None and len(groups) != len(embedding):
        raise ValueError(f"There are {len(groups)} groups for {len(embedding)} rows; one is needed for each.")
    rows = np.flatnonzero(np.isfinite(embedding).all(axis=1))
    rows = np.random.default_rng(0).permutation(rows)[:ROWS]
    return embedding[rows, :2], None if groups is None else [groups[row] for row in rows.tolist()]


def _style(rows: int) -> dict[str, Any]:
    return {
        "s": float(np.clip(120 / math.sqrt(rows), 0.6, 12)),
        "alpha": 0.85 if rows <= 500 else 0.7 if rows <= VECTORS else 0.4,
        "linewidths": 0,
        "rasterized": rows > VECTORS,
    }


def _plane(
    figure: "Figure", axes: "Axes", points: NDArray[np.float64], known: Classes | Values | None, legend: str | None
) -> None:
    style = _style(len(points))
    if known is None:
        axes.scatter(points[:, 0], points[:, 1], color=FEW[0], **style)
    elif isinstance(known, Values):
        _valued(figure, axes, points, known.numbers, style, legend)
    else:
        _classed(figure, axes, points, known, style, legend)
    spans = np.ptp(points, axis=0)
    if spans.min() > 0 and spans.max() <= 4 * spans.min():  # else one axis would be a thin strip
        axes.set_aspect("equal", adjustable="datalim")
    axes.set(xlabel="axis 1", ylabel="axis 2")
    few_ticks(axes.xaxis)
    few_ticks(axes.yaxis)


def _valued(
    figure: "Figure",
    axes: "Axes",
    points: NDArray[np.float64],
    numbers: NDArray[np.float64],
    style: dict[str, Any],
    legend: str | None,
) -> None:
    from matplotlib import colormaps
    from matplotlib.colors import ListedColormap

    missing = np.isnan(numbers)
    if missing.any():
        axes.scatter(points[missing, 0], points[missing, 1], color=OTHERS, **style)
    present = numbers[~missing]
    low, high = np.quantile(present, (0.02, 0.98))  # a few extremes would leave one color for all the others
    if low == high:
        low, high = present.min(), present.max()
    shades = ListedColormap(colormaps["viridis"](np.linspace(0, 0.93, 256)))  # its brightest yellow is lost on white
    dots = axes.scatter(points[~missing, 0], points[~missing, 1], c=present, cmap=shades, vmin=low, vmax=high, **style)
    ends = {(True, True): "both", (True, False): "min", (False, True): "max"}
    extend = ends.get((bool(present.min() < low), bool(present.max() > high)), "neither")
    bar = figure.colorbar(dots, ax=axes, aspect=32, pad=0.02, extend=extend, extendfrac=0.03)
    if bar.solids is not None:
        bar.solids.set_alpha(1)
    bar.outline.set_visible(False)
    few_ticks(bar.ax.yaxis)
    if legend:
        bar.set_label(line(legend, 40))


def _classed(
    figure: "Figure",
    axes: "Axes",
    points: NDArray[np.float64],
    classes: Classes,
    style: dict[str, Any],
    legend: str | None,
) -> None:
    from matplotlib.lines import Line2D

    markers = classes.markers(len(points))
    shapes = np.array(list(markers))[classes.codes]
    for marker in dict.fromkeys(markers):
        rows = shapes == marker
        colors = np.array(classes.colors)[classes.codes[rows]]
        axes.scatter(points[rows, 0], points[rows, 1], c=colors.tolist(), marker=marker, **style)
    if len(classes.names) > len(FEW):
        _label(axes, points, classes)
    keys = [
        Line2D([], [], linestyle="", marker=marker, markersize=4, markeredgewidth=0, color=color, label=name)
        for marker, color, name in zip(markers, classes.colors, classes.names, strict=True)
    ]
    wide = max(columns(name) for name in classes.names) * 1.3 + 7  # mm
    lines = math.ceil(len(keys) / max(1, int((COLUMN - 6) / wide)))
    across = math.ceil(len(keys) / lines)
    by_line = [keys[place] for column in range(across) for place in range(column, len(keys), across)]
    figure.legend(
        handles=by_line,
        loc="outside lower center",
        ncols=across,
        title=line(legend, 50) if legend else None,
        handletextpad=0.2,
        columnspacing=1.2,
        labelspacing=0.35,
    )
    size(figure, COLUMN, HEIGHT + LINE * (lines + bool(legend)) + 2)


def _label(axes: "Axes", points: NDArray[np.float64], classes: Classes) -> None:
    """Short names at the middle of their classes: more colors than seven are hard to tell apart."""
    from matplotlib.patheffects import withStroke

    if max(columns(name) for name in classes.names) > SHORT:
        return
    apart = 0.05 * np.ptp(points, axis=0).max()
    labelled: list[NDArray[np.float64]] = []
    for code, (name, color) in enumerate(zip(classes.names, classes.colors, strict=True)):
        middle = np.median(points[classes.codes == code], axis=0)
        if color == OTHERS or any(np.linalg.norm(middle - other) < apart for other in labelled):
            continue
        labelled.append(middle)
        halo = [withStroke(linewidth=1.6, foreground="white")]
        axes.text(middle[0], middle[1], name, ha="center", va="center", weight="bold", path_effects=halo, zorder=5)


def _line(axes: "Axes", places: NDArray[np.float64], known: Classes | Values | None, legend: str | None) -> None:
    """One axis: against the values, in a strip for each class, or as a histogram."""
    style = _style(len(places))
    axes.set_xlabel("axis 1")
    few_ticks(axes.xaxis)
    if known is None:
        axes.hist(places, bins=int(np.clip(math.sqrt(len(places)), 5, 60)), color=FEW[0])
        axes.set_ylabel("rows")
        few_ticks(axes.yaxis, whole=True)
    elif isinstance(known, Values):
        axes.scatter(places, known.numbers, color=FEW[0], **style)
        axes.set_ylabel(line(legend, 40) if legend else "value")
        few_ticks(axes.yaxis)
    else:
        spread = np.random.default_rng(0).uniform(-0.3, 0.3, len(places))
        colors = np.array(known.colors)[known.codes].tolist()
        axes.scatter(places, known.codes + spread, c=colors, **style)
        axes.set_yticks(range(len(known.names)), known.names)
        axes.set_ylim(len(known.names) - 0.5, -0.5)
        axes.tick_params(axis="y", length=0)
        axes.hlines(np.arange(1, len(known.names)) - 0.5, 0, 1, GRAY, alpha=0.3, lw=0.3, transform=_across(axes))
        if legend:
            axes.set_ylabel(line(legend, 40))


def _across(axes: "Axes") -> Any:
    """Coordinates that are shares of the axes horizontally and data vertically."""
    return axes.get_yaxis_transform()
