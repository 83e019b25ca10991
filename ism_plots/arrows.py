"""Arrows of features in an embedding plot: inside the frame, with labels that avoid points and each other."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ism_plots.names import one_line

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MAX_ARROWS = 9
MIN_LENGTH = 0.08  # of the longest arrow; shorter ones are left out
FRAME_SHARE = 0.84  # of the way to the frame that the longest arrow takes
NAME_WIDTH = 24  # characters
FONT_SIZE = 5.5  # points
TURNS = (0.0, 0.7, -0.7, 1.4, -1.4, 2.1, -2.1)  # radians from the direction of an arrow to its label
SHAFT = 0.9  # cost of a label that an arrow runs through; that of points is at most 2
MISLEADING = 1.0  # cost of a label that is nearer to the tip of another arrow
DISTANCES = (1.5, 7.0, 13.0)  # points between the tip and the label


@dataclass(frozen=True)
class Arrow:
    """A feature, or collinear features, with its components along the two axes and its share of the importance."""

    name: str
    x: float
    y: float
    importance: float = 0.0


def arrows_of(
    features: Sequence[str],
    vectors: NDArray[np.float64],
    groups: Sequence[Sequence[str]] = (),
    importance: ArrayLike | None = None,
) -> list[Arrow]:
    """Return an arrow for each feature; a group has the arrow of its longest feature.

    `vectors` holds the correlations with the two axes of the plot, or the weights: features × 2.
    """
    shares = np.zeros(len(features)) if importance is None else np.asarray(importance, dtype=np.float64)
    places = {name: place for place, name in enumerate(features)}
    lengths = np.linalg.norm(vectors, axis=1)
    grouped = {name for group in groups for name in group}
    found = []
    for names in [*groups, *([name] for name in features if name not in grouped)]:
        leader = max((places[name] for name in names), key=lambda place: float(lengths[place]))
        more = f" and {len(names) - 2} more" if len(names) > 2 else ""
        share = float(sum(shares[places[name]] for name in names))
        x, y = vectors[leader].tolist()
        found.append(Arrow(" / ".join(names[:2]) + more, x, y, share))
    return found


def draw_arrows(axes: "Axes", arrows: Sequence[Arrow], points: NDArray[np.float64]) -> None:
    """Draw the arrows of the most important features, and the longest of the others.

    The limits of the axes must be final, because the labels are placed between points.
    """
    kept = _shown(arrows)
    (left, right), (low, high) = axes.get_xlim(), axes.get_ylim()
    if not kept or not (left < 0 < right and low < 0 < high):
        return
    factor = min(min(_room(arrow.x, left, right), _room(arrow.y, low, high)) for arrow in kept)
    frame = axes.get_window_extent()
    size = np.array([frame.width, frame.height])
    to_points = 72 / axes.get_figure(root=True).dpi  # type: ignore[union-attr]

    def position(place: Any) -> NDArray[np.float64]:
        """Return a place of the data in points from the lower left corner of the frame."""
        share = (np.asarray(place) - [left, low]) / [right - left, high - low]
        return np.asarray(share * size * to_points, dtype=np.float64)

    cloud, origin, boxes = position(points), position([0.0, 0.0]), list[NDArray[np.float64]]()
    tips = [position([factor * arrow.x, factor * arrow.y]) for arrow in kept]
    for arrow, tip in zip(kept, tips, strict=True):
        text = one_line(arrow.name, NAME_WIDTH)
        box = _label_box(text, origin, tip, size * to_points, boxes, tips, cloud)
        if box is None:
            continue
        boxes.append(box)
        _draw_arrow(axes, origin, tip, text, box.reshape(2, 2).mean(axis=0))


def _shown(arrows: Sequence[Arrow]) -> list[Arrow]:
    """Return the arrows to draw: half of them are those of the most important features, the others the longest."""
    lengths = {arrow: float(np.hypot(arrow.x, arrow.y)) for arrow in arrows}
    longest = max(lengths.values(), default=0.0)
    long = sorted((each for each in lengths if lengths[each] > MIN_LENGTH * longest), key=lambda each: -lengths[each])
    ranked = sorted((each for each in long if each.importance), key=lambda each: -each.importance)
    leading = ranked[: -(-MAX_ARROWS // 2)]
    return [*leading, *(each for each in long if each not in leading)][:MAX_ARROWS]


def _draw_arrow(
    axes: "Axes", origin: NDArray[np.float64], tip: NDArray[np.float64], text: str, middle: NDArray[np.float64]
) -> None:
    from matplotlib.patheffects import withStroke

    corner: Any = {"xycoords": "axes points", "textcoords": "axes points"}
    style = {"arrowstyle": "-|>", "lw": 0.7, "color": "black", "shrinkA": 0, "shrinkB": 0, "mutation_scale": 5}
    shaft = axes.annotate("", tuple(tip), tuple(origin), arrowprops=style, zorder=6, **corner)
    label = axes.annotate(
        text, tuple(tip), tuple(middle), fontsize=FONT_SIZE, ha="center", va="center", zorder=7,
        path_effects=[withStroke(linewidth=1.6, foreground="white")], **corner,
    )  # fmt: skip
    for artist in (shaft, label):
        artist.set_in_layout(False)  # the frame must not change any more


def _room(component: float, low: float, high: float) -> float:
    """Return the longest factor that keeps a component inside the frame."""
    if abs(component) < 1e-12:
        return float("inf")
    return FRAME_SHARE * (high if component > 0 else low) / component


def _label_box(
    text: str,
    origin: NDArray[np.float64],
    tip: NDArray[np.float64],
    size: NDArray[np.float64],
    boxes: Sequence[NDArray[np.float64]],
    tips: Sequence[NDArray[np.float64]],
    cloud: NDArray[np.float64],
) -> NDArray[np.float64] | None:
    """Return the best box (left, bottom, right, top) for a label near a tip; None if all places are taken."""
    half = np.array([0.29 * FONT_SIZE * len(text) + 1, 0.65 * FONT_SIZE])
    direction = np.arctan2(*(tip - origin)[::-1])
    best, least = None, np.inf
    for distance in DISTANCES:
        for turn in TURNS:
            angle = direction + turn
            middle = tip + np.array([np.cos(angle), np.sin(angle)]) * (half + distance)
            middle = np.clip(middle, half, size - half)
            box = np.concatenate([middle - half, middle + half])
            if any(_covers(box, other) for other in boxes) or any(_contains(box, other) for other in tips):
                continue
            inside = ((cloud > box[:2]) & (cloud < box[2:])).all(axis=1).mean() if len(cloud) else 0.0
            expected = 4 * half.prod() / size.prod()
            crossed = sum(_crosses(box, origin, other) for other in tips)
            misleads = any(_distance(box, other) < _distance(box, tip) for other in tips)
            cost = 0.4 * abs(turn) + 0.06 * distance + min(2.0, 0.4 * inside / expected)
            cost += SHAFT * crossed + MISLEADING * misleads
            if cost < least:
                best, least = box, cost
    return best


def _distance(box: NDArray[np.float64], place: NDArray[np.float64]) -> float:
    """Return the distance from the nearest side of a box (left, bottom, right, top) to a point."""
    return float(np.linalg.norm(np.maximum(0, np.maximum(box[:2] - place, place - box[2:]))))


def _crosses(box: NDArray[np.float64], start: NDArray[np.float64], end: NDArray[np.float64]) -> bool:
    """Tell whether the line between two points runs through a box (left, bottom, right, top)."""
    way = np.where(end == start, 1e-12, end - start)
    sides = np.sort([(box[:2] - start) / way, (box[2:] - start) / way], axis=0)
    return bool(max(0.0, sides[0].max()) < min(1.0, sides[1].min()))


def _covers(one: NDArray[np.float64], other: NDArray[np.float64]) -> bool:
    return bool((one[:2] < other[2:]).all() and (other[:2] < one[2:]).all())


def _contains(box: NDArray[np.float64], place: NDArray[np.float64]) -> bool:
    return bool((place > box[:2]).all() and (place < box[2:]).all())
