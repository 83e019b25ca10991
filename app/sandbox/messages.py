"""What passes between the service and a sandbox process: chunks of a table in; bytes, and one JSON value, out.

A sandbox process may have read a malicious file, so nothing that it sends is unpickled.
"""

import json
from collections.abc import Generator, Iterator
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path
from types import GeneratorType
from typing import Any

from ism_jobs.errors import (
    FieldError,
    InvalidParameter,
    InvalidSpec,
    InvalidTable,
    Problem,
    StoreFull,
    TooLarge,
    Unavailable,
    UnsupportedFormat,
)

PART, VALUE, PROBLEM = b"part", b"value", b"problem"  # each is followed by its content
LAST_CHUNK = b""  # a chunk of a table is never empty
PROBLEMS = {  # that a sandbox process may report, by name
    problem.__name__: problem
    for problem in (
        InvalidParameter,
        InvalidSpec,
        InvalidTable,
        Problem,
        StoreFull,
        TooLarge,
        Unavailable,
        UnsupportedFormat,
    )
}


@dataclass(frozen=True)
class Upload:
    """A received file, alone in its folder, and what the request says about it."""

    path: Path
    size: int
    name: str
    filename: str | None
    content_type: str | None
    header: bool | None  # whether the first line of a CSV holds names; None lets the reader decide


@dataclass(frozen=True)
class Located:
    """A table by reference, and the places in which it may be."""

    uri: str
    name: str | None
    header: bool | None
    roots: tuple[str, ...]


class BrokenAnswer(Exception):
    """The process ended before its answer did, or sent something else."""


class Answer:
    """The answer of a sandbox process. Iterate over its parts once; then `value` is available."""

    def __init__(self, receiver: Connection) -> None:
        self._receiver = receiver
        self.value: Any = None

    def __iter__(self) -> Iterator[bytes]:
        while (kind := self._receive()) == PART:
            yield self._receive()
        try:
            content = json.loads(self._receive())
            problem = _problem_of(content) if kind == PROBLEM else None
        except (ValueError, TypeError, KeyError):
            raise BrokenAnswer from None
        if problem:
            raise problem
        self.value = content

    def whole(self) -> Any:
        """Return what a function has returned: bytes or a JSON value."""
        parts = list(self)
        return parts[0] if parts else self.value

    def _receive(self) -> bytes:
        try:
            return self._receiver.recv_bytes()
        except (EOFError, OSError):
            raise BrokenAnswer from None


def send_result(sender: Connection, result: "bytes | Generator[bytes, None, Any] | Any") -> None:
    """Send bytes, a JSON value, or the bytes that a generator yields and the JSON value that it returns."""
    value = None
    if isinstance(result, GeneratorType):
        parts = _Returning(result)
        for part in parts:
            _send_part(sender, part)
        value = parts.value
    elif isinstance(result, bytes):
        _send_part(sender, result)
    else:
        value = result
    content = json.dumps(value).encode()
    sender.send_bytes(VALUE)
    sender.send_bytes(content)


def send_problem(sender: Connection, problem: Problem) -> None:
    """Send a problem instead of the rest of the answer."""
    errors = [[error.field, error.message] for error in problem.errors]
    kind = next(kind for kind in type(problem).__mro__ if kind.__name__ in PROBLEMS)
    content = {"name": kind.__name__, "detail": problem.detail, "errors": errors}
    sender.send_bytes(PROBLEM)
    sender.send_bytes(json.dumps(content).encode())


def iter_received(receiver: Connection) -> Iterator[bytes]:
    """Yield the chunks that the service sends."""
    while (chunk := receiver.recv_bytes()) != LAST_CHUNK:
        yield chunk


class _Returning:
    """A generator whose return value is kept."""

    def __init__(self, generator: Generator[bytes, None, Any]) -> None:
        self._generator = generator
        self.value: Any = None

    def __iter__(self) -> Iterator[bytes]:
        self.value = yield from self._generator


def _send_part(sender: Connection, part: bytes) -> None:
    sender.send_bytes(PART)
    sender.send_bytes(part)


def _problem_of(content: Any) -> Problem:
    errors = [FieldError(str(field), str(message)) for field, message in content["errors"]]
    return PROBLEMS[content["name"]](str(content["detail"]), errors)
