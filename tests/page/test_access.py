"""The page of a service that needs API keys."""

from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.page.conftest import Opener, Watch, check_accessible, drop
from tests.support.keyed_service import KeyedService

WINE = (Path(__file__).parents[2] / "examples" / "wine.csv").read_text()


@pytest.fixture(scope="module")
def service(keyed_service: KeyedService) -> str:
    return keyed_service.url


@pytest.fixture(scope="module")
def key(keyed_service: KeyedService) -> str:
    return keyed_service.keys.make("reader")


@pytest.fixture
def page(opened: Opener, watch: Watch) -> Page:
    watch.provoked.add(401)
    return opened()


def give(page: Page, key: str) -> None:
    page.get_by_label("API key", exact=True).last.fill(key)
    page.get_by_role("button", name="Continue").click()


def test_the_page_asks_for_a_key_and_uses_it(page: Page, key: str) -> None:
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text("This service needs an API key")
    check_accessible(page)
    give(page, "a-key-that-nobody-has-made")
    expect(dialog).to_contain_text("The API key is not valid")
    give(page, key)
    expect(dialog).to_have_count(0)
    drop(page, ".drop", "wine.csv", WINE)
    page.get_by_label("Kernel", exact=True).select_option("gaussian")
    page.get_by_role("button", name="Run").click()
    expect(page.locator("h1 .badge")).to_have_text("done")
    page.get_by_role("link", name="Jobs").click()
    expect(page.locator("[data-job]")).to_have_count(1)
    assert key not in page.url


def test_the_key_is_kept_for_the_tab_only(page: Page, watch: Watch, key: str) -> None:
    give(page, key)
    expect(page.get_by_role("heading", name="Or try an example")).to_be_visible()
    page.reload()
    expect(page.get_by_role("heading", name="Or try an example")).to_be_visible()
    expect(page.get_by_role("dialog")).to_have_count(0)
    assert page.evaluate("localStorage.length") == 0
    assert page.context.cookies() == []

    other = watch.on(page.context.new_page())
    other.goto(page.url)
    expect(other.get_by_role("dialog")).to_be_visible()

    page.get_by_role("button", name="Forget API key").click()
    expect(page.get_by_role("dialog")).to_be_visible()


def test_without_a_key_the_page_shows_an_error_only(page: Page) -> None:
    page.get_by_role("button", name="Cancel").click()
    expect(page.get_by_role("alert")).to_contain_text("An API key is needed")


def test_the_curl_command_does_not_contain_the_key(page: Page, key: str) -> None:
    give(page, key)
    drop(page, ".drop", "wine.csv", WINE)
    page.get_by_text("This job as JSON and as a curl command").click()
    command = page.get_by_label("The job as a curl command")
    expect(command).to_contain_text('-H "Authorization: Bearer $ISM_API_KEY"')
    expect(command).not_to_contain_text(key)
