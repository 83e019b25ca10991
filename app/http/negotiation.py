"""Responses that carry a file: content negotiation and byte ranges."""

import re
from collections.abc import Hashable, Mapping, Sequence
from typing import Any, TypeVar

from fastapi import HTTPException, Request, Response

from app.http.etags import TAGS, etag_matches, etag_of, not_modified
from app.problems import problem_responses
from ism_jobs.errors import FieldError, InvalidParameter, NotAcceptable

F = TypeVar("F", bound=str)

MEDIA_TYPES = {
    "json": "application/json",
    "csv": "text/csv; charset=utf-8",
    "npy": "application/x-npy",
    "parquet": "application/vnd.apache.parquet",
    "npz": "application/x-npz",
    "onnx": "application/x-onnx",
    "html": "text/html; charset=utf-8",
    "pdf": "application/pdf",
    "svg": "image/svg+xml",
    "png": "image/png",
}

VARY_ACCEPT = {"Vary": "Accept"}  # for every response whose format `negotiate_format` has chosen

_RANGE = re.compile(r"bytes=(\d{0,18})-(\d{0,18})")  # one range of bytes; 18 digits fit into 64 bits


def negotiate_format(request: Request, asked: str | None, offered: Sequence[F]) -> F:
    """Choose a format: by ?format=, else by the Accept header, else the first of those offered."""
    if asked is not None:
        for format in offered:
            if format == asked:
                return format
        sentence = f"Unknown format {asked!r}; use one of {', '.join(offered)}."
        raise InvalidParameter(sentence, [FieldError("format", sentence)])
    accept = request.headers.get("accept") or "*/*"
    best = max(offered, key=lambda one: _weight(one, accept))  # the first of equals
    if _weight(best, accept) == (0.0, 0):
        raise NotAcceptable(
            f"The Accept header {accept!r} matches no available format; use ?format= with one of {', '.join(offered)}."
        )
    return best


def _weight(format: str, accept: str) -> tuple[float, int]:
    """Return the quality of a format and its place in the Accept header; its own type wins over a wildcard."""
    own = MEDIA_TYPES[format].split(";")[0]
    places: dict[str, tuple[float, int]] = {}
    for place, part in enumerate(accept.lower().split(",")):
        media_type, *parameters = (piece.strip() for piece in part.split(";"))
        quality = next((_quality(text[2:]) for text in parameters if text.startswith("q=")), 1.0)
        places.setdefault(media_type, (quality, -place) if quality else (0.0, 0))
    wildcard = f"{own.split('/')[0]}/*"
    return next((places[name] for name in (own, wildcard, "*/*") if name in places), (0.0, 0))


def _quality(text: str) -> float:
    return min(float(text), 1.0) if re.fullmatch(r"[01](\.\d{0,3})?", text) else 1.0


def file_response(
    request: Request,
    body: bytes,
    format: str,
    filename: str,
    headers: Mapping[str, str] | None = None,
    name: Hashable = None,
) -> Response:
    """Return a file, the byte range of it that was requested, or a 304 if the caller has it.

    `name` names a file that never changes: `TAGS` then remembers its tag.
    """
    etag = etag_of(body)
    if name is not None:
        TAGS.add(name, etag)
    if request.method in ("GET", "HEAD") and etag_matches(request, etag):
        return not_modified(etag, headers)
    headers = {
        "ETag": etag,
        "Accept-Ranges": "bytes",
        "Content-Disposition": f'inline; filename="{filename}.{format}"',
        **(headers or {}),
    }
    media_type = MEDIA_TYPES[format]
    asked = _RANGE.fullmatch(request.headers.get("range", "")) if request.method == "GET" else None
    if asked is None or asked.group() == "bytes=-" or request.headers.get("if-range", etag) != etag:
        return Response(body, media_type=media_type, headers=headers)
    first, last = _bounds(asked.group(1), asked.group(2), len(body))
    if first > last:
        sentence = f"The range {asked.group()} is outside the {len(body):,} bytes of the file."
        raise HTTPException(416, sentence, {"Content-Range": f"bytes */{len(body)}"})
    headers["Content-Range"] = f"bytes {first}-{last}/{len(body)}"
    return Response(body[first : last + 1], 206, headers, media_type)


def _bounds(first: str, last: str, size: int) -> tuple[int, int]:
    if not first:  # a suffix range: the last N bytes
        return max(0, size - int(last)), size - 1 if int(last) else -1
    return int(first), min(int(last), size - 1) if last else size - 1


def file_responses(*formats: str, description: str, json_schema: dict[str, Any] | None = None) -> dict[int | str, Any]:
    """Return the OpenAPI entries of a route that answers with `file_response`."""
    contents: dict[str, Any] = {}
    for format in formats:
        schema: dict[str, Any] = {"type": "string", "format": "binary"}
        if format in ("csv", "html", "svg"):
            schema = {"type": "string"}
        if format == "json":
            schema = json_schema or {"type": "object"}
        contents[MEDIA_TYPES[format].split(";")[0]] = {"schema": schema}
    return {
        200: {"description": description, "content": contents},
        206: {"description": "The requested byte range", "content": contents},
        304: {"description": "Not modified"},
        416: problem_responses(416)[416],
    }
