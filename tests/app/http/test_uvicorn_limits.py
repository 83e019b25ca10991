"""Requests whose headers never end, before the body or after it: refused before they fill the memory."""

import socket
import threading
from collections.abc import Iterator

import pytest
import uvicorn
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.types import Receive, Scope, Send

from app.http.uvicorn_limits import MAX_READ_BYTES, limited_protocol

LIMIT = 4_000
CHUNKED = "POST {} HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n"
ENDLESS = {"one": b"X: ".ljust(2**16, b"x"), "many": b"X: y\r\n" * 10_000}


async def answering(scope: Scope, receive: Receive, send: Send) -> None:
    """Answers /at-once before it has read the body, and others after."""
    body = b"" if scope["path"] == "/at-once" else await Request(scope, receive).body()
    await PlainTextResponse(body)(scope, receive, send)


@pytest.fixture(scope="module")
def address() -> Iterator[tuple[str, int]]:
    config = uvicorn.Config(answering, port=0, http=limited_protocol(LIMIT), lifespan="off", log_config=None)
    server = uvicorn.Server(config)
    listening = config.bind_socket()
    listening.listen()
    thread = threading.Thread(target=server.run, args=([listening],))
    thread.start()
    yield listening.getsockname()
    server.should_exit = True
    thread.join()
    listening.close()


def exchanged(address: tuple[str, int], *pieces: bytes) -> bytes:
    """What comes back for the pieces, until the other side closes."""
    with socket.create_connection(address, timeout=60) as connection:
        for piece in pieces:
            connection.sendall(piece)
        return b"".join(iter(lambda: connection.recv(2**16), b""))


@pytest.mark.parametrize("kind", ENDLESS)
@pytest.mark.parametrize("path", ["/at-once", "/read"])
def test_headers_after_the_body_that_never_end_are_refused(address: tuple[str, int], path: str, kind: str) -> None:
    head = CHUNKED.format(path).encode() + b"3\r\na,b\r\n0\r\n"
    with pytest.raises((BrokenPipeError, ConnectionResetError)):
        exchanged(address, head, *1_000 * [ENDLESS[kind]])  # 64 MB


def test_a_body_of_many_pieces_and_some_headers_after_it_are_taken(address: tuple[str, int]) -> None:
    last = b"0\r\nX: " + b"y" * LIMIT + b"\r\nConnection: close\r\n\r\n"
    pieces = [b"10000\r\n" + b"z" * 2**16 + b"\r\n" for _ in range(20)]
    head = CHUNKED.format("/read").replace("\r\n\r\n", "\r\nConnection: close\r\n\r\n")
    answer = exchanged(address, head.encode(), *pieces, last)
    assert answer.startswith(b"HTTP/1.1 200 ")
    assert answer.count(b"z") == 20 * 2**16 > MAX_READ_BYTES
