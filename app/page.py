"""The web page at /: static files of this package, and plotly.js from the plotly wheel."""

from importlib.util import find_spec
from pathlib import Path

from fastapi import FastAPI, Request, Response
from starlette.staticfiles import StaticFiles

from app.http import PAGE_POLICY, content_security_policy
from app.links import PAGE, PAGE_FILES

WEB = Path(__file__).parent / "web"
# plotly.js adds inline styles whose text changes with its version, so they cannot be allowed by their hash.
# Scripts still come from this service only.
PLOTLY_POLICY = content_security_policy({**PAGE_POLICY, "style-src": "'self' 'unsafe-inline'"})


def install_page(app: FastAPI) -> None:
    """Add the page and its files. They contain no data and need no key; the API calls of the page do."""
    page_files, plotly_files = StaticFiles(directory=WEB), StaticFiles(directory=_plotly_folder())

    async def page(request: Request) -> Response:
        answer = await page_files.get_response("index.html", request.scope)
        answer.headers["Content-Security-Policy"] = PLOTLY_POLICY
        return answer

    async def plotly_js(request: Request) -> Response:
        return await plotly_files.get_response("plotly.min.js", request.scope)

    app.add_route(PAGE, page, include_in_schema=False)
    app.add_route(f"{PAGE_FILES}/plotly.min.js", plotly_js, include_in_schema=False)
    app.mount(PAGE_FILES, page_files)


def _plotly_folder() -> Path:
    """Return the folder of plotly.js. Importing plotly would take a second."""
    found = find_spec("plotly")
    if found is None or found.origin is None:
        raise RuntimeError("The package plotly is not installed; run `pip install plotly`.")
    return Path(found.origin).parent / "package_data"
