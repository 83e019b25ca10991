"""A real receiver of webhooks on a free port, which can fail, hang and redirect."""

import base64
import hashlib
import hmac
import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


class Receiver:
    """What was received, in order. `answer` returns the status of the next request and headers to send with it."""

    def __init__(self) -> None:
        self.requests: list[tuple[str, dict[str, str], bytes]] = []
        self.answer: Callable[[str], tuple[int, dict[str, str]]] = lambda path: (204, {})
        self.released = threading.Event()  # a request to /hang is answered when it is set
        self.url = ""

    def messages(self) -> list[dict[str, Any]]:
        return [json.loads(body) for _, _, body in self.requests]

    def are_signed(self, secret: str) -> bool:
        return all(is_signed(secret, headers, body) for _, headers, body in self.requests)


def is_signed(secret: str, headers: dict[str, str], body: bytes) -> bool:
    """Verify a message as the specification of Standard Webhooks says."""
    signed = f"{headers['webhook-id']}.{headers['webhook-timestamp']}.".encode() + body
    digest = hmac.new(base64.b64decode(secret.removeprefix("whsec_")), signed, hashlib.sha256).digest()
    return headers["webhook-signature"] == "v1," + base64.b64encode(digest).decode()


@contextmanager
def running_receiver() -> Iterator[Receiver]:
    receiver = Receiver()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            receiver.requests.append((self.path, {name.lower(): value for name, value in self.headers.items()}, body))
            if self.path == "/hang":
                receiver.released.wait()
                return
            status, headers = receiver.answer(self.path)
            self.send_response(status)
            for name, value in {"Content-Length": "0", **headers}.items():
                self.send_header(name, value)
            self.end_headers()

        def log_message(self, *arguments: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    receiver.url = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, args=(0.05,))
    thread.start()
    try:
        yield receiver
    finally:
        receiver.released.set()
        server.shutdown()
        thread.join()
        server.server_close()
