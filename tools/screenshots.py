"""Take the screenshots of the page for the documentation: `python -m tools.screenshots [VIEW …]`.

It starts its own service and writes into `docs/images`.
"""

import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from playwright.sync_api import Browser, Page, expect

from tools.browser import LOOKS, NARROW, WIDE, chromium, running_browser
from tools.local_service import running_service

FOLDER = Path(__file__).parents[1] / "docs" / "images"
ALL_LOOKS = LOOKS | {"wide-dark": (WIDE, True), "narrow": (NARROW, False)}


def start(page: Page) -> None:
    """Wait for the start view."""
    expect(page.get_by_role("heading", name="Or try an example")).to_be_visible()


def form(page: Page) -> None:
    """Open the Wine example and wait for its form."""
    page.get_by_role("button", name="Wine").click()
    expect(page.get_by_role("button", name="Run")).to_be_visible()


def run(page: Page) -> None:
    """Start a job on Digits with a tiny tolerance, so that it still runs while the screenshot is taken."""
    page.get_by_role("button", name="Digits").click()
    page.get_by_label("Kernel", exact=True).select_option("multiquadratic")
    page.get_by_text("Advanced settings").click()
    page.get_by_label("Convergence tolerance").fill("1e-12")
    page.get_by_label("Number of starts").fill("1")
    page.get_by_label("Folds").fill("0")
    page.get_by_role("button", name="Run").click()
    expect(page.locator(".stage")).to_have_text("Optimizing the axes")
    while int((page.locator(".facts dd").first.text_content() or "").replace("–", "0")) < 12:
        page.wait_for_timeout(20)


def result(page: Page) -> None:
    """Run the Wine example and wait until its result is drawn."""
    form(page)
    page.get_by_role("button", name="Run").click()
    expect(page.locator(".scatter-plot")).to_have_attribute("data-drawn", "178")
    features = page.locator(".figure .plot").first
    features.scroll_into_view_if_needed()
    expect(features).to_have_attribute("data-drawn", "yes")
    page.evaluate("window.scrollTo(0, 0)")
    if page.viewport_size == NARROW:  # show the picture itself, which begins below the first screen
        page.locator(".headline").evaluate("element => element.scrollIntoView()")


def compare(page: Page) -> None:
    """Run all kernels on Wine and wait until all six results are drawn."""
    result(page)
    page.get_by_role("button", name="Run with every kernel").click()
    expect(page.locator(".multiples .scatter-plot[data-drawn='178']")).to_have_count(6)
    expect(page.locator(".badge.succeeded")).to_have_count(6)


VIEWS: dict[str, Callable[[Page], None]] = {
    "start": start,
    "form": form,
    "run": run,
    "result": result,
    "compare": compare,
}


def take(browser: Browser, url: str, name: str) -> None:
    """Take the screenshots of one view, one per window size and color scheme."""
    for look, (viewport, dark) in (ALL_LOOKS if name == "result" else LOOKS).items():
        context = browser.new_context(viewport=viewport, color_scheme="dark" if dark else "light")  # type: ignore[arg-type]
        page = context.new_page()
        page.goto(url)
        VIEWS[name](page)
        page.screenshot(path=FOLDER / f"{name}-{look}.png")
        if page.get_by_role("button", name="Cancel").count():
            page.get_by_role("button", name="Cancel").click()
        context.close()


def main(names: list[str]) -> None:
    """Take the screenshots of the named views, or of all."""
    FOLDER.mkdir(exist_ok=True)
    with (
        tempfile.TemporaryDirectory() as folder,
        running_service(Path(folder), workers=1) as (url, _),
        running_browser(chromium()) as browser,
    ):
        for name in names or VIEWS:
            take(browser, url, name)


if __name__ == "__main__":
    main(sys.argv[1:])
