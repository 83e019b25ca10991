"""The page at /docs: Swagger UI, served from local files under a strict content security policy."""

import base64
import hashlib
import re

from fastapi import FastAPI, Request
from fastapi.openapi.docs import get_swagger_ui_html
from fastapi.responses import HTMLResponse

from app.http.security_headers import PAGE_POLICY, content_security_policy
from app.links import DOCS, DOCS_FILES

_INLINE_SCRIPT = re.compile(rb"<script>(.*?)</script>", re.DOTALL)


def install_swagger(app: FastAPI) -> None:
    """Add the route of the page."""

    @app.get(DOCS, include_in_schema=False)
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
        scripts = " ".join(f"'sha256-{_sha256(script)}'" for script in _INLINE_SCRIPT.findall(bytes(page.body)))
        # Swagger UI has one inline script, which its hash allows, and sets inline styles while it runs.
        swagger = {"script-src": f"'self' {scripts}", "style-src": "'self' 'unsafe-inline'"}
        page.headers["Content-Security-Policy"] = content_security_policy({**PAGE_POLICY, **swagger})
        return page


def _sha256(script: bytes) -> str:
    return base64.b64encode(hashlib.sha256(script).digest()).decode()
