"""Who may call: with API keys nobody without one, and without keys only this machine, not pages of other sites."""

import ipaddress
import re
from collections.abc import Collection

import structlog
from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from app.auth.api_keys import Keys
from app.problems import respond
from ism_jobs.errors import Forbidden, Problem, Unauthorized

HEALTH = frozenset({"/healthz", "/readyz"})
DOCS = frozenset({"/docs", "/openapi.json"})
DOCS_FILES = "/docs-files"
PAGE = "/"
PAGE_FILES = "/page"
METRICS_KEY = "metrics"  # the name of the key that /metrics, which counts everybody's jobs, is for
_HOST = re.compile(r"(\[[0-9a-f:.]+\]|[^:\[\]]+)(:\d+)?", re.IGNORECASE)


def is_open(path: str) -> bool:
    """Whether a path needs no key: health, what the API is like, and the empty page, tell nothing of anybody."""
    return path in HEALTH or path in DOCS or path == PAGE or path.startswith((f"{DOCS_FILES}/", f"{PAGE_FILES}/"))


class Access:
    """ASGI middleware: finds the owner (scope["owner"]) before anything of the body is read, or refuses."""

    def __init__(self, app: ASGIApp, keys: Keys, origins: Collection[str]) -> None:
        self._app = app
        self._keys = keys
        self._origins = origins

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            try:
                scope["owner"] = self._owner(scope["path"], scope["method"], Headers(scope=scope))
            except Problem as problem:
                await respond(problem)(scope, receive, send)
                return
            if scope["owner"]:
                structlog.contextvars.bind_contextvars(owner=scope["owner"])
        await self._app(scope, receive, send)

    def _owner(self, path: str, method: str, headers: Headers) -> str:
        self._keys.look()
        if not self._keys.on:
            check_origin(method, headers, self._origins)
            return ""
        if is_open(path):
            return ""
        key = bearer(headers)
        if key is None:
            raise Unauthorized(
                'This service needs an API key; send it as the header "Authorization: Bearer KEY".'
                " Who runs the service makes keys with `ism keys make NAME`."
            )
        owner = self._keys.owner(key)
        if owner is None:
            raise Unauthorized("The API key is not valid, or no longer; ask who runs the service for a new one.")
        return owner


def bearer(headers: Headers) -> str | None:
    """The key that a request carries."""
    scheme, _, key = headers.get("authorization", "").strip().partition(" ")
    return key.strip() or None if scheme.lower() == "bearer" else None


def check_origin(method: str, headers: Headers, origins: Collection[str]) -> None:
    """Refuse what a browser sends here for a page from elsewhere: any site could then use a service on loopback.

    A name with a dot is one that a site can point at this machine (DNS rebinding); addresses and bare names are not.
    """
    host = headers.get("host", "")
    name = _HOST.fullmatch(host)
    if name is None or not _is_local(name[1].strip("[]")):
        raise Forbidden(
            "Without API keys this service answers at addresses such as 127.0.0.1 and localhost only, not"
            f" {host[:100]!r}; `ism keys make NAME` makes a key."
        )
    origin = headers.get("origin")
    from_here = headers.get("sec-fetch-site") in ("same-origin", "none")  # which no page can say of itself
    if method in ("GET", "HEAD", "OPTIONS") or origin is None or origin in origins or from_here:
        return
    if origin.partition("://")[2].lower() != host.lower():
        raise Forbidden(
            f"Pages of {origin[:100]!r} may not call this service; ISM_CORS_ORIGINS names the sites whose pages may."
        )


def _is_local(name: str) -> bool:
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return "." not in name or name.endswith(".localhost")
    return True
