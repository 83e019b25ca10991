"""Places of tables by reference: a folder, a bucket of an object store behind a network that fails, a web server."""

import http.client
import random
import subprocess
import sys
import time
from functools import cached_property
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any, Self

from tools.local_service import free_port

KEY, SECRET = "the-access-key", "the-secret-key"
FAULTY = 0.05  # share of the requests to the object store that get an error or no answer
DELAY = 0.02  # seconds that each of them takes longer, at most
WAIT_SECONDS = 60


class Places:
    """The places of `variables`, which are those of a service that may use them."""

    def __init__(self, folder: Path) -> None:
        self.tables, self.outputs, self.buckets, self.web = (
            folder / name for name in ("tables", "outputs", "buckets", "web")
        )
        for each in (self.tables, self.outputs, self.buckets / "tables", self.buckets / "outputs", self.web):
            each.mkdir(parents=True)
        self.faulty = 0.0  # share of the requests that fail
        self.requests = 0
        self._processes: list[subprocess.Popen[bytes]] = []

    def __enter__(self) -> Self:
        self._proxy = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))
        self._proxy.daemon_threads = True
        Thread(target=self._proxy.serve_forever, daemon=True).start()
        self._web_port = free_port()
        return self

    def __exit__(self, *_: object) -> None:
        self._proxy.shutdown()
        self._proxy.server_close()
        for process in self._processes:
            process.terminate()
            process.wait()

    @property
    def variables(self) -> dict[str, str]:
        """The environment of a service that may use these places."""
        port = self._proxy.server_address[1]
        return {
            "ISM_TABLE_ROOTS": f"{self.tables}, s3://tables, s3://nowhere, {self.web_url}",
            "ISM_OUTPUT_ROOTS": f"{self.outputs}, s3://outputs",
            "AWS_ENDPOINT_URL": f"http://127.0.0.1:{port}",
            "AWS_ACCESS_KEY_ID": KEY,
            "AWS_SECRET_ACCESS_KEY": SECRET,
            "AWS_REGION": "us-east-1",
        }

    @property
    def web_url(self) -> str:
        return f"http://127.0.0.1:{self._web_port}"

    @cached_property
    def store_port(self) -> int:
        """The port of the object store, which has the folders in `buckets` as its buckets."""
        port = free_port()
        self._serve("s3", port, self.buckets, "--auth-key", f"{KEY},{SECRET}")
        return port

    def serve_web(self) -> None:
        """Start the web server, which has the files in `web`."""
        self._serve("http", self._web_port, self.web)

    def _serve(self, protocol: str, port: int, folder: Path, *options: str) -> None:
        program = Path(sys.executable).with_name("rclone")
        command = [str(program), "serve", protocol, str(folder), "--addr", f"127.0.0.1:{port}", *options]
        null = subprocess.DEVNULL
        self._processes.append(subprocess.Popen([*command, "--config", ""], stdout=null, stderr=null))
        deadline = time.monotonic() + WAIT_SECONDS
        while True:
            connection = http.client.HTTPConnection("127.0.0.1", port, timeout=5)
            try:
                connection.request("GET", "/")
                connection.getresponse().read()
            except OSError:
                assert time.monotonic() < deadline
                time.sleep(0.05)
            else:
                return
            finally:
                connection.close()


def _handler(places: Places) -> Any:
    """Return a proxy before the object store, in which some requests fail."""
    chance = random.Random(0)

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def handle_any(self) -> None:
            body = self.rfile.read(int(self.headers.get("content-length") or 0))
            places.requests += 1
            if places.faulty:
                time.sleep(DELAY * chance.random())
            if chance.random() < places.faulty:
                self.close_connection = True
                if chance.random() < 0.5:
                    self.send_error(503)
                return
            store = http.client.HTTPConnection("127.0.0.1", places.store_port, timeout=60)
            store.request(self.command, self.path, body, dict(self.headers.items()))
            answer = store.getresponse()
            content = answer.read()
            self.send_response_only(answer.status)
            for name, value in answer.getheaders():
                if name.lower() not in ("transfer-encoding", "connection", "content-length"):
                    self.send_header(name, value)
            length = answer.getheader("content-length") if self.command == "HEAD" else str(len(content))
            self.send_header("content-length", length or "0")
            self.end_headers()
            self.wfile.write(content)
            store.close()

        do_GET = do_HEAD = do_PUT = do_POST = do_DELETE = handle_any  # noqa: N815

        def log_message(self, *_: object) -> None:
            """Write nothing."""

    return Handler
