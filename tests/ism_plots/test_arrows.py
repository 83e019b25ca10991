"""Arrows and importance in plots: what they show, and that labels stay apart and inside the frame."""

from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest
from matplotlib.figure import Figure

from ism_core import SupervisedISM
from ism_plots import Arrow, Importance, arrows_of, embedding_plot, importance_plot, leading_axes
from ism_plots.arrows import MAX_ARROWS, _shown, draw_arrows

RNG = np.random.default_rng(0)


def texts(svg: bytes) -> list[str]:
    return [
        "".join(element.itertext()) for element in ElementTree.fromstring(svg).iter("{http://www.w3.org/2000/svg}text")
    ]


def test_features_that_stand_for_each_other_are_one_arrow() -> None:
    vectors = np.array([[0.2, 0.1], [0.9, 0.1], [-0.8, 0.0]])
    found = arrows_of(["a", "b", "c"], vectors, [["b", "c"]])
    assert found == [Arrow("b / c", 0.9, 0.1), Arrow("a", 0.2, 0.1)]


def test_the_most_important_features_have_an_arrow_among_longer_ones() -> None:
    vectors = RNG.uniform(0.5, 1, (20, 2)) * RNG.choice([-1, 1], (20, 2))
    vectors[7] = 0.2, 0.1
    importance = np.where(np.arange(20) == 7, 0.9, 0.0)
    shown = _shown(arrows_of([f"feature {place}" for place in range(20)], vectors, (), importance))
    assert shown[0].name == "feature 7"
    assert len(shown) == MAX_ARROWS


def test_arrows_and_labels_stay_inside_the_frame_and_labels_apart() -> None:
    points = RNG.standard_normal((300, 2)) * [3, 1]
    arrows = [Arrow(f"a long name of feature {place}", *RNG.standard_normal(2)) for place in range(12)]
    figure = Figure(figsize=(3.3, 2.8))
    axes: Any = figure.subplots()
    axes.scatter(points[:, 0], points[:, 1])
    figure.draw_without_rendering()
    draw_arrows(axes, arrows, points)
    frame = axes.get_window_extent()
    labels = [text.get_window_extent() for text in axes.texts if text.get_text()]
    assert len(labels) >= 6
    for place, box in enumerate(labels):
        assert frame.padded(2).contains(box.x0, box.y0)
        assert frame.padded(2).contains(box.x1, box.y1)
        assert box.count_overlaps(labels[:place]) == 0


def test_axes_say_what_they_contribute() -> None:
    written = texts(embedding_plot(RNG.standard_normal((9, 2)), title="中", shares=[1.0, 0.0]))
    assert "axis 1: contributes 100%" in written
    assert "axis 2: adds nothing, for plots only" in written


def test_the_two_axes_that_contribute_most_are_drawn_in_their_order() -> None:
    assert leading_axes([0.3, 0.1, 0.6], 3) == [0, 2]
    assert leading_axes(None, 3) == [0, 1]
    assert leading_axes([1.0], 1) == [0]
    written = texts(embedding_plot(RNG.standard_normal((9, 3)), title="中", shares=[0.0, 0.4, 0.6]))
    assert {"axis 2: contributes 40%", "axis 3: contributes 60%", "axes 2 and 3 of 3"} <= set(written)


@pytest.mark.parametrize("spread", [0.01, 100.0])
def test_a_unit_is_as_long_on_both_axes_unless_told_otherwise(spread: float) -> None:
    points = RNG.standard_normal((50, 2)) * [1, spread]
    assert embedding_plot(points) != embedding_plot(points, one_scale=False)


def test_the_importance_plot_shows_shares_and_losses() -> None:
    entries = [Importance("中", 0.7, 0.1, False, 0.4, 0.05), Importance("b", 0.3, 0.2, True, 0.0, 0.01)]
    written = texts(importance_plot(entries))
    assert [name for name in written if name in ("中", "b")] == ["中", "b"]
    assert "explained variance lost if shuffled" in written
    assert "explained variance lost if shuffled" not in texts(importance_plot([Importance("中", 1.0)]))
    assert importance_plot([])


def test_a_fitted_estimator_draws_its_rows_with_the_features_as_arrows() -> None:
    X = RNG.standard_normal((60, 4))
    y = np.where(X[:, 0] > 0, "中", "b")
    drawn = SupervisedISM("gaussian", q=2).fit(X, y).plot(X, y)
    assert drawn.startswith("<?xml")
    assert {"中", "b"} <= set(texts(drawn.encode()))
    assert any(text.startswith("axis 1: contributes") for text in texts(drawn.encode()))
