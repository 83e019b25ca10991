"""Finished jobs for the tests of the page, and the positions of their points in the scatter plot."""

import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from playwright.sync_api import Page, expect

from tests.support.api import Api
from tools.browser import PATIENCE

WINE = (Path(__file__).parents[2] / "examples" / "wine.csv").read_text()
LEFT, RIGHT, TOP, BOTTOM, ROOM = 54, 10, 10, 46, 0.06  # margins of the plot in pixels, and the margin around its points


def done(api: Api, content: str = WINE, name: str = "wine.csv", **spec: Any) -> str:
    """Run a job and return its id. By default it explains the classes of the wines."""
    spec = {"paradigm": "supervised", "target": "class", "folds": 2} | spec if "paradigm" not in spec else spec
    spec = {"kernel": "gaussian"} | spec
    job = api.submit(dataset=api.upload(content.encode(), name)["id"], **spec)
    api.succeeded(job)
    return job


def drawn(page: Page, points: int) -> Page:
    """Wait until the scatter plot shows so many points, and return the page."""
    expect(page.locator(".scatter-plot")).to_have_attribute("data-drawn", str(points))
    expect(page.locator(".scatter-plot .plot")).to_have_attribute("data-drawn", "yes")
    return page


def embedding(api: Api, job: str) -> NDArray[np.float64]:
    table = api.get(f"/jobs/{job}/embedding").json()
    places = [place for place, name in enumerate(table["columns"]) if name.startswith("axis")]
    return np.array([[row[place] for place in places] for row in table["rows"]])


def on_screen(page: Page, points: NDArray[np.float64], shown: NDArray[np.float64] | None = None) -> Any:
    """The positions of points in the window if the view contains exactly `shown`, by default the points themselves."""
    box = page.locator(".scatter-plot").bounding_box()
    assert box is not None
    shown = points if shown is None else shown
    low, high = shown[:, :2].min(axis=0), shown[:, :2].max(axis=0)
    size = np.array([box["width"] - LEFT - RIGHT, box["height"] - TOP - BOTTOM])
    unit = (((1 + 2 * ROOM) * (high - low)) / size).max()  # one scale for both axes
    place = size / 2 + (points[:, :2] - (low + high) / 2) / unit
    return np.column_stack([box["x"] + LEFT + place[:, 0], box["y"] + box["height"] - BOTTOM - place[:, 1]])


def pixels(page: Page) -> str:
    """The image of the points as a data URL."""
    return str(page.evaluate("document.querySelector('.scatter-plot canvas').toDataURL()"))


def eventually(page: Page, holds: Callable[[], bool]) -> None:
    """Wait until a condition holds that no locator can express."""
    deadline = time.monotonic() + PATIENCE / 1000
    while not holds():
        assert time.monotonic() < deadline
        page.wait_for_timeout(50)


def lasso(page: Page, corners: Sequence[Sequence[float]]) -> None:
    """Draw a lasso through the corners."""
    page.mouse.move(*corners[0])
    page.mouse.down()
    for corner in [*corners[1:], corners[0]]:
        page.mouse.move(*corner, steps=5)
    page.mouse.up()
