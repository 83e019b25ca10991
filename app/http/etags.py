"""Entity tags: each is a hash of the bytes of one answer, so it changes if and only if the bytes do."""

import hashlib
from collections import OrderedDict
from collections.abc import Hashable, Mapping

from fastapi import Request, Response

MOST_TAGS = 10_000  # that a process remembers, about 2 MB


def etag_of(body: bytes) -> str:
    """Return the strong entity tag of an answer."""
    return '"' + hashlib.sha256(body).hexdigest()[:32] + '"'


def etag_matches(request: Request, etag: str) -> bool:
    """Return whether the caller already has this version (If-None-Match)."""
    known = [part.strip().removeprefix("W/") for part in request.headers.get("if-none-match", "").split(",")]
    return etag in known or "*" in known


def not_modified(etag: str, headers: Mapping[str, str] | None = None) -> Response:
    """Return a 304 response."""
    return Response(status_code=304, headers={"ETag": etag, **(headers or {})})


class TagMemory:
    """The tags of the last answers of this process, by the names of what never changes.

    A caller that has such an answer gets a 304 without another computation. Another process, perhaps of another
    release, may write the same table in other bytes. So it computes them before it compares tags.
    """

    def __init__(self, most: int = MOST_TAGS) -> None:
        self._most = most
        self._tags: OrderedDict[Hashable, str] = OrderedDict()

    def add(self, name: Hashable, etag: str) -> None:
        """Remember the tag of an answer."""
        self._tags[name] = etag
        self._tags.move_to_end(name)
        if len(self._tags) > self._most:
            self._tags.popitem(last=False)

    def known(self, request: Request, name: Hashable) -> str | None:
        """Return the tag of the answer if the caller has it."""
        etag = self._tags.get(name)
        return etag if etag is not None and etag_matches(request, etag) else None


TAGS = TagMemory()
