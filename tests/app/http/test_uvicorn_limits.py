"""Requests that never end, in size or in time, and too many connections: refused before they harm others."""

import socket
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress

import pytest
import uvicorn
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.types import Receive, Scope, Send

from app.http.uvicorn_limits import MAX_READ_BYTES, MIN_BODY_BYTES, ConnectionLimits, limited_protocol

LIMIT = 4_000
CHUNKED = "POST {} HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n"
ENDLESS = {"one": b"X: ".ljust(2**16, b"x"), "many": b"X: y\r\n" * 10_000}


async def answering(scope: Scope, receive: Receive, send: Send) -> None:
    """Answers /at-once before it has read the body, and others after."""
    body = b"" if scope["path"] == "/at-once" else await Request(scope, receive).body()
    await PlainTextResponse(body)(scope, receive, send)


@contextmanager
def serving(limits: ConnectionLimits) -> Iterator[tuple[str, int]]:
    """Serve `answering` with these limits; yields the address."""
    config = uvicorn.Config(answering, port=0, http=limited_protocol(limits), lifespan="off", log_config=None)
    server = uvicorn.Server(config)
    listening = config.bind_socket()
    listening.listen()
    thread = threading.Thread(target=server.run, args=([listening],))
    thread.start()
    yield listening.getsockname()
    server.should_exit = True
    thread.join()
    listening.close()


@pytest.fixture(scope="module")
def address() -> Iterator[tuple[str, int]]:
    with serving(ConnectionLimits(LIMIT, seconds=60, connections=100, address_connections=100)) as address:
        yield address


@pytest.fixture(scope="module")
def impatient() -> Iterator[tuple[str, int]]:
    """Yield the address of a server that waits for a second only, and takes 3 connections of an address, 4 in all."""
    with serving(ConnectionLimits(LIMIT, seconds=1, connections=4, address_connections=3)) as address:
        yield address


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


GET = b"GET /at-once HTTP/1.1\r\nHost: localhost\r\n"


@pytest.mark.parametrize("sent", [b"", GET])
@pytest.mark.parametrize("requests_before", [0, 1])
def test_half_a_request_is_ended_after_a_while(impatient: tuple[str, int], sent: bytes, requests_before: int) -> None:
    with socket.create_connection(impatient, timeout=60) as connection:
        for _ in range(requests_before):
            connection.sendall(GET + b"\r\n")
            assert connection.recv(2**16).startswith(b"HTTP/1.1 200 ")
        connection.sendall(sent)
        answer = connection.recv(2**16)
    assert answer.startswith(b"HTTP/1.1 408 ") or (not sent and requests_before)  # uvicorn ends idle connections


def test_a_body_that_trickles_is_ended_and_one_that_flows_is_not(impatient: tuple[str, int]) -> None:
    head = CHUNKED.format("/read").replace("\r\n\r\n", "\r\nConnection: close\r\n\r\n").encode()
    trickle, flow = b"1\r\na\r\n", f"{MIN_BODY_BYTES:x}\r\n".encode() + b"z" * MIN_BODY_BYTES + b"\r\n"

    def slowly(piece: bytes) -> bytes:
        with socket.create_connection(impatient, timeout=60) as connection:
            connection.sendall(head)
            with suppress(BrokenPipeError, ConnectionResetError):  # the other side has closed, after its answer
                for _ in range(6):
                    connection.sendall(piece)
                    time.sleep(0.4)
                connection.sendall(b"0\r\n\r\n")
            return connection.recv(2**16)

    assert slowly(trickle).startswith(b"HTTP/1.1 408 ")
    assert slowly(flow).startswith(b"HTTP/1.1 200 ")


def test_connections_are_limited_for_each_address_and_in_all(impatient: tuple[str, int]) -> None:
    def connected(stack: ExitStack, source: str) -> socket.socket:
        made = socket.create_connection(impatient, timeout=60, source_address=(source, 0))
        stack.enter_context(made)
        return made

    with ExitStack() as stack:
        for _ in range(3):
            connected(stack, "127.0.0.1")
        assert connected(stack, "127.0.0.1").recv(100).startswith(b"HTTP/1.1 429 ")
        other = connected(stack, "127.0.0.2")
        assert connected(stack, "127.0.0.3").recv(100).startswith(b"HTTP/1.1 503 ")
        other.sendall(GET + b"\r\n")
        assert other.recv(100).startswith(b"HTTP/1.1 200 ")
