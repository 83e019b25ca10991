"""A job's stream of events as a client without a library reads it."""

from collections.abc import AsyncIterator
from dataclasses import dataclass

import httpx


class Refused(Exception):
    """The stream was answered with something else than 200."""

    def __init__(self, url: str, status: int, text: str) -> None:
        super().__init__(f"GET {url}: {status} {text[:200]}")
        self.status = status


@dataclass(frozen=True)
class Told:
    """One event."""

    id: str
    kind: str
    data: str

    @property
    def order(self) -> tuple[int, int]:
        """Milliseconds, as Redis's clock had it, and the place among those of the same."""
        milliseconds, place = self.id.split("-")
        return int(milliseconds), int(place)


async def events(http: httpx.AsyncClient, url: str, last: str = "") -> AsyncIterator[Told]:
    """All after the last that is known, until the stream ends."""
    headers = {"Last-Event-ID": last} if last else {}
    async with http.stream("GET", url, headers=headers) as answer:
        if answer.status_code != 200:
            raise Refused(url, answer.status_code, (await answer.aread()).decode(errors="replace"))
        fields: dict[str, str] = {}
        async for line in answer.aiter_lines():
            if line:
                name, _, value = line.partition(":")
                fields[name] = value.strip()
                continue
            if "event" in fields:
                yield Told(fields["id"], fields["event"], fields["data"])
            fields = {}
