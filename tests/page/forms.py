"""The form of the page: opening it for a table, and the job that it describes."""

import json
from typing import Any

from playwright.sync_api import Page, expect

from tests.page.conftest import drop


def begin(page: Page, content: str, name: str = "table.csv") -> None:
    """Drop a table and wait for its form."""
    drop(page, ".drop", name, content)
    expect(page.get_by_role("button", name="Run")).to_be_visible()


def spec_of(page: Page) -> dict[str, Any]:
    return json.loads(page.get_by_label("The job as JSON").text_content() or "")


def field(page: Page, name: str) -> Any:
    return page.locator(f"[data-field='{name}']")
