"""Around every request: an id, a line in the log, a count, limits to its headers and body, and headers for browsers."""

import re
import time
from urllib.parse import quote
from uuid import uuid4

import structlog
from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import ClientDisconnect
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from app.http.security_headers import secure
from app.http.uvicorn_limits import too_long
from app.monitoring import LATENCY, REQUESTS
from app.problems import respond, unexpected
from ism_jobs.errors import TooLarge
from ism_jobs.logs import log
from ism_jobs.settings import Settings

SPEC_BYTES = 16 * 2**20  # a body that is not a file
QUIET = {"/healthz", "/readyz", "/metrics"}  # asked all the time: in the log only when it is at "debug"
CALLER_GONE = 499  # as nginx counts who leaves before the answer: no error of ours, and nobody to answer
_ID = re.compile(r"[\w-]{1,64}")


class Requests:
    """ASGI middleware."""

    def __init__(self, app: ASGIApp, settings: Settings) -> None:
        self._app = app
        self._settings = settings

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        method = scope["method"]
        if method == "HEAD" and not scope["path"].endswith("/events"):  # which would go on for ever
            scope = _as_get(scope)
        headers = Headers(scope=scope)
        given = headers.get("x-request-id", "")
        id = given if _ID.fullmatch(given) else uuid4().hex
        structlog.contextvars.clear_contextvars()
        structlog.contextvars.bind_contextvars(request=id)
        began = time.perf_counter()
        status = 0

        async def send_with_id(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                LATENCY.labels(method, _route(scope)).observe(time.perf_counter() - began)
                answered = MutableHeaders(scope=message)
                answered["X-Request-ID"] = id
                secure(answered)
            await send(message)

        limit = self._limit(scope)
        try:
            if _length(scope) > self._settings.max_header_bytes:
                await respond(too_long(self._settings.max_header_bytes))(scope, receive, send_with_id)
            elif int(headers.get("content-length") or 0) > limit:
                await respond(_too_large(limit))(scope, receive, send_with_id)
            else:
                await self._app(scope, _limited(receive, limit), send_with_id)
        except ClientDisconnect:
            status = CALLER_GONE
        except Exception as error:  # here and not in a handler, whose answer would go without the id
            log.error("request failed", exc_info=error)
            if status:  # half an answer is out: a cut connection is the only sign left
                raise
            await respond(unexpected())(scope, receive, send_with_id)
        finally:
            _note(method, scope, status or 500, time.perf_counter() - began)

    def _limit(self, scope: Scope) -> int:
        is_file = scope["path"] == "/datasets" or scope["path"].endswith("/transform")
        return self._settings.max_upload_bytes if is_file else min(SPEC_BYTES, self._settings.max_upload_bytes)


def _length(scope: Scope) -> int:
    """Bytes of the request's address and headers."""
    address = len(scope.get("raw_path", b"")) + len(scope["query_string"])
    return address + sum(len(name) + len(value) for name, value in scope["headers"])


def _as_get(scope: Scope) -> Scope:
    """HEAD is GET of the whole, whose body the server does not send."""
    return {**scope, "method": "GET", "headers": [pair for pair in scope["headers"] if pair[0] != b"range"]}


def _note(method: str, scope: Scope, status: int, seconds: float) -> None:
    REQUESTS.labels(method, _route(scope), status).inc()
    level = log.debug if scope["path"] in QUIET else log.info
    # quoted: on a terminal its characters could be commands
    level("request", method=method, path=quote(scope["path"]), status=status, ms=round(1000 * seconds, 1))


def _route(scope: Scope) -> str:
    return getattr(scope.get("route"), "path_format", "none")


def _limited(receive: Receive, limit: int) -> Receive:
    """Bodies may come without a length, or with a false one."""
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
    return TooLarge(f"The body is larger than the {limit:,} bytes that this service takes.")
