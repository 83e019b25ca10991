"""Fixtures that open the page in Chromium. A test fails if the page logs an error or contacts another host."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from urllib.parse import urlsplit

import httpx
import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, ConsoleMessage, Page, Request

from tests.support.api import Api
from tools.browser import EVERY_LOOK, LOOKS, PATIENCE, WIDE, chromium, running_browser

# Both widths, light and dark; two of the four looks in `make test`, all of them in `make test-all`.
every_look = pytest.mark.parametrize(
    ("viewport", "dark"),
    [
        pytest.param(*look, id=name, marks=() if name in LOOKS else pytest.mark.thorough)
        for name, look in EVERY_LOOK.items()
    ],
)


# Of the package, not of the session: while Playwright runs, nothing else in the process can use an event loop.
@pytest.fixture(scope="package")
def browser() -> Iterator[Browser]:
    found = chromium()
    if found is None:
        pytest.skip("There is no Chromium here; apt-get install chromium. The page is not tested.")
    with running_browser(found) as browser:
        yield browser


@dataclass
class Watch:
    """The faults of pages. The browser logs error answers as faults, except those that a test has provoked."""

    host: str
    faults: list[str] = field(default_factory=list)
    provoked: set[int] = field(default_factory=set)
    cut: bool = False  # whether the test cuts connections

    def on(self, page: Page) -> Page:
        page.on("console", self._said)
        page.on("pageerror", lambda error: self.faults.append(f"not caught: {error}"))
        page.on("request", self._asked)
        page.set_default_timeout(PATIENCE)
        return page

    def _said(self, message: ConsoleMessage) -> None:
        expected = any(f"status of {status} " in message.text for status in self.provoked)
        expected = expected or (self.cut and "net::ERR_" in message.text)
        if message.type == "error" and not expected:
            self.faults.append(f"on the console: {message.text}")

    def _asked(self, request: Request) -> None:
        if urlsplit(request.url).netloc not in ("", self.host):  # blob: and data: have none
            self.faults.append(f"asked of another host: {request.url}")


Opener = Callable[..., Page]


@pytest.fixture
def watch(service: str) -> Watch:
    return Watch(urlsplit(service).netloc)


@pytest.fixture
def opened(browser: Browser, service: str, watch: Watch) -> Iterator[Opener]:
    """A function that opens the page in a new browser context: opened("#/jobs", dark=True, viewport=NARROW)."""
    contexts = []

    def open_page(
        address: str = "", *, viewport: dict[str, int] = WIDE, dark: bool = False, url: str = service
    ) -> Page:
        context = browser.new_context(
            viewport=viewport,  # type: ignore[arg-type]
            color_scheme="dark" if dark else "light",
            accept_downloads=True,
            permissions=["clipboard-read", "clipboard-write"],
        )
        contexts.append(context)
        watch.host = urlsplit(url).netloc
        page = watch.on(context.new_page())
        page.goto(f"{url}/{address}")
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert watch.faults == []


@pytest.fixture
def page(opened: Opener) -> Page:
    return opened()


@pytest.fixture(scope="module")
def api(service: str) -> Iterator[Api]:
    with Api(base_url=service, timeout=httpx.Timeout(90)) as client:
        yield client


def drop(page: Page, selector: str, name: str, content: str) -> None:
    """Drop a file on an element."""
    transfer = page.evaluate_handle(
        """([name, content]) => {
            const transfer = new DataTransfer();
            transfer.items.add(new File([content], name));
            return transfer;
        }""",
        [name, content],
    )
    page.dispatch_event(selector, "drop", {"dataTransfer": transfer})


def check_accessible(page: Page) -> None:
    """Check that axe finds no serious violation of accessibility."""
    violations = Axe().run(page).response["violations"]
    serious = [
        f"{violation['id']}: {violation['help']}: {[node['html'] for node in violation['nodes']][:3]}"
        for violation in violations
        if violation["impact"] in ("serious", "critical")
    ]
    assert serious == []


def check_fits(page: Page) -> None:
    """Check that nothing is wider than the window."""
    assert page.evaluate("document.documentElement.scrollWidth <= document.documentElement.clientWidth")
