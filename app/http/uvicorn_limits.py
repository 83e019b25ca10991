"""A uvicorn protocol with limits: the size of headers, the time to send a request, and the number of connections.

Clients that send endless headers, half a request or one byte a minute need no API key. They must not fill the memory
or take all file descriptors of the process.
"""

import asyncio
import resource
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import Self

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from app.problems import MEDIA_TYPE, problem_response
from ism_jobs.errors import HeadersTooLarge, Problem, RequestTimeout, TooMany, Unavailable
from ism_jobs.logs import log
from ism_jobs.settings import Settings

# Bytes that uvicorn may read at once. The last read of the headers may also contain the beginning of the body.
MAX_READ_BYTES = 2**18
MIN_BODY_BYTES = 2**12  # that a body must bring in each `seconds`; 200 bytes a second by default
OTHER_DESCRIPTORS = 256  # file descriptors that are not connections of clients: Redis, sandbox processes, files
LOG_SECONDS = 10.0  # shortest time between two log lines about refused connections


@dataclass(frozen=True)
class ConnectionLimits:
    """What one API process accepts."""

    header_bytes: int
    seconds: float  # for the headers of a request, and between two checks of a body that arrives
    connections: int  # in all
    address_connections: int  # from one address

    @classmethod
    def of(cls, settings: Settings) -> Self:
        """Return the limits of the settings. Raise the limit of open files, so that all connections fit."""
        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        wanted = settings.max_connections + OTHER_DESCRIPTORS
        if soft != resource.RLIM_INFINITY and soft < wanted:
            soft = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
            resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
        fitting = settings.max_connections if soft == resource.RLIM_INFINITY else max(1, soft - OTHER_DESCRIPTORS)
        return cls(
            settings.max_header_bytes,
            settings.receive_seconds,
            min(settings.max_connections, fitting),
            settings.max_address_connections,
        )


def headers_too_large(limit: int) -> HeadersTooLarge:
    """Return the problem of a request whose URL and headers exceed the limit."""
    return HeadersTooLarge(
        f"The URL and headers of the request are longer than the limit of {limit:,} bytes; send fewer or shorter ones."
    )


def limited_protocol(limits: ConnectionLimits) -> type[HttpToolsProtocol]:
    """Return the protocol class for uvicorn. Headers that do end but are too long are refused by app.middleware."""
    open_connections: Counter[str] = Counter()  # by address
    refused: Counter[str] = Counter()  # by reason, since the last log line
    logged_at = -LOG_SECONDS

    def log_refusal(reason: str, address: str) -> None:
        """Log at most one line in LOG_SECONDS, because an attack causes thousands of refusals."""
        nonlocal logged_at
        refused[reason] += 1
        if time.monotonic() - logged_at >= LOG_SECONDS:
            logged_at = time.monotonic()
            log.warning("connections refused", open=open_connections.total(), last_address=address, **refused)
            refused.clear()

    class LimitedProtocol(HttpToolsProtocol):
        _received = 0  # bytes since the last header block, body part or message ended
        _body_bytes = 0  # bytes of the body since the last check
        _timer: asyncio.TimerHandle | None = None  # runs while a request is being received

        def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
            super().connection_made(transport)
            self._address = self.client[0] if self.client else ""
            open_connections[self._address] += 1
            if open_connections.total() > limits.connections:
                self._refuse("too_many", Unavailable("The service has too many connections; try again in a moment."))
            elif open_connections[self._address] > limits.address_connections:
                sentence = f"Your address has more than {limits.address_connections:,} connections; close some."
                self._refuse("too_many_of_address", TooMany(sentence))
            else:
                self._await(self._headers_late)

        def connection_lost(self, exc: Exception | None) -> None:
            self._cancel_timer()
            open_connections[self._address] -= 1
            if not open_connections[self._address]:
                del open_connections[self._address]
            super().connection_lost(exc)

        def data_received(self, data: bytes) -> None:
            if self._timer is None and (self.cycle is None or self.cycle.response_complete):
                self._await(self._headers_late)  # the next request of the connection begins
            super().data_received(data)
            self._received += len(data)
            if self._received > limits.header_bytes + MAX_READ_BYTES and not self.transport.is_closing():
                self._refuse("headers_too_large", headers_too_large(limits.header_bytes))

        def on_headers_complete(self) -> None:
            self._received = self._body_bytes = 0
            self._await(self._check_body)
            super().on_headers_complete()

        def on_body(self, body: bytes) -> None:
            self._received = 0
            self._body_bytes += len(body)
            super().on_body(body)

        def on_message_complete(self) -> None:
            self._received = 0
            self._cancel_timer()
            super().on_message_complete()

        def _await(self, check: Callable[[], None]) -> None:
            self._cancel_timer()
            self._timer = self.loop.call_later(limits.seconds, check)

        def _cancel_timer(self) -> None:
            if self._timer is not None:
                self._timer.cancel()
                self._timer = None

        def _headers_late(self) -> None:
            sentence = f"The headers of the request did not arrive within {limits.seconds:g} seconds."
            self._refuse("slow_headers", RequestTimeout(sentence))

        def _check_body(self) -> None:
            """Refuse a body that trickles. It may stand still while the service itself has stopped reading."""
            if self._body_bytes < MIN_BODY_BYTES and not self.flow.read_paused:
                sentence = (
                    f"The body is too slow: fewer than {MIN_BODY_BYTES:,} bytes arrived in {limits.seconds:g} seconds."
                )
                self._refuse("slow_body", RequestTimeout(sentence))
                return
            self._body_bytes = 0
            self._await(self._check_body)

        def _refuse(self, reason: str, problem: Problem) -> None:
            """Answer with a problem unless a response has begun, and close the connection."""
            self._cancel_timer()
            log_refusal(reason, self._address)
            if self.cycle is None or self.cycle.response_complete or not self.cycle.response_started:
                body = bytes(problem_response(problem).body)
                head = f"HTTP/1.1 {problem.status} \r\ncontent-type: {MEDIA_TYPE}\r\ncontent-length: {len(body)}\r\n"
                self.transport.write(head.encode() + b"connection: close\r\n\r\n" + body)
            self.transport.close()

    return LimitedProtocol
