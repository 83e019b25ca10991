"""Access control: a valid API key if the service has keys, otherwise calls from this machine only."""

import ipaddress
import re
from collections.abc import Collection

import structlog
from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from app.auth.api_keys import ApiKeys
from app.links import DOCS, DOCS_FILES, LIVENESS, OPENAPI, PAGE, PAGE_FILES, READINESS
from app.problems import problem_response
from ism_jobs.errors import Forbidden, Problem, Unauthorized

METRICS_KEY = "metrics"  # name of the only API key that may read /metrics, which counts the jobs of all owners
_PUBLIC_PATHS = frozenset({LIVENESS, READINESS, DOCS, OPENAPI, PAGE})
_PUBLIC_FOLDERS = (f"{DOCS_FILES}/", f"{PAGE_FILES}/")
_HOST = re.compile(r"(\[[0-9a-f:.]+\]|[^:\[\]]+)(:\d+)?", re.IGNORECASE)  # a name or address, and a port


def is_public(path: str) -> bool:
    """Return whether a path needs no API key: health checks, API documentation and the files of the web page."""
    return path in _PUBLIC_PATHS or path.startswith(_PUBLIC_FOLDERS)


class AccessMiddleware:
    """ASGI middleware that sets scope["owner"] or refuses the request, before any of the body is read."""

    def __init__(self, app: ASGIApp, keys: ApiKeys, origins: Collection[str]) -> None:
        self._app = app
        self._keys = keys
        self._origins = origins

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            try:
                scope["owner"] = self._owner(scope["path"], scope["method"], Headers(scope=scope))
            except Problem as problem:
                await problem_response(problem)(scope, receive, send)
                return
            if scope["owner"]:
                structlog.contextvars.bind_contextvars(owner=scope["owner"])
        await self._app(scope, receive, send)

    def _owner(self, path: str, method: str, headers: Headers) -> str:
        self._keys.reload_if_changed()
        if not self._keys.enabled:
            check_origin(method, headers, self._origins)
            return ""
        if is_public(path):
            return ""
        key = bearer_key(headers)
        if key is None:
            raise Unauthorized(
                'This service needs an API key; send it as the header "Authorization: Bearer KEY".'
                " The operator of the service makes keys with `ism keys make NAME`."
            )
        owner = self._keys.owner(key)
        if owner is None:
            raise Unauthorized(
                "The API key is not valid or has been revoked; ask the operator of the service for a new one."
            )
        return owner


def bearer_key(headers: Headers) -> str | None:
    """Return the API key in the Authorization header."""
    scheme, _, key = headers.get("authorization", "").strip().partition(" ")
    return key.strip() or None if scheme.lower() == "bearer" else None


def check_origin(method: str, headers: Headers, origins: Collection[str]) -> None:
    """Refuse requests that a browser sends on behalf of another site, which could otherwise use a local service.

    A host name with a dot is refused, because a site can point it at this machine (DNS rebinding).
    IP addresses and bare names are safe.
    """
    host = headers.get("host", "")
    name = _HOST.fullmatch(host)
    if name is None or not _is_local(name[1].strip("[]")):
        raise Forbidden(
            "Without API keys, this service only answers at addresses such as 127.0.0.1 and localhost, not at"
            f" {host[:100]!r}; make a key with `ism keys make NAME`."
        )
    origin = headers.get("origin")
    from_here = headers.get("sec-fetch-site") in ("same-origin", "none")  # a page cannot set this header
    if method in ("GET", "HEAD", "OPTIONS") or origin is None or origin in origins or from_here:
        return
    if origin.partition("://")[2].lower() != host.lower():
        raise Forbidden(
            f"Pages of {origin[:100]!r} may not call this service; add the site to ISM_CORS_ORIGINS to allow it."
        )


def _is_local(name: str) -> bool:
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return "." not in name or name.endswith(".localhost")
    return True
