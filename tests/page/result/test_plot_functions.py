"""Functions of the plots, called in the page: which axes are drawn first, colors, labels and numbers."""

from typing import Any

import pytest
from playwright.sync_api import Page

SIDES = (("x", "left", "right"), ("y", "top", "bottom"))
CALL = """async ([module, name, given]) => {
    const exported = await import(new URL(`page/${module}`, document.baseURI).href);
    return JSON.parse(JSON.stringify(exported[name](...given)));
}"""


def call(page: Page, module: str, name: str, *given: Any) -> Any:
    """Call a function of the page's modules."""
    return page.evaluate(CALL, [module, name, given])


@pytest.mark.parametrize(
    ("shares", "drawn"),
    [
        ([0.3, 0.1, 0.6], [0, 2]),
        ([0.5, 0.5], [0, 1]),
        ([1.0], [0]),
        ([0.0, 0.4, 0.6], [1, 2]),  # an axis with the share 0 adds nothing
    ],
)
def test_the_two_axes_that_contribute_most_are_drawn_first(page: Page, shares: list[float], drawn: list[int]) -> None:
    result = {
        "axes": [f"axis{axis}" for axis in range(len(shares))],
        "contributions": [{"share": share, "informative": share > 0} for share in shares],
    }
    assert call(page, "result/data.js", "leadingAxes", result) == drawn


def test_a_few_outliers_leave_different_colors_for_all_other_values(page: Page) -> None:
    values = [*range(100), 100_000]
    found = call(page, "result/explorer/colors.js", "coloring", values, False)
    assert len(set(found["markIndex"].values())) > 40
    assert found["ends"] == ["≤ 2", "≥ 98"]
    same = call(page, "result/explorer/colors.js", "coloring", [5, 5], False)["ends"]
    assert same == ["5", "5"]


@pytest.mark.parametrize(
    ("value", "written"), [(2007, "2007"), (12_790, "12,790"), (-1.5, "−1.5"), (0.5, "0.5"), (None, "–")]
)
def test_numbers_of_four_digits_are_not_grouped(page: Page, value: float | None, written: str) -> None:
    assert call(page, "format.js", "number", value) == written


def test_labels_avoid_the_arrows_of_other_features(page: Page) -> None:
    vectors = [[1.0, 0.1], [0.95, 0.0], [0.5, -0.06], [-0.6, 0.5], [-0.1, -0.7]]
    entries = [{"name": f"a feature {place}"} for place in range(len(vectors))]
    view, size = {"x": [-3, 3], "y": [-2, 2]}, {"width": 600, "height": 400}
    found = call(page, "result/explorer/arrows.js", "placeArrows", entries, vectors, view, size)
    assert len(found["arrows"]) == len(vectors)
    start = found["origin"]
    for place, arrow in enumerate(found["arrows"]):
        others = [other["tip"] for at, other in enumerate(found["arrows"]) if at != place]
        assert not any(crosses(arrow["label"]["box"], start, tip) for tip in others)
        nearest = min([arrow["tip"], *others], key=lambda tip: distance(arrow["label"]["box"], tip))
        assert nearest == arrow["tip"]


def test_the_most_important_features_have_an_arrow_in_a_narrow_plot(page: Page) -> None:
    vectors = [[1.0, 0.1], [0.9, -0.5], [-0.9, 0.1], [-0.8, 0.6], [0.1, 0.9], [0.3, -0.3], [-0.4, -0.2]]
    entries = [{"name": f"f{place}", "importance": [0, 0, 0, 0, 0, 0.3, 0.6][place]} for place in range(len(vectors))]
    view, size = {"x": [-3, 3], "y": [-2, 2]}, {"width": 300, "height": 400}
    found = call(page, "result/explorer/arrows.js", "placeArrows", entries, vectors, view, size)
    assert [arrow["index"] for arrow in found["arrows"]] == [6, 5, 1, 0, 3]


def test_a_few_far_values_are_in_the_last_bar_of_a_distribution(page: Page) -> None:
    bins = call(page, "result/rows/histogram.js", "binsOf", [*(value / 100 for value in range(500)), 1000.5, None])
    assert bins["ends"] == ["0", "≥ 4.95, then missing"]
    assert bins["titles"][-2:] == ["4.744 to 1001", "missing"]
    whole = call(page, "result/rows/histogram.js", "binsOf", [1, 2, 2, 3])
    assert (whole["titles"], whole["ends"]) == (["1", "2", "3"], ["1", "3"])


def distance(box: dict[str, float], place: dict[str, float]) -> float:
    """Return the distance from a box to a point."""
    x, y = (max(box[low] - place[axis], 0, place[axis] - box[high]) for axis, low, high in SIDES)
    return float((x**2 + y**2) ** 0.5)


def crosses(box: dict[str, float], start: dict[str, float], end: dict[str, float]) -> bool:
    """Tell whether one of many points of a line is in a box."""
    points = [
        (start["x"] + step / 500 * (end["x"] - start["x"]), start["y"] + step / 500 * (end["y"] - start["y"]))
        for step in range(501)
    ]
    return any(box["left"] < x < box["right"] and box["top"] < y < box["bottom"] for x, y in points)
