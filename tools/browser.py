"""The browser that the page's tests and the screenshots use: its path, its flags and the window sizes."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager

from playwright.sync_api import Browser, expect, sync_playwright

EXECUTABLES = ("chromium", "chromium-browser", "google-chrome")
WIDE, NARROW = {"width": 1600, "height": 900}, {"width": 380, "height": 800}
LOOKS = {"wide": (WIDE, False), "narrow-dark": (NARROW, True)}  # window size and whether the color scheme is dark
EVERY_LOOK = {**LOOKS, "wide-dark": (WIDE, True), "narrow": (NARROW, False)}
PATIENCE = 180_000  # milliseconds to wait for a change on the page on a busy machine
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--use-angle=swiftshader",  # WebGL without a graphics card
    "--enable-unsafe-swiftshader",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
    # Without this, each window loads two pages for the suggestions under the address bar: 1.2 s of CPU.
    "--disable-features=WebUIOmniboxPopup,WebUIOmniboxAimPopup",
]


def chromium() -> str | None:
    """Return the path of the browser, or None if none is installed."""
    return next(filter(None, map(shutil.which, EXECUTABLES)), None)


@contextmanager
def running_browser(executable: str | None) -> Iterator[Browser]:
    """Start the browser without a window until the block ends; expectations wait up to `PATIENCE` from now on.

    While it runs, nothing else in the process can use an event loop.
    """
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=executable, args=FLAGS)
        expect.set_options(timeout=PATIENCE)
        yield browser
        browser.close()
