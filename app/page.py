"""Serve the web page at /: its own static files, and plotly.js from the plotly package."""

from importlib.util import find_spec
from pathlib import Path

from fastapi import FastAPI, Request, Response
from starlette.staticfiles import StaticFiles

from app.auth.access import PAGE, PAGE_FILES
from app.http import security_headers as headers

WEB = Path(__file__).parent / "web"
# plotly.js inserts style elements whose text changes with its version, so inline styles are allowed. Scripts are not:
# they come from the service's own files only.
POLICY = headers.policy({**headers.PAGE, "style-src": "'self' 'unsafe-inline'"})


def install(app: FastAPI) -> None:
    """Add the routes of the page. They need no API key, because the files hold no user's data."""
    page_files, plotly_files = StaticFiles(directory=WEB), StaticFiles(directory=_plotly_folder())

    async def page(request: Request) -> Response:
        answer = await page_files.get_response("index.html", request.scope)
        answer.headers["Content-Security-Policy"] = POLICY
        return answer

    async def plotly_js(request: Request) -> Response:
        return await plotly_files.get_response("plotly.min.js", request.scope)

    app.add_route(PAGE, page, include_in_schema=False)
    app.add_route(f"{PAGE_FILES}/plotly.min.js", plotly_js, include_in_schema=False)
    app.mount(PAGE_FILES, page_files)


def _plotly_folder() -> Path:
    """Return the folder of plotly.min.js without importing plotly, which is slow."""
    spec = find_spec("plotly")
    if spec is None or spec.origin is None:
        raise RuntimeError("The package plotly is not installed. Run pip install plotly.")
    return Path(spec.origin).parent / "package_data"
