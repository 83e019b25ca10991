"""New rows that are dropped on a finished job are projected and shown in its scatter plot."""

from pathlib import Path

import numpy as np
import pytest
from playwright.sync_api import Page, expect

from tests.page.conftest import Opener, Watch, drop
from tests.page.jobs import WINE, done, drawn, embedding, on_screen
from tests.support.api import Api

LINES = WINE.splitlines()


@pytest.fixture(scope="module")
def job(api: Api) -> str:
    return done(api, q=2)


@pytest.fixture
def result(opened: Opener, job: str) -> Page:
    return drawn(opened(f"#/jobs/{job}"), 178)


def test_new_rows_are_shown_where_the_api_projects_them(result: Page, api: Api, job: str) -> None:
    drop(result, ".drop", "new.csv", "\n".join([LINES[0], LINES[1], LINES[100]]))
    drawn(result, 180)
    expect(result.locator(".legend")).to_contain_text("new rows (2)")
    expect(result.get_by_text("2 rows of new.csv")).to_be_visible()
    expect(result.get_by_text("Ignored 1 column(s)")).to_be_visible()
    points = embedding(api, job)
    result.locator(".scatter-plot").scroll_into_view_if_needed()
    result.mouse.move(*on_screen(result, points)[0])
    expect(result.locator(".tooltip")).to_have_text("New row 1")
    with result.expect_download() as download:
        result.get_by_role("button", name="Download coordinates as CSV").click()
    lines = Path(download.value.path()).read_text().splitlines()
    assert lines[0] == "axis1,axis2"
    assert np.abs(np.array([line.split(",") for line in lines[1:]], dtype=float) - points[[0, 99]]).max() < 1e-9


def test_the_view_grows_to_show_distant_new_rows(result: Page) -> None:
    before = result.locator(".scatter-plot g.xtick").all_text_contents()
    far = ",".join(str(100 * float(value)) for value in LINES[1].split(",")[:-1])
    drop(result, ".drop", "far.csv", "\n".join([LINES[0].rsplit(",", 1)[0], far]))
    drawn(result, 179)
    expect(result.locator(".scatter-plot g.xtick").last).not_to_have_text(before[-1])


def test_rows_without_the_features_show_the_error_of_the_api(result: Page, watch: Watch) -> None:
    watch.provoked.add(422)
    drop(result, ".drop", "short.csv", "alcohol,hue\n1,2\n3,4\n")
    alert = result.locator("section", has=result.get_by_role("heading", name="New rows")).get_by_role("alert")
    expect(alert).to_contain_text("The table lacks 11 of the 13 feature(s)")
    drawn(result, 178)
