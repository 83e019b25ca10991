"""Server-sent events: parsing the stream as the HTML standard says, and following it through broken connections."""

import codecs
import io
import json
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import httpx

from ism_client.errors import ApiError
from ism_client.http import PATIENT, Http

ENDED = frozenset({"succeeded", "failed", "cancelled"})
SILENCE = 45.0  # seconds without a byte after which a connection counts as broken
SILENT_STREAMS = 3  # in a row without one event: something between buffers them
RECONNECT, LONGEST_RECONNECT = 0.5, 10.0  # seconds
NO_STREAM = frozenset({404, 405, 406, 501})  # a service, or something before it, that has no stream here


class NoStream(Exception):
    """No events come this way; polling is left."""


@dataclass(frozen=True)
class Event:
    """One event of a job: `type` is "state", "step" or "validation", `data` what was said in JSON.

    for event in job.events():
        if event.type == "step":
            print(event.data["iteration"], event.data["objective"])
    """

    type: str
    data: Any
    id: str = ""


@dataclass(frozen=True)
class Message:
    """A block of the stream as it came: an event, or only an id or a delay before reconnecting."""

    type: str
    data: str | None
    id: str | None
    retry: float | None  # seconds


def parse(chunks: Iterable[bytes]) -> Iterator[Message]:
    """The messages in a stream of bytes, however it is cut; one that is not closed by an empty line is dropped."""
    type, data, id, retry = "", list[str](), None, None
    for line in _lines(chunks):
        if not line:
            if data or id is not None or retry is not None:
                yield Message(type or "message", "\n".join(data) if data else None, id, retry)
            type, data, id, retry = "", [], None, None
            continue
        name, _, value = line.partition(":")  # a comment is a line whose name is empty
        value = value.removeprefix(" ")
        if name == "data":
            data.append(value)
        elif name == "event":
            type = value
        elif name == "id" and "\0" not in value:
            id = value
        elif name == "retry" and value.isascii() and value.isdigit():
            retry = int(value) / 1000


def follow(http: Http, path: str, last_id: str = "", deadline: float | None = None) -> Iterator[Event]:
    """A job's events until its last, resumed after the last one seen whenever the connection breaks.

    Raises NoStream where none comes, and TimeoutError past the deadline (as of time.monotonic).
    """
    delay, silent = RECONNECT, 0
    while True:
        headers = {"Accept": "text/event-stream", "Cache-Control": "no-store"}
        if last_id:
            headers["Last-Event-ID"] = last_id
        silent += 1
        try:
            with http.stream("GET", path, headers=headers, timeout=_patience(deadline), retries=PATIENT) as response:
                if not response.headers.get("Content-Type", "").startswith("text/event-stream"):
                    raise NoStream
                for message in parse(_checked(response.iter_bytes(), deadline)):
                    last_id = last_id if message.id is None else message.id
                    delay = delay if message.retry is None else min(message.retry, LONGEST_RECONNECT)
                    if message.data is not None:
                        silent = 0
                        event = Event(message.type, _decoded(message.data), last_id)
                        yield event
                        if is_last(event):
                            return
        except ApiError as error:
            if error.status in NO_STREAM:
                raise NoStream from error
            raise
        except httpx.TransportError:
            pass  # the next round resumes, or says that nothing answers
        if silent >= SILENT_STREAMS:
            raise NoStream
        check(deadline)
        http.sleep(delay)


def is_last(event: Event) -> bool:
    """Whether the event says that the job has ended."""
    return event.type == "state" and isinstance(event.data, dict) and event.data.get("state") in ENDED


def check(deadline: float | None) -> None:
    """Raise TimeoutError past the deadline."""
    if deadline is not None and time.monotonic() >= deadline:
        raise TimeoutError("The job has not ended in the time given; it goes on, and can be waited for again.")


def remaining(deadline: float | None, longest: float) -> float:
    """Seconds until the deadline, `longest` at most and a tenth at least."""
    return longest if deadline is None else min(longest, max(0.1, deadline - time.monotonic()))


def _patience(deadline: float | None) -> float:
    return remaining(deadline, SILENCE)


def _checked(chunks: Iterable[bytes], deadline: float | None) -> Iterator[bytes]:
    for chunk in chunks:
        yield chunk
        check(deadline)


def _decoded(data: str) -> Any:
    try:
        return json.loads(data)
    except ValueError:
        return data


def _lines(chunks: Iterable[bytes]) -> Iterator[str]:
    # str.splitlines and httpx's iter_lines also cut at U+2028 and the like, which JSON may hold as they are
    utf8 = codecs.getincrementaldecoder("utf-8-sig")("replace")
    decoder = io.IncrementalNewlineDecoder(utf8, translate=True)
    text = ""
    for chunk in chunks:
        *lines, text = (text + decoder.decode(chunk)).split("\n")
        yield from lines
