"""The embedding plot: the rows in the new axes, colored by class, cluster or value, with features as arrows."""

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ism_plots.arrows import Arrow, draw_arrows
from ism_plots.canvas import COLUMN_WIDTH, GRAY, Format, add_remark, draw_message, few_ticks, render, set_size
from ism_plots.groups import FEW_COLORS, OTHERS_COLOR, Classes, Kind, Values, group_items
from ism_plots.names import one_line, text_width

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MAX_ROWS = 100_000  # of more rows, a seeded sample is drawn
MAX_VECTOR_POINTS = 3_000  # more points than this are rasterized, also in an SVG
HEIGHT = 72.0  # mm, without the legend
LEGEND_LINE = 3.5  # mm per line of the legend
TITLE_WIDTH = 52  # characters
LEGEND_TITLE_WIDTH = 50  # characters
AXIS_LABEL_WIDTH = 40  # characters
SHORT_NAME_WIDTH = 3  # characters of a class name that fits between its points


def embedding_plot(
    embedding: NDArray[np.float64],
    groups: Sequence[Any] | NDArray[Any] | None = None,
    title: str | None = None,
    *,
    format: Format = "svg",
    kind: Kind = "auto",
    legend: str | None = None,
    picture: NDArray[np.float64] | None = None,
    shares: Sequence[float] | None = None,
    arrows: Sequence[Arrow] = (),
    one_scale: bool = True,
) -> bytes:
    """Draw a scatter plot of the two axes that `leading_axes` chooses, or the distribution of a single axis.

    `picture` is the second coordinate of each row for a scatter plot of a single axis.
    `groups` has an item for each row. Text or a few integers are classes with a legend, other numbers are values with a
    color bar; `kind` overrides this. `legend` is the title of the legend or color bar. `shares` are the contributions
    of the axes; an axis with the share 0 is gray. With `one_scale`, a unit is as long on both axes.
    """
    chosen = leading_axes(shares, embedding.shape[1])
    plane = embedding[:, chosen] if picture is None else np.column_stack([embedding[:, 0], picture])
    points, items = _sample(plane, groups)
    known = None if items is None else group_items(items, kind)
    remarks = []
    if len(points) < len(embedding):
        remarks.append(f"{len(points):,} of {len(embedding):,} rows")
    if embedding.shape[1] > 2:
        remarks.append(f"axes {chosen[0] + 1} and {chosen[1] + 1} of {embedding.shape[1]}")

    def draw(figure: "Figure") -> None:
        if not len(points):
            draw_message(figure, "There are no rows to show.")
            return
        set_size(figure, COLUMN_WIDTH, HEIGHT)
        axes = figure.subplots()
        if points.shape[1] == 1:
            _draw_line(axes, points[:, 0], known, legend)
        else:
            _draw_plane(figure, axes, points, known, legend, one_scale)
            _label_axes(axes, chosen, shares, picture is not None)
        if title:
            axes.set_title(one_line(title, TITLE_WIDTH), pad=12 if remarks else 6)
        if remarks:
            add_remark(axes, ", ".join(remarks))
        if arrows and points.shape[1] > 1:
            figure.draw_without_rendering()  # the labels need the final frame
            draw_arrows(axes, arrows, points)

    return render(draw, format)


def leading_axes(shares: Sequence[float] | None, count: int) -> list[int]:
    """Return the two axes that contribute most, in their order; the first two if the shares are not known."""
    if shares is None:
        return list(range(count))[:2]
    return sorted(sorted(range(count), key=lambda axis: -shares[axis])[:2])


def _label_axes(axes: "Axes", chosen: Sequence[int], shares: Sequence[float] | None, is_picture: bool) -> None:
    for place, drawn in enumerate((axes.xaxis, axes.yaxis)):
        only_drawn = place == 1 and is_picture  # the second coordinate of a single axis
        share = None if shares is None or only_drawn else shares[chosen[place]]
        nothing = share == 0 or only_drawn
        text = "adds nothing, for plots only" if nothing else None if share is None else f"contributes {share:.0%}"
        name = "" if only_drawn else f"axis {chosen[place] + 1}"
        drawn.set_label_text(": ".join(filter(None, (name, text))))
        if nothing:
            drawn.label.set_color(GRAY)
            drawn.set_tick_params(colors=GRAY)
            axes.spines["bottom" if place == 0 else "left"].set_color(GRAY)


def _sample(
    embedding: NDArray[np.float64], groups: Sequence[Any] | NDArray[Any] | None
) -> tuple[NDArray[np.float64], list[Any] | None]:
    """Return at most MAX_ROWS points and their groups, in random order so that no class covers the others."""
    if groups is not None and len(groups) != len(embedding):
        raise ValueError(f"There are {len(groups)} groups for {len(embedding)} rows; give one for each row.")
    rows = np.flatnonzero(np.isfinite(embedding).all(axis=1))
    rows = np.random.default_rng(0).permutation(rows)[:MAX_ROWS]
    return embedding[rows], None if groups is None else [groups[row] for row in rows.tolist()]


def _style(rows: int) -> dict[str, Any]:
    return {
        "s": float(np.clip(120 / math.sqrt(rows), 0.6, 12)),
        "alpha": 0.85 if rows <= 500 else 0.7 if rows <= MAX_VECTOR_POINTS else 0.4,
        "linewidths": 0,
        "rasterized": rows > MAX_VECTOR_POINTS,
    }


def _draw_plane(
    figure: "Figure",
    axes: "Axes",
    points: NDArray[np.float64],
    known: Classes | Values | None,
    legend: str | None,
    one_scale: bool,
) -> None:
    style = _style(len(points))
    if known is None:
        axes.scatter(points[:, 0], points[:, 1], color=FEW_COLORS[0], **style)
    elif isinstance(known, Values):
        _draw_values(figure, axes, points, known.numbers, style, legend)
    else:
        _draw_classes(figure, axes, points, known, style, legend)
    if one_scale:
        axes.set_aspect("equal", adjustable="datalim")
    few_ticks(axes.xaxis)
    few_ticks(axes.yaxis)


def _draw_values(
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
        axes.scatter(points[missing, 0], points[missing, 1], color=OTHERS_COLOR, **style)
    present = numbers[~missing]
    low, high = np.quantile(
        present, (0.02, 0.98)
    )  # otherwise a few outliers would leave one color for all other values
    if low == high:
        low, high = present.min(), present.max()
    shades = ListedColormap(
        colormaps["viridis"](np.linspace(0, 0.93, 256))
    )  # without its brightest yellow, which is invisible on white
    dots = axes.scatter(points[~missing, 0], points[~missing, 1], c=present, cmap=shades, vmin=low, vmax=high, **style)
    ends = {(True, True): "both", (True, False): "min", (False, True): "max"}
    extend = ends.get((bool(present.min() < low), bool(present.max() > high)), "neither")
    bar = figure.colorbar(dots, ax=axes, aspect=32, pad=0.02, extend=extend, extendfrac=0.03)
    if bar.solids is not None:
        bar.solids.set_alpha(1)
    bar.outline.set_visible(False)
    few_ticks(bar.ax.yaxis)
    if legend:
        bar.set_label(one_line(legend, AXIS_LABEL_WIDTH))


def _draw_classes(
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
    if len(classes.names) > len(FEW_COLORS):
        _label_classes(axes, points, classes)
    keys = [
        Line2D([], [], linestyle="", marker=marker, markersize=4, markeredgewidth=0, color=color, label=name)
        for marker, color, name in zip(markers, classes.colors, classes.names, strict=True)
    ]
    wide = max(text_width(name) for name in classes.names) * 1.3 + 7  # mm
    lines = math.ceil(len(keys) / max(1, int((COLUMN_WIDTH - 6) / wide)))
    across = math.ceil(len(keys) / lines)
    by_line = [keys[place] for column in range(across) for place in range(column, len(keys), across)]
    figure.legend(
        handles=by_line,
        loc="outside lower center",
        ncols=across,
        title=one_line(legend, LEGEND_TITLE_WIDTH) if legend else None,
        handletextpad=0.2,
        columnspacing=1.2,
        labelspacing=0.35,
    )
    set_size(figure, COLUMN_WIDTH, HEIGHT + LEGEND_LINE * (lines + bool(legend)) + 2)


def _label_classes(axes: "Axes", points: NDArray[np.float64], classes: Classes) -> None:
    """Write short class names at the median of their points, because more than seven colors are hard to distinguish."""
    from matplotlib.patheffects import withStroke

    if max(text_width(name) for name in classes.names) > SHORT_NAME_WIDTH:
        return
    apart = 0.05 * np.ptp(points, axis=0).max()
    labelled: list[NDArray[np.float64]] = []
    for code, (name, color) in enumerate(zip(classes.names, classes.colors, strict=True)):
        middle = np.median(points[classes.codes == code], axis=0)
        if color == OTHERS_COLOR or any(np.linalg.norm(middle - other) < apart for other in labelled):
            continue
        labelled.append(middle)
        halo = [withStroke(linewidth=1.6, foreground="white")]
        axes.text(middle[0], middle[1], name, ha="center", va="center", weight="bold", path_effects=halo, zorder=5)


def _draw_line(axes: "Axes", places: NDArray[np.float64], known: Classes | Values | None, legend: str | None) -> None:
    """Draw a single axis: against the values, in a strip for each class, or as a histogram."""
    style = _style(len(places))
    axes.set_xlabel("axis 1")
    few_ticks(axes.xaxis)
    if known is None:
        axes.hist(places, bins=int(np.clip(math.sqrt(len(places)), 5, 60)), color=FEW_COLORS[0])
        axes.set_ylabel("rows")
        few_ticks(axes.yaxis, whole=True)
    elif isinstance(known, Values):
        axes.scatter(places, known.numbers, color=FEW_COLORS[0], **style)
        axes.set_ylabel(one_line(legend, AXIS_LABEL_WIDTH) if legend else "value")
        few_ticks(axes.yaxis)
    else:
        jitter = np.random.default_rng(0).uniform(-0.3, 0.3, len(places))
        colors = np.array(known.colors)[known.codes].tolist()
        axes.scatter(places, known.codes + jitter, c=colors, **style)
        axes.set_yticks(range(len(known.names)), known.names)
        axes.set_ylim(len(known.names) - 0.5, -0.5)
        axes.tick_params(axis="y", length=0)
        axes.hlines(np.arange(1, len(known.names)) - 0.5, 0, 1, GRAY, alpha=0.3, lw=0.3, transform=_across(axes))
        if legend:
            axes.set_ylabel(one_line(legend, AXIS_LABEL_WIDTH))


def _across(axes: "Axes") -> Any:
    """Return coordinates that are fractions of the axes horizontally and data vertically."""
    return axes.get_yaxis_transform()
