"""A scatter plot of 60,000 points: all are drawn, and can be moved, selected, colored and exported."""

from pathlib import Path

import numpy as np
import pytest
from playwright.sync_api import Page, expect

from tests.page.conftest import Opener
from tests.page.jobs import done, drawn, embedding, eventually, lasso, on_screen, pixels
from tests.support.api import Api

pytestmark = pytest.mark.thorough

MANY = 60_000


@pytest.fixture(scope="module")
def job(api: Api) -> str:
    rng = np.random.default_rng(0)
    classes = rng.integers(0, 3, MANY)
    values = rng.standard_normal((MANY, 4))
    values[:, :2] += 3 * np.column_stack([classes == 1, classes == 2])
    lines = [f"{a:.2f},{b:.2f},{c:.2f},{d:.2f},k{k}" for (a, b, c, d), k in zip(values, classes, strict=True)]
    return done(api, "\n".join(["a,b,c,d,kind", *lines]), "many.csv", target="kind", q=3, kernel="linear", folds=0)


@pytest.fixture
def result(opened: Opener, job: str) -> Page:
    return drawn(opened(f"#/jobs/{job}"), MANY)


def test_all_points_are_drawn_and_can_be_moved(result: Page) -> None:
    before = pixels(result)
    tick = result.locator(".scatter-plot g.xtick").first
    place = tick.bounding_box()
    result.get_by_role("button", name="Move").click()
    box = result.locator(".scatter-plot").bounding_box()
    assert box is not None
    result.mouse.move(box["x"] + 300, box["y"] + 150)
    result.mouse.down()
    result.mouse.move(box["x"] + 500, box["y"] + 200, steps=10)
    result.mouse.up()
    eventually(result, lambda: tick.bounding_box() != place)
    eventually(result, lambda: pixels(result) != before)


def test_a_lasso_selects_the_points_inside(result: Page, api: Api, job: str) -> None:
    places = on_screen(result, embedding(api, job))
    middle = np.median(places, axis=0)
    half = np.array([60.5, 40.5])
    low, high = np.floor(middle) - half, np.floor(middle) + half
    lasso(result, [(low[0], low[1]), (high[0], low[1]), (high[0], high[1]), (low[0], high[1])])
    panel = result.get_by_role("region", name="Selected rows")
    expect(panel.locator("tbody tr")).to_have_count(5)
    count = int((panel.get_by_role("heading").text_content() or "").split(" ")[0].replace(",", ""))
    inside = ((places > low) & (places < high)).all(axis=1).sum()
    assert count == pytest.approx(inside, rel=0.02)  # Plotly simplifies the drawn outline


def test_the_exported_plot_has_a_moderate_size(result: Page) -> None:
    for format in ("SVG", "PNG"):
        with result.expect_download() as download:
            result.get_by_role("button", name=f"Scatter plot as {format}").click()
        assert 20_000 < Path(download.value.path()).stat().st_size < 5_000_000


def test_the_plot_of_three_axes_shows_all_points(result: Page) -> None:
    result.get_by_label("Z axis").select_option("axis 3")
    expect(result.locator(".plot-area .plot")).to_have_attribute("data-points", str(MANY))
    result.get_by_label("Color", exact=True).select_option("a")
    expect(result.locator(".ramp")).to_be_visible()
