"""A stand-in for an OpenTelemetry collector: it takes OTLP over HTTP in JSON, and keeps the spans."""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


class Collector:
    """The spans that were received, and how to answer."""

    def __init__(self) -> None:
        self.spans: list[dict[str, Any]] = []
        self.services: set[str] = set()
        self.headers: list[dict[str, str]] = []
        self.status = 200
        self.url = ""

    def take(self, document: dict[str, Any]) -> None:
        for group in document["resourceSpans"]:
            attributes = {each["key"]: each["value"] for each in group["resource"]["attributes"]}
            self.services.add(attributes["service.name"]["stringValue"])
            for scope in group["scopeSpans"]:
                self.spans += scope["spans"]

    def trace(self, id: str) -> list[dict[str, Any]]:
        return [span for span in list(self.spans) if span["traceId"] == id]


@contextmanager
def running_collector() -> Iterator[Collector]:
    collector = Collector()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            collector.headers.append({name.lower(): value for name, value in self.headers.items()})
            if self.path == "/v1/traces" and self.headers["Content-Type"] == "application/json":
                collector.take(json.loads(body))
            self.send_response(collector.status)
            self.send_header("Content-Length", "2")
            self.end_headers()
            self.wfile.write(b"{}")

        def log_message(self, *arguments: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    collector.url = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, args=(0.05,))
    thread.start()
    try:
        yield collector
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
