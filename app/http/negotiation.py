"""Answers whose body is a file: in the format that was asked for, cacheable, and in parts if asked."""

import hashlib
import re
from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

from fastapi import HTTPException, Request, Response

from app.problems import documented as documented_problem
from ism_jobs.errors import NotAcceptable

F = TypeVar("F", bound=str)

MEDIA_TYPES = {
    "json": "application/json",
    "csv": "text/csv; charset=utf-8",
    "npy": "application/x-npy",
    "parquet": "application/vnd.apache.parquet",
    "npz": "application/x-npz",
    "onnx": "application/x-onnx",
    "svg": "image/svg+xml",
    "png": "image/png",
}

BY_ACCEPT = {"Vary": "Accept"}  # a header of whatever chosen_format has chosen the format of

_RANGE = re.compile(r"bytes=(\d{0,18})-(\d{0,18})")


def chosen_format(request: Request, asked: str | None, offered: Sequence[F]) -> F:
    """By ?format=, else by Accept, else the first that there is."""
    if asked is not None:
        for format in offered:
            if format == asked:
                return format
        raise NotAcceptable(f"There is no format {asked!r} of this; ask for one of {', '.join(offered)}.")
    accept = request.headers.get("accept") or "*/*"
    best = max(offered, key=lambda one: _weight(one, accept))  # of equals the first
    if _weight(best, accept) == (0.0, 0):
        raise NotAcceptable(f"None of {accept} is a format of this; ask for one of {', '.join(offered)} by ?format=.")
    return best


def _weight(format: str, accept: str) -> tuple[float, int]:
    """How much a format is wanted, and how early it is named; by its own type rather than by a wildcard."""
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


def etag_of(*parts: Any) -> str:
    """A name for one version of a thing."""
    return '"' + hashlib.sha256(repr(parts).encode()).hexdigest()[:24] + '"'


def is_known(request: Request, etag: str) -> bool:
    """Whether the caller has this version already."""
    known = [part.strip().removeprefix("W/") for part in request.headers.get("if-none-match", "").split(",")]
    return etag in known or "*" in known


def not_modified(etag: str, headers: Mapping[str, str] | None = None) -> Response:
    """The caller has it."""
    return Response(status_code=304, headers={"ETag": etag, **(headers or {})})


def content(
    request: Request, body: bytes, format: str, filename: str, etag: str, headers: Mapping[str, str] | None = None
) -> Response:
    """A file, or the range of its bytes that was asked for."""
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
        sentence = f"There are {len(body):,} bytes, and none in the range {asked.group()}."
        raise HTTPException(416, sentence, {"Content-Range": f"bytes */{len(body)}"})
    headers["Content-Range"] = f"bytes {first}-{last}/{len(body)}"
    return Response(body[first : last + 1], 206, headers, media_type)


def _bounds(first: str, last: str, size: int) -> tuple[int, int]:
    if not first:  # the last so many bytes
        return max(0, size - int(last)), size - 1 if int(last) else -1
    return int(first), min(int(last), size - 1) if last else size - 1


def documented(*formats: str, description: str, json_schema: dict[str, Any] | None = None) -> dict[int | str, Any]:
    """The same for the OpenAPI document."""
    contents: dict[str, Any] = {}
    for format in formats:
        schema: dict[str, Any] = {"type": "string", "format": "binary"}
        if format in ("csv", "svg"):
            schema = {"type": "string"}
        if format == "json":
            schema = json_schema or {"type": "object"}
        contents[MEDIA_TYPES[format].split(";")[0]] = {"schema": schema}
    return {
        200: {"description": description, "content": contents},
        206: {"description": "The part that was asked for", "content": contents},
        304: {"description": "Not modified"},
        416: documented_problem(416)[416],
    }
