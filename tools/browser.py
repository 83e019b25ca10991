"""The browser that the page's tests and the screenshots use: its path, its flags and the window sizes."""

import shutil

EXECUTABLES = ("chromium", "chromium-browser", "google-chrome")
WIDE, NARROW = {"width": 1600, "height": 900}, {"width": 380, "height": 800}
LOOKS = {"wide": (WIDE, False), "narrow-dark": (NARROW, True)}  # window size and whether the color scheme is dark
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
