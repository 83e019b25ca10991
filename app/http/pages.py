"""The pages at / and /docs, served from local files under a strict content security policy."""

import base64
import hashlib
import os
import re
from functools import lru_cache
from pathlib import Path

from fastapi import FastAPI, Request, Response
from fastapi.openapi.docs import get_swagger_ui_html
from fastapi.responses import FileResponse, HTMLResponse
from starlette.datastructures import Headers
from starlette.staticfiles import NotModifiedResponse, StaticFiles
from starlette.types import Scope

from app.http.etags import etag_of
from app.http.security_headers import PAGE_POLICY, content_security_policy
from app.links import DOCS, DOCS_FILES, PAGE, PAGE_FILES, prefix

WEB = Path(__file__).parents[1] / "web"
# plotly.js adds inline styles whose text changes with its version, so they cannot be allowed by their hash.
# Scripts still come from this service only.
PLOTLY_POLICY = content_security_policy({**PAGE_POLICY, "style-src": "'self' 'unsafe-inline'"})
_INLINE_SCRIPT = re.compile(rb"<script>(.*?)</script>", re.DOTALL)


def install_page(app: FastAPI) -> None:
    """Add the page and its files. They contain no data and need no key; the API calls of the page do."""
    files = _Files(directory=WEB)

    async def page(request: Request) -> Response:
        answer = await files.get_response("index.html", request.scope)
        answer.headers["Content-Security-Policy"] = PLOTLY_POLICY
        return answer

    app.add_route(PAGE, page, include_in_schema=False)
    app.mount(PAGE_FILES, files)


class _Files(StaticFiles):
    """Static files with tags of their bytes; those of starlette are made of size and time."""

    def file_response(
        self, full_path: str | os.PathLike[str], stat_result: os.stat_result, scope: Scope, status_code: int = 200
    ) -> Response:
        """Return the file, or a 304 if the caller has it."""
        etag = _tag(str(full_path), stat_result.st_mtime_ns, stat_result.st_size)
        response = FileResponse(full_path, status_code, {"ETag": etag}, stat_result=stat_result)
        is_known = self.is_not_modified(response.headers, Headers(scope=scope))
        return NotModifiedResponse(response.headers) if is_known else response


@lru_cache
def _tag(path: str, changed: int, size: int) -> str:
    return etag_of(Path(path).read_bytes())


def install_swagger(app: FastAPI) -> None:
    """Add the page at /docs: Swagger UI."""

    @app.get(DOCS, include_in_schema=False)
    async def _() -> HTMLResponse:
        root = prefix()
        files = f"{root}{DOCS_FILES}"
        page = get_swagger_ui_html(
            openapi_url=f"{root}{app.openapi_url}",
            title=app.title,
            swagger_js_url=f"{files}/swagger-ui-bundle.js",
            swagger_css_url=f"{files}/swagger-ui.css",
            swagger_favicon_url=f"{files}/favicon.png",
        )
        scripts = " ".join(f"'sha256-{_sha256(script)}'" for script in _INLINE_SCRIPT.findall(bytes(page.body)))
        # Swagger UI has one inline script, which its hash allows, and sets inline styles while it runs.
        swagger = {"script-src": f"'self' {scripts}", "style-src": "'self' 'unsafe-inline'"}
        page.headers["Content-Security-Policy"] = content_security_policy({**PAGE_POLICY, **swagger})
        return page


def _sha256(script: bytes) -> str:
    return base64.b64encode(hashlib.sha256(script).digest()).decode()
