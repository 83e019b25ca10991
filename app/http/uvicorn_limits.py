"""HTTP as uvicorn speaks it, with an end to headers, before a body and after it: they fill no memory."""

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from app.problems import MEDIA_TYPE, respond
from ism_jobs.errors import HeadersTooLarge

PIECE = 2**18  # bytes that come at once: with the end of the headers the body may have begun


def too_long(limit: int) -> HeadersTooLarge:
    """The problem."""
    return HeadersTooLarge(
        f"The address and the headers of the request are longer than the {limit:,} bytes that this service takes; "
        "send fewer or shorter ones."
    )


def protocol(limit: int) -> type[HttpToolsProtocol]:
    """The class for uvicorn. Headers that do end, but are too long, are refused by app.middleware."""

    class Bounded(HttpToolsProtocol):
        _received = 0  # bytes since the last that were a body, or ended something

        def data_received(self, data: bytes) -> None:
            super().data_received(data)
            self._received += len(data)
            if self._received > limit + PIECE and not self.transport.is_closing():
                self._refuse()

        def _refuse(self) -> None:
            if self.cycle is None or self.cycle.response_complete or not self.cycle.response_started:
                body = bytes(respond(too_long(limit)).body)
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

    return Bounded
