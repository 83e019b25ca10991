"""Questions about rows of a result: rows of a class or a range, one row and its neighbors, linked views, new rows."""

import io
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from playwright.sync_api import Locator, Page, Route, expect

from tests.page.conftest import Opener, Watch, check_accessible, check_fits, drop, every_look
from tests.page.jobs import WINE, done, drawn, embedding, eventually, lasso, on_screen, pixels
from tests.support.api import Api

TABLE = pd.read_csv(io.StringIO(WINE))
LINES = WINE.splitlines()
FAR = ",".join(str(100 * float(value)) for value in LINES[1].split(",")[:-1])  # a row far from all others


@pytest.fixture(scope="module")
def job(api: Api) -> str:
    return done(api, q=3)


@pytest.fixture
def result(opened: Opener, job: str) -> Page:
    return drawn(opened(f"#/jobs/{job}"), 178)


@pytest.fixture(scope="module")
def plane_job(api: Api) -> str:
    return done(api, q=2)


@pytest.fixture
def plane(opened: Opener, plane_job: str) -> Page:
    return drawn(opened(f"#/jobs/{plane_job}"), 178)


def selected(page: Page) -> Locator:
    return page.get_by_role("region", name="Selected rows")


def test_rows_of_a_range_or_a_level_are_selected_and_the_others_hidden(result: Page) -> None:
    result.get_by_label("Select rows by").select_option("alcohol")
    result.get_by_label("At least").fill("14")
    result.keyboard.press("Enter")
    expect(selected(result).get_by_role("heading")).to_have_text(
        f"{(TABLE['alcohol'] >= 14).sum()} rows of 178 selected"
    )
    expect(selected(result).locator("tbody tr").first).to_contain_text(" ± ")
    before = pixels(result)
    result.get_by_label("Hide all other rows").check()
    eventually(result, lambda: pixels(result) != before)
    result.get_by_label("Select rows by").select_option("class")
    result.get_by_label("Value", exact=True).select_option(str(TABLE["class"].iloc[0]))
    count = (TABLE["class"] == TABLE["class"].iloc[0]).sum()
    expect(selected(result).get_by_role("heading")).to_have_text(f"{count} rows of 178 selected")
    result.get_by_role("button", name="Clear").click()
    expect(selected(result)).to_be_hidden()
    expect(result.get_by_label("Select rows by")).to_have_value("")


def test_a_class_is_selected_by_its_name(result: Page) -> None:
    name, count = next(iter(TABLE["class"].value_counts().items()))
    result.get_by_title("Select these rows").get_by_text(str(name), exact=True).click()
    expect(selected(result).get_by_role("heading")).to_have_text(f"{count} rows of 178 selected")


def test_a_click_on_a_row_shows_its_values_and_nearest_rows(result: Page, api: Api, job: str) -> None:
    points = embedding(api, job)
    far = int(np.argmin(points[:, 0]))
    result.mouse.click(*on_screen(result, points)[far])
    panel = result.get_by_role("region", name="Row", exact=True)
    expect(panel.get_by_role("heading")).to_contain_text(f"Row {far} · class")
    used = [each["informative"] for each in api.get(f"/jobs/{job}/result").json()["contributions"]]
    distances = np.linalg.norm((points - points[far])[:, used], axis=1)
    nearest = [str(row) for row in np.argsort(distances, kind="stable")[1:6]]
    table = panel.get_by_role("region", name="Nearest rows in the axes")
    assert table.locator("tbody tr td:first-child").all_text_contents() == nearest
    first = panel.get_by_role("region", name="Values of the row").locator("tbody tr").first
    column, value = first.locator("td").nth(0), first.locator("td").nth(1)
    expect(value).to_have_text(f"{TABLE[column.text_content()][far]:g}")
    table.get_by_role("button", name=nearest[0], exact=True).click()
    expect(panel.get_by_role("heading")).to_contain_text(f"Row {nearest[0]} · class")


def test_linked_views_select_rows_and_change_the_axes(result: Page, api: Api, job: str) -> None:
    views = result.get_by_role("region", name="Linked views")
    views.scroll_into_view_if_needed()
    result.get_by_label("Distribution of", exact=True).select_option("alcohol")
    expect(views.locator(".histogram")).to_have_attribute("data-drawn", "alcohol")
    bars = views.locator(".histogram [data-bin]")
    bars.nth(12).hover()
    result.mouse.down()
    bars.last.hover()
    result.mouse.up()
    alcohol = TABLE["alcohol"]
    count = (alcohol >= alcohol.min() + (alcohol.max() - alcohol.min()) / 2).sum()
    expect(selected(result).get_by_role("heading")).to_have_text(f"{count} rows of 178 selected")
    views.get_by_role("button", name="axis 2 and axis 3").click()
    expect(result.get_by_label("X axis")).to_have_value("1")
    expect(result.get_by_label("Y axis")).to_have_value("2")
    expect(selected(result)).to_be_visible()
    points = embedding(api, job)[:, :2]
    small = views.get_by_role("img", name="Rows in axis 1 and axis 2")
    small.scroll_into_view_if_needed()
    box = small.bounding_box()
    assert box is not None
    result.mouse.move(box["x"] + 1, box["y"] + 1)
    result.mouse.down()
    result.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] - 1, steps=3)
    result.mouse.up()
    left = (points[:, 0] < (points[:, 0].min() + points[:, 0].max()) / 2).sum()
    expect(selected(result).get_by_role("heading")).to_have_text(f"{left} rows of 178 selected")


def test_linked_views_say_that_they_are_being_drawn(opened: Opener, api: Api, plane_job: str) -> None:
    page, held = opened(), list[Route]()
    page.route("**/rows?**", lambda route: held.append(route))
    page.goto(f"{api.base_url}/#/jobs/{plane_job}")
    views = page.get_by_role("region", name="Linked views")
    views.scroll_into_view_if_needed()
    said = "getComputedStyle(document.querySelector('.linked .plot-area'), '::before').content"
    eventually(page, lambda: len(held) == 3)
    assert page.evaluate(said) == '"Drawing …"'
    for route in held:
        route.continue_()
    expect(views.locator(".histogram[data-drawn]")).to_have_count(3)
    assert page.evaluate(said) == "none"


@pytest.mark.thorough
@every_look
def test_the_answers_fit_and_are_accessible(opened: Opener, job: str, viewport: dict[str, int], dark: bool) -> None:
    page = drawn(opened(f"#/jobs/{job}", viewport=viewport, dark=dark), 178)
    page.get_by_label("Select rows by").select_option("class")
    page.get_by_label("Value", exact=True).select_option(index=1)
    page.get_by_label("Find row").fill("7")
    page.keyboard.press("Enter")
    expect(page.get_by_role("region", name="Values of the row")).to_be_visible()
    page.get_by_role("region", name="Linked views").scroll_into_view_if_needed()
    expect(page.locator(".histogram[data-drawn]")).to_be_visible()
    check_fits(page)
    check_accessible(page)


def test_new_rows_are_shown_where_the_api_projects_them(plane: Page, api: Api, plane_job: str) -> None:
    drop(plane, ".drop", "new.csv", "\n".join([LINES[0], LINES[1], LINES[100]]))
    drawn(plane, 180)
    expect(plane.locator(".legend")).to_contain_text("new rows (2)")
    expect(plane.get_by_text("2 rows of new.csv")).to_be_visible()
    expect(plane.get_by_text("Ignored 1 column(s)")).to_be_visible()
    points = embedding(api, plane_job)
    plane.locator(".scatter-plot").scroll_into_view_if_needed()
    plane.mouse.move(*on_screen(plane, points)[0])
    expect(plane.locator(".tooltip")).to_have_text("New row 1")
    with plane.expect_download() as download:
        plane.get_by_role("button", name="Download coordinates as CSV").click()
    lines = Path(download.value.path()).read_text().splitlines()
    assert lines[0] == "axis1,axis2"
    assert np.abs(np.array([line.split(",") for line in lines[1:]], dtype=float) - points[[0, 99]]).max() < 1e-9


def test_the_view_grows_to_show_distant_new_rows(plane: Page) -> None:
    before = plane.locator(".scatter-plot g.xtick").all_text_contents()
    drop(plane, ".drop", "far.csv", "\n".join([LINES[0].rsplit(",", 1)[0], FAR]))
    drawn(plane, 179)
    expect(plane.get_by_role("heading", name="1 new row is unusual")).to_be_visible()
    expect(plane.get_by_text("Values outside the range of the job's table")).to_be_visible()
    plane.get_by_role("button", name="Show new row 1").click()
    panel = plane.get_by_role("region", name="Row", exact=True)
    expect(panel.get_by_text("Unusual: it is farther from its nearest rows than 100")).to_be_visible()
    expect(plane.locator(".scatter-plot g.xtick").last).not_to_have_text(before[-1])


def test_the_ring_of_a_row_follows_the_view(plane: Page, api: Api, plane_job: str) -> None:
    plane.get_by_label("Find row").fill("7")
    plane.keyboard.press("Enter")
    ring = plane.locator(".scatter-plot .highlight")
    expect(plane.locator(".tooltip")).to_be_visible()
    drop(plane, ".drop", "far.csv", "\n".join([LINES[0].rsplit(",", 1)[0], FAR]))
    drawn(plane, 179)
    expect(plane.locator(".tooltip")).to_be_hidden()
    model = {"file": ("far.csv", "\n".join([LINES[0].rsplit(",", 1)[0], FAR]))}
    far = api.post(f"/jobs/{plane_job}/transform", files=model).json()["rows"]
    points = embedding(api, plane_job)[:, :2]

    def is_on_the_row() -> bool:
        box, place = ring.bounding_box(), on_screen(plane, points, np.vstack([points, far]))[7]
        return box is not None and np.allclose(
            [box["x"] + box["width"] / 2, box["y"] + box["height"] / 2], place, rtol=0, atol=3
        )

    eventually(plane, is_on_the_row)  # the page may still move


def test_rows_without_the_features_show_the_error_of_the_api(plane: Page, watch: Watch) -> None:
    watch.provoked.add(422)
    drop(plane, ".drop", "short.csv", "alcohol,hue\n1,2\n3,4\n")
    alert = plane.locator("section", has=plane.get_by_role("heading", name="New rows")).get_by_role("alert")
    expect(alert).to_contain_text("The table lacks 11 of the 13 feature(s)")
    drawn(plane, 178)


def test_a_lasso_that_ends_where_it_began_picks_no_row(plane: Page, api: Api, plane_job: str) -> None:
    places = on_screen(plane, embedding(api, plane_job))
    x, y = places[np.abs(places - places.mean(axis=0)).sum(axis=1).argmin()]
    lasso(plane, [(x, y), (x + 80, y), (x + 80, y - 80), (x - 80, y - 80)])
    expect(selected(plane)).to_be_visible()
    expect(plane.get_by_role("region", name="Row", exact=True)).to_be_hidden()
