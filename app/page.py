"""The page at /: static files of the package, and plotly.js from the plotly wheel, which plots alone ask for."""

from importlib.util import find_spec
from pathlib import Path

from fastapi import FastAPI, Request, Response
from starlette.staticfiles import StaticFiles

from app.auth.access import PAGE, PAGE_FILES
from app.http import security_headers as headers

WEB = Path(__file__).parent / "web"
# plotly.js makes style elements and a style attribute as it draws, of texts that change with its version; scripts stay
# those of the service, and none may be made of text.
POLICY = headers.policy({**headers.PAGE, "style-src": "'self' 'unsafe-inline'"})


def install(app: FastAPI) -> None:
    """Add the page and its files. They are the same for everybody, so they need no key; what they show does."""
    own, plotly = StaticFiles(directory=WEB), StaticFiles(directory=_plotly())

    async def page(request: Request) -> Response:
        answer = await own.get_response("index.html", request.scope)
        answer.headers["Content-Security-Policy"] = POLICY
        return answer

    async def plotly_js(request: Request) -> Response:
        return await plotly.get_response("plotly.min.js", request.scope)

    app.add_route(PAGE, page, include_in_schema=False)
    app.add_route(f"{PAGE_FILES}/plotly.min.js", plotly_js, include_in_schema=False)
    app.mount(PAGE_FILES, own)


def _plotly() -> Path:
    """The folder of plotly's bundle, found without importing plotly."""
    found = find_spec("plotly")
    if found is None or found.origin is None:
        raise RuntimeError("The package plotly is not installed; pip install plotly.")
    return Path(found.origin).parent / "package_data"
