"""The commands against a service on a real socket."""

import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import httpx
import pytest
from click.testing import CliRunner, Result

from ism_cli.main import main
from tests.support.scripted_service import Service


class Socket:
    """A service, its URL, and `run` to call `ism` with that URL."""

    def __init__(self, service: Service, url: str) -> None:
        self.service = service
        self.url = url

    def run(self, *arguments: str, input: bytes | None = None, env: dict[str, str] | None = None) -> Result:
        return CliRunner().invoke(main, arguments, input=input, env={"ISM_URL": self.url} | (env or {}))


@pytest.fixture
def ism() -> Iterator[Socket]:
    service = Service()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def answer(self) -> None:
            request = httpx.Request(self.command, f"http://{self.headers['Host']}{self.path}",
                                    headers=list(self.headers.items()), content=self._body())  # fmt: skip
            response = service.handle_request(request)
            body = response.read()
            self.send_response(response.status_code)
            for name, value in response.headers.items():
                if name.lower() not in ("content-length", "transfer-encoding"):
                    self.send_header(name, value)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        do_GET = do_POST = do_DELETE = answer  # noqa: N815

        def _body(self) -> bytes:
            if self.headers.get("Transfer-Encoding") != "chunked":
                return self.rfile.read(int(self.headers.get("Content-Length", 0)))
            pieces = []
            while size := int(self.rfile.readline(), 16):
                pieces.append(self.rfile.read(size))
                self.rfile.readline()
            self.rfile.readline()
            return b"".join(pieces)

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        yield Socket(service, f"http://127.0.0.1:{server.server_port}")
        server.shutdown()
        thread.join()


@pytest.fixture
def wine(tmp_path):
    path = tmp_path / "wine.csv"
    path.write_text("a,class\n1,x\n2,y\n")
    return str(path)
