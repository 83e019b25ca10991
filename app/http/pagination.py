"""Cursors for paging through lists: an opaque text that encodes the position of the next page."""

import base64
import json
import math
from collections.abc import Sequence
from typing import Any

from starlette.requests import Request

from app.links import page_links
from ism_jobs.errors import FieldError, InvalidParameter


def encode_cursor(position: Sequence[Any] | None) -> str | None:
    """Encode a position as a cursor; None stays None."""
    if position is None:
        return None
    return base64.urlsafe_b64encode(json.dumps(list(position)).encode()).decode().rstrip("=")


def page_end(request: Request, position: Sequence[Any] | None) -> dict[str, Any]:
    """Return the fields `next` and `links` of a page after which the next one begins at this position."""
    cursor = encode_cursor(position)
    return {"next": cursor, "links": page_links(request.url.path, request.query_params.multi_items(), cursor)}


def decode_cursor(cursor: str | None) -> tuple[float, str] | None:
    """Decode a cursor into its position: a time and an id.

    Raises InvalidParameter if the cursor was not made by `encode_cursor`.
    """
    if cursor is None:
        return None
    try:
        padded = cursor + "=" * (-len(cursor) % 4)
        time, id = json.loads(base64.urlsafe_b64decode(padded.encode()))
        valid = isinstance(time, float) and math.isfinite(time) and isinstance(id, str)
    except (ValueError, TypeError):
        valid = False
    if not valid:
        sentence = 'Invalid cursor; take it from "next" of the previous page, or leave it out.'
        raise InvalidParameter(sentence, [FieldError("cursor", sentence)])
    return time, id
