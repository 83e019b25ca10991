"""A uvicorn protocol that limits the size of headers, so that endless headers cannot fill the memory."""

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from app.problems import MEDIA_TYPE, problem_response
from ism_jobs.errors import HeadersTooLarge

# Bytes that uvicorn may read at once. The last read of the headers may also contain the beginning of the body.
MAX_READ_BYTES = 2**18


def headers_too_large(limit: int) -> HeadersTooLarge:
    """Return the problem of a request whose URL and headers exceed the limit."""
    return HeadersTooLarge(
        f"The URL and headers of the request are longer than the limit of {limit:,} bytes; send fewer or shorter ones."
    )


def limited_protocol(limit: int) -> type[HttpToolsProtocol]:
    """Return the protocol class for uvicorn. It closes a connection whose headers do not end within the limit.

    Headers that do end but are too long are refused by app.middleware.
    """

    class LimitedProtocol(HttpToolsProtocol):
        _received = 0  # bytes since the last header block, body part or message ended

        def data_received(self, data: bytes) -> None:
            super().data_received(data)
            self._received += len(data)
            if self._received > limit + MAX_READ_BYTES and not self.transport.is_closing():
                self._refuse()

        def _refuse(self) -> None:
            if self.cycle is None or self.cycle.response_complete or not self.cycle.response_started:
                body = bytes(problem_response(headers_too_large(limit)).body)
                head = f"HTTP/1.1 431 \r\ncontent-type: {MEDIA_TYPE}\r\ncontent-length: {len(body)}\r\n"
                self.transport.write(head.encode() + b"connection: close\r\n\r\n" + body)
            self.transport.close()

        def on_headers_complete(self) -> None:
            self._received = 0
            super().on_headers_complete()

        def on_body(self, body: bytes) -> None:
            self._received = 0
            super().on_body(body)

        def on_message_complete(self) -> None:
            self._received = 0
            super().on_message_complete()

    return LimitedProtocol
