"""Read the server-sent events of a job."""

from collections.abc import AsyncIterator
from dataclasses import dataclass

import httpx


class StreamRefused(Exception):
    """The service answered the request for a stream with another status than 200."""

    def __init__(self, url: str, status: int, text: str) -> None:
        super().__init__(f"GET {url}: {status} {text[:200]}")
        self.status = status


@dataclass(frozen=True)
class Event:
    """One server-sent event."""

    id: str
    kind: str
    data: str

    @property
    def order(self) -> tuple[int, int]:
        """Return the id as numbers: milliseconds of Redis's clock, and the place among events of that millisecond."""
        milliseconds, place = self.id.split("-")
        return int(milliseconds), int(place)


async def events(http: httpx.AsyncClient, url: str, last: str = "") -> AsyncIterator[Event]:
    """Yield the events after the one with the id `last`, until the stream ends."""
    headers = {"Last-Event-ID": last} if last else {}
    async with http.stream("GET", url, headers=headers) as answer:
        if answer.status_code != 200:
            raise StreamRefused(url, answer.status_code, (await answer.aread()).decode(errors="replace"))
        fields: dict[str, str] = {}
        async for line in answer.aiter_lines():
            if line:
                name, _, value = line.partition(":")
                fields[name] = value.strip()
                continue
            if "event" in fields:
                yield Event(fields["id"], fields["event"], fields["data"])
            fields = {}
