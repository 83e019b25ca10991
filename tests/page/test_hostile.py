"""Names and values that look like markup are shown as text everywhere on the page."""

import csv
import io

import numpy as np
import pytest
from playwright.sync_api import Dialog, Page, expect

from tests.page.conftest import Opener, drop
from tests.page.jobs import done, drawn
from tests.support.api import Api

SCRIPT = "<script>alert(1)</script>"
IMAGE = '<img src=x onerror="alert(2)">'
LINK = '<a href="javascript:alert(3)">click</a>'
BOLD = "<b>bold</b>&lt;i&gt;%{x}"
NAMES = [SCRIPT, IMAGE, BOLD, "</textarea></pre><svg onload=alert(4)>", "class' autofocus onfocus='alert(5)"]
LEVELS = [SCRIPT, IMAGE, LINK]


def hostile(rows: int = 45) -> str:
    rng = np.random.default_rng(0)
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerow([*NAMES, LINK])
    for row in range(rows):
        kind = row % 3
        writer.writerow(
            [*(f"{value + 3 * (place == kind):.3f}" for place, value in enumerate(rng.normal(size=5))), LEVELS[kind]]
        )
    return text.getvalue()


@pytest.fixture
def quiet(opened: Opener) -> Page:
    """A page on which nothing may open a dialog."""
    page = opened()

    def refuse(dialog: Dialog) -> None:
        raise AssertionError(f"a script of the data ran: {dialog.message}")

    page.on("dialog", refuse)
    return page


def check_no_markup(page: Page) -> None:
    """Check that no data have become an element, an attribute or a link."""
    assert page.locator("script:not([src])").count() == 0
    assert page.locator("img[src='x'], [onerror], [onload], [onfocus], a[href^='javascript']").count() == 0
    assert page.locator("b, i", has_text="bold").count() == 0


def test_markup_in_a_table_stays_text_on_the_way_to_a_result(quiet: Page) -> None:
    drop(quiet, ".drop", f"{SCRIPT}.csv", hostile())
    expect(quiet.get_by_role("button", name="Run", exact=True)).to_be_visible()
    check_no_markup(quiet)
    quiet.get_by_text("Advanced settings").click()
    quiet.get_by_label("Folds").fill("0")
    quiet.get_by_role("button", name="Run", exact=True).click()
    drawn(quiet, 45)
    check_no_markup(quiet)


def test_markup_stays_text_in_every_part_of_a_result(quiet: Page, api: Api) -> None:
    spec = {"paradigm": "unsupervised", "clusters": 3, "q": 3, "reference": LINK, "features": NAMES, "kernel": "linear"}
    job = done(api, hostile(), IMAGE, label=SCRIPT, **spec)
    quiet.goto(f"{quiet.url.split('#')[0]}#/jobs/{job}")
    drawn(quiet, 45)
    arrows = quiet.locator(".arrows text").all_text_contents()
    assert any("<scr" in name for name in arrows)
    expect(quiet.locator(".contingency th", has_text=SCRIPT)).to_be_visible()
    for fold in quiet.locator("summary").all():
        fold.click()
    for plot in quiet.locator(".plot").all():
        plot.scroll_into_view_if_needed()
        expect(plot).to_have_attribute("data-drawn", "yes")
    quiet.get_by_label("Color", exact=True).select_option(LINK)
    expect(quiet.locator(".legend").get_by_role("button", name=SCRIPT)).to_be_visible()
    find = quiet.get_by_label("Find row")
    find.fill("1")
    find.press("Enter")
    expect(quiet.locator(".tooltip dt", has_text=SCRIPT)).to_be_visible()
    quiet.get_by_label("Z axis").select_option("axis 3")
    expect(quiet.locator(".plot-area .plot")).to_have_attribute("data-points", "45")
    check_no_markup(quiet)


def test_markup_stays_text_in_a_comparison(quiet: Page, api: Api) -> None:
    spec = {"target": LINK, "features": NAMES, "folds": 0, "paradigm": "supervised"}
    jobs = [
        done(api, hostile(), "t.csv", kernel=kernel, label=f"{kernel} {IMAGE}", **spec)
        for kernel in ("linear", "squared")
    ]
    quiet.goto(f"{quiet.url.split('#')[0]}#/compare/{','.join(jobs)}")
    expect(quiet.locator(".multiples .scatter-plot[data-drawn='45']")).to_have_count(2)
    expect(quiet.locator("td", has_text=SCRIPT).first).to_be_visible()
    check_no_markup(quiet)
