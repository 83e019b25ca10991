"""Cursors of lists: where the next page begins, as text that callers need not understand."""

import base64
import json
import math
from collections.abc import Sequence
from typing import Any

from ism_jobs.errors import FieldError, InvalidSpec


def encode(place: Sequence[Any] | None) -> str | None:
    """A place as text."""
    if place is None:
        return None
    return base64.urlsafe_b64encode(json.dumps(list(place)).encode()).decode().rstrip("=")


def decode(cursor: str | None) -> tuple[float, str] | None:
    """The place that a cursor stands for."""
    if cursor is None:
        return None
    try:
        padded = cursor + "=" * (-len(cursor) % 4)
        time, id = json.loads(base64.urlsafe_b64decode(padded.encode()))
        valid = isinstance(time, float) and math.isfinite(time) and isinstance(id, str)
    except (ValueError, TypeError):
        valid = False
    if not valid:
        sentence = 'The cursor is none of ours; take it from "next" of the page before, or leave it out.'
        raise InvalidSpec(sentence, [FieldError("cursor", sentence)])
    return time, id
