"""Errors of a job or a table, shown in the form beside what they are about."""

import re

from playwright.sync_api import Page, expect

from tests.page.conftest import Watch, drop
from tests.page.forms import begin, field
from tests.page.jobs import WINE


def test_an_error_of_the_api_is_shown_beside_its_field(page: Page, watch: Watch) -> None:
    watch.provoked.add(422)
    begin(page, WINE)
    page.get_by_label("Kernel", exact=True).select_option("gaussian")
    page.get_by_label("New axes (q)").fill("99")
    page.get_by_role("button", name="Run").click()
    expect(field(page, "q").locator(".error")).to_contain_text("99")
    axes = page.get_by_label("New axes (q)")
    expect(axes).to_be_focused()
    expect(axes).to_have_attribute("aria-invalid", "true")
    expect(axes).to_have_accessible_description(re.compile("99 is more than the 13 features"))
    axes.fill("2")
    page.get_by_role("button", name="Run").click()
    expect(page.locator("h1 .badge")).to_have_text("done")


def test_an_error_in_a_folded_setting_unfolds_it(page: Page, watch: Watch) -> None:
    watch.provoked.add(422)
    begin(page, WINE)
    page.get_by_label("Kernel", exact=True).select_option("gaussian")
    page.get_by_text("Advanced settings").click()
    page.get_by_label("Sigma").fill("wide")
    page.get_by_label("Folds").fill("1")
    page.get_by_text("Advanced settings").click()
    expect(page.get_by_label("Sigma")).to_be_hidden()
    page.get_by_role("button", name="Run").click()
    expect(field(page, "kernel.sigma").locator(".error")).to_contain_text("wide")
    expect(field(page, "folds").locator(".error")).to_have_text(
        "It is 1; it must be 0 or a whole number from 2 to 20, or empty for the default."
    )
    expect(page.get_by_text("Correct the 2 marked fields.")).to_be_visible()


def test_an_error_of_the_features_is_shown_beside_the_columns(page: Page, watch: Watch) -> None:
    watch.provoked.add(422)
    begin(page, WINE)
    page.get_by_role("button", name="Use none").click()
    page.get_by_role("button", name="Run").click()
    expect(field(page, "features").locator(".error")).to_be_visible()


def test_a_file_that_is_no_table_shows_the_error_of_the_api(page: Page, watch: Watch) -> None:
    watch.provoked |= {415, 422}
    drop(page, ".drop", "empty.csv", "a,b\n")
    expect(page.get_by_role("alert")).to_be_visible()
    expect(page.get_by_role("alert").locator("h2")).to_have_text("The table cannot be read")
    begin(page, WINE)
