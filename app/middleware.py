"""The outermost middleware: request ids, logging, metrics, size limits and security headers."""

import re
import time
from urllib.parse import quote
from uuid import uuid4

import structlog
from starlette.datastructures import Headers
from starlette.requests import ClientDisconnect
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from app.http import headers_too_large, with_security_headers
from app.links import LIVENESS, METRICS, READINESS, streams_events, takes_file, use_prefix
from app.monitoring import LATENCY, REQUESTS
from app.problems import internal_error, problem_response
from ism_jobs import telemetry
from ism_jobs.errors import TooLarge
from ism_jobs.logs import log
from ism_jobs.settings import Settings
from ism_jobs.telemetry import SpanContext

MAX_JSON_BYTES = 16 * 2**20  # size limit of a body that is not a file
PROBES = {LIVENESS, READINESS, METRICS}  # monitoring calls these often, so they are logged at level "debug" only
CLIENT_CLOSED_REQUEST = 499  # nginx's status for a client that disconnected before the response
_REQUEST_ID = re.compile(r"[\w-]{1,64}")


class RequestMiddleware:
    """ASGI middleware around every request."""

    def __init__(self, app: ASGIApp, settings: Settings) -> None:
        self._app = app
        self._settings = settings

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        method = scope["method"]
        if method == "HEAD" and not streams_events(scope["path"]):  # a GET of a stream would not end
            scope = _as_get(scope)
        headers = Headers(scope=scope)
        given = headers.get("x-request-id", "")
        id = given if _REQUEST_ID.fullmatch(given) else uuid4().hex
        use_prefix(headers.get("x-forwarded-prefix", ""))
        structlog.contextvars.clear_contextvars()
        structlog.contextvars.bind_contextvars(request=id)
        began, began_at = time.perf_counter(), time.time()
        status = 0
        parent = SpanContext.parsed(headers.get("traceparent"))
        is_traced = telemetry.is_enabled() and scope["path"] not in PROBES
        span = SpanContext.child_of(parent) if is_traced else None
        telemetry.current.set(span)

        async def send_with_id(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                LATENCY.labels(method, _route(scope)).observe(time.perf_counter() - began)
                message["headers"] = with_security_headers([*message["headers"], (b"x-request-id", id.encode())])
            await send(message)

        limit = self._body_limit(scope["path"])
        try:
            if _header_bytes(scope) > self._settings.max_header_bytes:
                await problem_response(headers_too_large(self._settings.max_header_bytes))(scope, receive, send_with_id)
            elif int(headers.get("content-length") or 0) > limit:
                await problem_response(_too_large(limit))(scope, receive, send_with_id)
            else:
                await self._app(scope, _limited(receive, limit), send_with_id)
        except ClientDisconnect:
            status = CLIENT_CLOSED_REQUEST
        except Exception as error:  # not in an exception handler, whose response would lack the request id
            log.error("request failed", exc_info=error)
            if status:  # the response has begun, so only a closed connection can signal the error
                raise
            await problem_response(internal_error())(scope, receive, send_with_id)
        finally:
            if span is not None:
                _record(span, parent, began_at, method, scope, status or 500, id)
            _log(method, scope, status or 500, time.perf_counter() - began)

    def _body_limit(self, path: str) -> int:
        limit = self._settings.max_upload_bytes
        return limit if takes_file(path) else min(MAX_JSON_BYTES, limit)


def _header_bytes(scope: Scope) -> int:
    """Return the size of the URL and the headers of a request."""
    url = len(scope.get("raw_path", b"")) + len(scope["query_string"])
    return url + sum(len(name) + len(value) for name, value in scope["headers"])


def _as_get(scope: Scope) -> Scope:
    """Turn HEAD into a GET of the whole resource; the server drops the body."""
    return {**scope, "method": "GET", "headers": [pair for pair in scope["headers"] if pair[0] != b"range"]}


def _record(
    span: SpanContext, parent: SpanContext | None, began: float, method: str, scope: Scope, status: int, id: str
) -> None:
    route = _route(scope)
    attributes = {"http.request.method": method, "http.route": route, "http.response.status_code": status}
    telemetry.record(
        f"{method} {route}",
        began,
        time.time(),
        span,
        parent=parent,
        kind=telemetry.SERVER,
        attributes={**attributes, "ism.request": id},
        error=str(status) if status >= 500 else None,
    )


def _log(method: str, scope: Scope, status: int, seconds: float) -> None:
    REQUESTS.labels(method, _route(scope), status).inc()
    level = log.debug if scope["path"] in PROBES else log.info
    # quoted, because a raw path could contain terminal escape sequences
    level("request", method=method, path=quote(scope["path"]), status=status, ms=round(1000 * seconds, 1))


def _route(scope: Scope) -> str:
    return getattr(scope.get("route"), "path_format", "none")


def _limited(receive: Receive, limit: int) -> Receive:
    """Limit a body while it is read, since its Content-Length may be missing or wrong."""
    total = 0

    async def receive_some() -> Message:
        nonlocal total
        message = await receive()
        total += len(message.get("body", b""))
        if total > limit:
            raise _too_large(limit)
        return message

    return receive_some


def _too_large(limit: int) -> TooLarge:
    return TooLarge(f"The body is larger than the limit of {limit:,} bytes.")
