"""The page at /docs: Swagger's, from files of our own, and allowed by our content security policy."""

import base64
import hashlib
import re

from fastapi import FastAPI, Request
from fastapi.openapi.docs import get_swagger_ui_html
from fastapi.responses import HTMLResponse

from app.auth.access import DOCS_FILES
from app.http.security_headers import PAGE, policy

_INLINE = re.compile(rb"<script>(.*?)</script>", re.DOTALL)


def install(app: FastAPI) -> None:
    """Add the page."""

    @app.get("/docs", include_in_schema=False)
    async def _(request: Request) -> HTMLResponse:
        root = request.scope.get("root_path", "")
        files = f"{root}{DOCS_FILES}"
        page = get_swagger_ui_html(
            openapi_url=f"{root}{app.openapi_url}",
            title=app.title,
            swagger_js_url=f"{files}/swagger-ui-bundle.js",
            swagger_css_url=f"{files}/swagger-ui.css",
            swagger_favicon_url=f"{files}/favicon.png",
        )
        scripts = " ".join(f"'sha256-{_hash(script)}'" for script in _INLINE.findall(bytes(page.body)))
        # Swagger's page carries one script, named by its hash, and sets styles of elements as it goes.
        swagger = {"script-src": f"'self' {scripts}", "style-src": "'self' 'unsafe-inline'"}
        page.headers["Content-Security-Policy"] = policy({**PAGE, **swagger})
        return page


def _hash(script: bytes) -> str:
    return base64.b64encode(hashlib.sha256(script).digest()).decode()
