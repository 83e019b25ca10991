"""Server-sent events: parsing the stream (HTML standard), and resuming it after broken connections."""

import codecs
import io
import json
import time
from collections.abc import AsyncGenerator, AsyncIterator, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import httpx

from ism_client.errors import ApiError
from ism_client.transport import PATIENT_RETRIES, Http

ENDED = frozenset({"succeeded", "failed", "cancelled"})  # states that a job does not leave
SILENCE_SECONDS = 45.0  # without a byte, after which a connection counts as broken
MAX_SILENT_STREAMS = 3  # streams in a row without an event; then a proxy probably buffers them
RECONNECT_SECONDS, MAX_RECONNECT_SECONDS = 0.5, 10.0  # pause before reconnecting: the default, and the longest
NO_STREAM_STATUSES = frozenset({404, 405, 406, 501})  # answers of a service or proxy without event streams


class NoStream(Exception):
    """No events arrive; the caller should poll instead."""


@dataclass(frozen=True)
class Event:
    """One event of a job: `type` is "state", "step", "picture" and so on, `data` its decoded JSON.

    for event in job.events():
        if event.type == "step":
            print(event.data["iteration"], event.data["objective"])
    """

    type: str
    data: Any
    id: str = ""


@dataclass(frozen=True)
class Message:
    """A block of the stream: an event, or only an id or a reconnection delay."""

    type: str
    data: str | None
    id: str | None
    retry: float | None  # seconds


class Parser:
    """Parses a stream of bytes in chunks of any size. A block without a final empty line is dropped."""

    def __init__(self) -> None:
        # str.splitlines and httpx's iter_lines also split at characters such as U+2028, which JSON may contain
        utf8 = codecs.getincrementaldecoder("utf-8-sig")("replace")
        self._decoder = io.IncrementalNewlineDecoder(utf8, translate=True)
        self._text = ""
        self._begin()

    def _begin(self) -> None:
        self._type, self._data = "", list[str]()
        self._id: str | None = None
        self._retry: float | None = None

    def feed(self, chunk: bytes) -> Iterator[Message]:
        """Yield the messages that end in this chunk."""
        *lines, self._text = (self._text + self._decoder.decode(chunk)).split("\n")
        for line in lines:
            if line:
                self._field(line)
                continue
            if self._data or self._id is not None or self._retry is not None:
                data = "\n".join(self._data) if self._data else None
                yield Message(self._type or "message", data, self._id, self._retry)
            self._begin()

    def _field(self, line: str) -> None:
        name, _, value = line.partition(":")  # the name of a comment is empty
        value = value.removeprefix(" ")
        if name == "data":
            self._data.append(value)
        elif name == "event":
            self._type = value
        elif name == "id" and "\0" not in value:
            self._id = value
        elif name == "retry" and value.isascii() and value.isdigit():
            self._retry = int(value) / 1000


def parse(chunks: Iterable[bytes]) -> Iterator[Message]:
    """Parse a stream of bytes in chunks of any size."""
    parser = Parser()
    for chunk in chunks:
        yield from parser.feed(chunk)


async def follow(http: Http, path: str, last_id: str = "", deadline: float | None = None) -> AsyncGenerator[Event]:
    """Yield the events of a job until its last one. A broken connection resumes after the last event seen.

    Raises NoStream if no events arrive, and TimeoutError past the deadline (a time of time.monotonic).
    """
    delay, silent = RECONNECT_SECONDS, 0
    while True:
        headers = {"Accept": "text/event-stream", "Cache-Control": "no-store"}
        if last_id:
            headers["Last-Event-ID"] = last_id
        silent += 1
        try:
            async with http.stream(
                "GET", path, headers=headers, timeout=remaining(deadline, SILENCE_SECONDS), retries=PATIENT_RETRIES
            ) as response:
                if not response.headers.get("Content-Type", "").startswith("text/event-stream"):
                    raise NoStream
                async for message in _messages(http.wire.chunks(response), deadline):
                    last_id = last_id if message.id is None else message.id
                    delay = delay if message.retry is None else min(message.retry, MAX_RECONNECT_SECONDS)
                    if message.data is not None:
                        silent = 0
                        event = Event(message.type, _decoded(message.data), last_id)
                        yield event
                        if is_last(event):
                            return
        except ApiError as error:
            if error.status in NO_STREAM_STATUSES:
                raise NoStream from error
            raise
        except httpx.TransportError:
            pass  # the next request resumes, or raises Unreachable
        if silent >= MAX_SILENT_STREAMS:
            raise NoStream
        check_deadline(deadline)
        await http.wire.sleep(delay)


def is_last(event: Event) -> bool:
    """Return whether the event reports the end of the job."""
    return event.type == "state" and isinstance(event.data, dict) and event.data.get("state") in ENDED


def check_deadline(deadline: float | None) -> None:
    """Raise TimeoutError past the deadline."""
    if deadline is not None and time.monotonic() >= deadline:
        raise TimeoutError("Timeout: the job has not ended yet. It continues, and you can wait for it again.")


def remaining(deadline: float | None, longest: float) -> float:
    """Return the seconds until the deadline, at most `longest` and at least 0.1."""
    return longest if deadline is None else min(longest, max(0.1, deadline - time.monotonic()))


async def _messages(chunks: AsyncIterator[bytes], deadline: float | None) -> AsyncIterator[Message]:
    parser = Parser()
    async for chunk in chunks:
        for message in parser.feed(chunk):
            yield message
        check_deadline(deadline)


def _decoded(data: str) -> Any:
    try:
        return json.loads(data)
    except ValueError:
        return data
