"""A service to test the client against: it answers as the HTTP contract says, or as a test has scripted."""

import email
import io
import json
from collections import defaultdict
from collections.abc import Callable, Iterable
from typing import Any

import httpx
import numpy as np

W = [[0.6, 0.0], [0.8, 0.0], [0.0, 1.0]]
EMBEDDING = np.arange(8.0).reshape(4, 2)


def job(state: str = "queued", **changes: Any) -> dict[str, Any]:
    document = {
        "id": "j1",
        "state": state,
        "label": None,
        "metadata": {},
        "dataset": "d1",
        "batch": None,
        "spec": {"dataset": "d1", "paradigm": "supervised", "target": "class", "kernel": "gaussian", "q": 2},
        "created": "2026-01-02T03:04:05Z",
        "started": None,
        "finished": None,
        "attempt": 1,
        "progress": None,
        "error": None,
        "position": 0 if state == "queued" else None,
        "links": {name: f"/jobs/j1/{name}" for name in ("W", "embedding", "trace", "metrics")},
    }
    return document | changes


RESULT = {
    "job": job("succeeded"),
    "features": ["a", "b", "c"],
    "W": W,
    "eigenvalues": [3.0, 2.0],
    "objective": 12.5,
    "converged": True,
    "stop": "Converged: all has settled.",
    "certificate": {"gradient": 1e-9},
    "kernel": {"name": "gaussian", "sigma": 2.5},
    "method": "features",
    "error": {"kind": "bound", "objective": 6e-6, "gradient": 1e-5},
    "metrics": {"accuracy": 0.975, "nmi": None},
    "warnings": ["One class has two rows only."],
    "importance": [0.18, 0.32, 0.5],
    "links": {"self": "/jobs/j1"},
}
TRACE = {
    "columns": ["iteration", "stage", "objective", "change"],
    "rows": [[0, "ascent", 10.0, None], [1, "ascent", 12.5, 0.01]],
}
PROBLEM = {
    "type": "urn:ism:problem:invalid-spec",
    "title": "The job cannot run as specified",
    "status": 422,
    "detail": "The job does not fit its data set.",
    "errors": [{"field": "target", "message": 'There is no column "klass"; did you mean "class"?'}],
}


def batch(**states: int) -> dict[str, Any]:
    jobs = [
        {"id": "j2", "state": "succeeded", "settings": {"kernel": "gaussian", "q": 3}, "metrics": {"accuracy": 0.9}},
        {
            "id": "j1",
            "state": "succeeded",
            "settings": {"kernel": {"name": "linear"}, "q": 2},
            "metrics": {"accuracy": 0.8},
        },
    ]
    return {"id": "b1", "created": "2026-01-02T03:04:05Z", "states": states, "metric": "accuracy", "jobs": jobs}


def sse(*events: tuple[str, Any], first_id: int = 1) -> bytes:
    return b"".join(
        f"id: {first_id + number}\nevent: {type}\ndata: {json.dumps(data)}\n\n".encode()
        for number, (type, data) in enumerate(events)
    )


class Stream(httpx.SyncByteStream):
    """A body in given pieces; an exception among them is raised there."""

    def __init__(self, pieces: Iterable[bytes | Exception]) -> None:
        self._pieces = pieces

    def __iter__(self):
        for piece in self._pieces:
            if isinstance(piece, Exception):
                raise piece
            yield piece


def events(*pieces: bytes | Exception) -> httpx.Response:
    return httpx.Response(200, headers={"Content-Type": "text/event-stream; charset=utf-8"}, stream=Stream(pieces))


Scripted = httpx.Response | Exception | Callable[[httpx.Request], httpx.Response]


class Service(httpx.MockTransport):
    """Scripted answers are given first, in their order and the last for ever; then those of the contract."""

    def __init__(self) -> None:
        super().__init__(self._answer)
        self.calls: list[httpx.Request] = []
        self.result: dict[str, Any] = RESULT
        self._scripts: dict[tuple[str, str], list[Scripted]] = defaultdict(list)

    def on(self, method: str, path: str, *answers: Scripted) -> None:
        self._scripts[method, path].extend(answers)

    def called(self, method: str, path: str) -> list[httpx.Request]:
        return [call for call in self.calls if (call.method, call.url.path) == (method, path)]

    def _answer(self, request: httpx.Request) -> httpx.Response:
        request.read()
        self.calls.append(request)
        script = self._scripts[request.method, request.url.path]
        if not script:
            return self._contract(request)
        answer = script.pop(0) if len(script) > 1 else script[0]
        if isinstance(answer, Exception):
            raise answer
        return answer(request) if callable(answer) else answer

    def _contract(self, request: httpx.Request) -> httpx.Response:
        format = request.url.params.get("format", "json")
        match request.method, request.url.path.strip("/").split("/"):
            case "POST", ["datasets"]:
                return httpx.Response(201, json=_dataset(*upload_of(request)))
            case "POST", ["jobs"]:
                return httpx.Response(202, json=job(spec=json.loads(request.content)))
            case "POST", ["batches"]:
                return httpx.Response(202, json=batch(queued=2))
            case "GET", ["jobs", "j1" | "j2" as id]:
                return httpx.Response(200, json=job("succeeded", id=id))
            case "GET", ["jobs", "j1", "events"]:
                return events(sse(("state", job("running")), ("state", job("succeeded"))))
            case "GET", ["jobs", "j1", "result"]:
                return httpx.Response(200, json=self.result)
            case "GET", ["jobs", "j1", "embedding"]:
                return _table(
                    ["row", "axis1", "axis2"], [[i, *row] for i, row in enumerate(EMBEDDING.tolist())], format
                )
            case "GET", ["jobs", "j1", "labels"]:
                return _table(["row", "cluster"], [[0, 1], [1, 0]], format, np.array([1, 0]))
            case "GET", ["jobs", "j1", "trace"]:
                return (
                    httpx.Response(200, json=TRACE) if format == "json" else httpx.Response(200, text=f"trace {format}")
                )
            case "GET", ["jobs", "j1", *rest]:
                return httpx.Response(200, text=f"{'/'.join(rest)} {format}")
            case "POST", ["jobs", "j1", "transform"]:
                return _table(["axis1", "axis2"], EMBEDDING.tolist(), format, notes=["Ignored: class."])
            case "POST", ["jobs", "j1", "cancel"]:
                return httpx.Response(202, json=job("cancelled"))
            case "GET", ["jobs"]:
                return httpx.Response(200, json={"items": [job("succeeded", label="first")], "next": None})
            case "GET", ["batches", "b1"]:
                return httpx.Response(200, json=batch(succeeded=2))
            case "DELETE", _:
                return httpx.Response(204)
        problem = {
            "title": "Not found",
            "status": 404,
            "detail": f"There is nothing at {request.url.path}.",
            "errors": [],
        }
        return httpx.Response(404, json=problem, headers={"Content-Type": "application/problem+json"})


def upload_of(request: httpx.Request) -> tuple[str, str, bytes]:
    """The file name, media type and content of a multipart upload."""
    head = f"Content-Type: {request.headers['Content-Type']}\r\n\r\n".encode()
    (part,) = email.message_from_bytes(head + request.content).get_payload()
    return part.get_filename(), part.get_content_type(), part.get_payload(decode=True)


def _dataset(filename: str, media_type: str, content: bytes) -> dict[str, Any]:
    return {
        "id": "d1",
        "name": filename,
        "rows": 4,
        "columns": [
            {"name": "a", "kind": "number", "missing": 0, "mean": 1.5, "a field to come": 1},
            {"name": "class", "kind": "text", "missing": 0, "levels": ["x", "y"]},
        ],
        "preview": [[1.0, "x"]],
        "format": "csv",
        "notes": ['Read with ";" as separator.'],
        "bytes": len(content),
        "created": "2026-01-02T03:04:05Z",
        "links": {},
    }


def _table(columns: list[str], rows: list[list[Any]], format: str, array: Any = None, **more: Any) -> httpx.Response:
    if format == "npy":
        buffer = io.BytesIO()
        numbers = [row[columns[0] == "row" :] for row in rows]
        np.save(buffer, np.array(numbers) if array is None else array)
        return httpx.Response(200, content=buffer.getvalue())
    if format == "csv":
        return httpx.Response(200, text="\n".join(",".join(map(str, row)) for row in [columns, *rows]) + "\n")
    return httpx.Response(200, json={"columns": columns, "rows": rows, **more})
