"""Traces for OpenTelemetry: spans are sent as OTLP/HTTP in JSON if OTEL_EXPORTER_OTLP_ENDPOINT is set, else never made.

A span is recorded when it has ended. A thread sends what was recorded; it drops spans rather than delay a request or a
job. The standard variables OTEL_EXPORTER_OTLP_HEADERS and OTEL_SERVICE_NAME are understood too.
"""

import json
import logging
import os
import re
import secrets
import threading
import urllib.error
import urllib.request
from collections import deque
from collections.abc import Mapping
from contextvars import ContextVar
from dataclasses import dataclass, field
from importlib.metadata import version
from typing import Any, Self
from urllib.parse import unquote

MOST_SPANS = 10_000  # waiting to be sent; about 5 MB
SPANS_PER_REQUEST = 1_000
SEND_SECONDS = 1.0  # between two requests to the collector
TIMEOUT_SECONDS = 5.0  # of such a request
INTERNAL, SERVER, CONSUMER = 1, 2, 5  # kinds of spans in OTLP
ERROR = 2  # status of a span in OTLP
_TRACEPARENT = re.compile(r"[0-9a-f]{2}-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?")
_log = logging.getLogger("ism")


@dataclass(frozen=True)
class SpanContext:
    """The ids by which other spans refer to a span."""

    trace: str
    span: str

    @classmethod
    def child_of(cls, parent: "SpanContext | None") -> Self:
        """Return the ids of a new span, in the trace of its parent or in a new one."""
        return cls(parent.trace if parent else secrets.token_hex(16), secrets.token_hex(8))

    @classmethod
    def parsed(cls, traceparent: str | None) -> Self | None:
        """Parse a header of W3C Trace Context; None if it is invalid or the caller does not record the trace."""
        found = _TRACEPARENT.fullmatch(traceparent or "")
        if found is None or not int(found[3], 16) & 1 or not int(found[1], 16) or not int(found[2], 16):
            return None
        return cls(found[1], found[2])

    @property
    def traceparent(self) -> str:
        """The header of W3C Trace Context."""
        return f"00-{self.trace}-{self.span}-01"


current: ContextVar[SpanContext | None] = ContextVar("span", default=None)  # of the request that is being answered


def is_enabled() -> bool:
    """Return whether there is a collector to send spans to."""
    return bool(_endpoint())


def record(
    name: str,
    began: float,
    ended: float,
    context: SpanContext,
    *,
    parent: SpanContext | None = None,
    kind: int = INTERNAL,
    attributes: Mapping[str, object] | None = None,
    error: str | None = None,
) -> None:
    """Record a span; times are in seconds since 1970. Attributes that are no text or number are left out."""
    if not is_enabled():
        return
    span: dict[str, Any] = {
        "traceId": context.trace,
        "spanId": context.span,
        "name": name,
        "kind": kind,
        "startTimeUnixNano": str(int(began * 1e9)),
        "endTimeUnixNano": str(int(max(began, ended) * 1e9)),
        "attributes": _attributes(attributes or {}),
        "status": {} if error is None else {"code": ERROR, "message": error},
    }
    if parent is not None:
        span["parentSpanId"] = parent.span
    _exporter().add(span)


def flush() -> None:
    """Send what was recorded."""
    if is_enabled():
        _exporter().send()


@dataclass
class Exporter:
    """Sends spans to a collector."""

    url: str
    headers: dict[str, str]
    resource: dict[str, object]
    process: int = field(default_factory=os.getpid)

    def __post_init__(self) -> None:
        self._spans: deque[dict[str, Any]] = deque(maxlen=MOST_SPANS)
        self._sending = threading.Lock()
        self._added = threading.Event()
        threading.Thread(target=self._run, name="telemetry", daemon=True).start()

    def add(self, span: dict[str, Any]) -> None:
        """Queue a span; the oldest one is dropped if too many wait."""
        self._spans.append(span)
        self._added.set()

    def send(self) -> None:
        """Send all spans that wait. Those that the collector does not take are dropped."""
        with self._sending:
            while self._spans:
                batch = [self._spans.popleft() for _ in range(min(SPANS_PER_REQUEST, len(self._spans)))]
                self._post(batch)

    def _run(self) -> None:
        pause = threading.Event()
        while True:
            self._added.wait()
            pause.wait(SEND_SECONDS)  # more spans may follow
            self._added.clear()
            self.send()

    def _post(self, spans: list[dict[str, Any]]) -> None:
        scope = {"scope": {"name": "ism", "version": version("ism-core")}, "spans": spans}
        document = {"resourceSpans": [{"resource": {"attributes": _attributes(self.resource)}, "scopeSpans": [scope]}]}
        headers = {"Content-Type": "application/json", **self.headers}
        request = urllib.request.Request(self.url, json.dumps(document).encode(), headers)
        try:
            with urllib.request.urlopen(request, timeout=TIMEOUT_SECONDS):
                pass
        except (OSError, ValueError) as error:
            self._spans.clear()  # or a collector that hangs would delay the end of a process for each batch
            _log.warning("spans not sent: %s", error)


_current_exporter: Exporter | None = None


def _exporter() -> Exporter:
    """Return the exporter of this process; a forked process has no thread of its parent."""
    global _current_exporter
    if _current_exporter is None or _current_exporter.process != os.getpid():
        headers = dict(_pairs(os.environ.get("OTEL_EXPORTER_OTLP_HEADERS", "")))
        name = os.environ.get("OTEL_SERVICE_NAME") or "ism"
        resource = {"service.name": name, "service.version": version("ism-core"), "process.pid": os.getpid()}
        _current_exporter = Exporter(_endpoint().rstrip("/") + "/v1/traces", headers, resource)
    return _current_exporter


def _endpoint() -> str:
    url = os.environ.get("OTEL_EXPORTER_OTLP_ENDPOINT", "")
    return url if url.startswith(("http://", "https://")) else ""


def _pairs(text: str) -> list[tuple[str, str]]:
    """Parse the variable of headers: name=value pairs, separated by commas."""
    pairs = [part.partition("=") for part in text.split(",") if "=" in part]
    return [(name.strip(), unquote(value.strip())) for name, _, value in pairs]


def _attributes(values: Mapping[str, object]) -> list[dict[str, Any]]:
    found = []
    for name, value in values.items():
        if isinstance(value, bool):
            found.append({"key": name, "value": {"boolValue": value}})
        elif isinstance(value, int):
            found.append({"key": name, "value": {"intValue": str(value)}})
        elif isinstance(value, float):
            found.append({"key": name, "value": {"doubleValue": value}})
        elif isinstance(value, str):
            found.append({"key": name, "value": {"stringValue": value}})
    return found
