"""Connections that take up room without doing work: idle ones, and ones that send their request byte by byte."""

import asyncio
import itertools
import resource
from collections import Counter
from collections.abc import Iterator
from urllib.parse import urlsplit

IDLE_REQUEST = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"
# The beginnings of requests, which are continued with single bytes: headers that do not end, and a body that trickles.
SLOW_REQUESTS = (
    b"GET /jobs HTTP/1.1\r\nHost: localhost\r\nX-Slow: ",
    b"POST /datasets HTTP/1.1\r\nHost: localhost\r\nContent-Type: text/csv\r\nContent-Length: 100000\r\n\r\na,b\n",
)
BYTE_SECONDS = 1.0  # between two bytes of a slow request
OPEN_AT_ONCE = 50  # connections that are being opened at the same time, fewer than a server's backlog
SPARE_FILES = 1_000  # of this process, beside the crowd


class Crowd:
    """Keeps connections open; opens each again when the service ends it."""

    def __init__(self, url: str, idle: int, slow: int) -> None:
        address = urlsplit(url)
        self._address = str(address.hostname), int(address.port or 80)
        self.idle, self.slow = idle, slow
        self.open: Counter[str] = Counter()  # now, by kind
        self.most: Counter[str] = Counter()  # at the same time, by kind
        self.ended: Counter[str] = Counter()  # by status, or "closed"
        self.errors: list[str] = []
        self._opening = asyncio.Semaphore(OPEN_AT_ONCE)
        _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, idle + slow + SPARE_FILES), hard))

    def tasks(self) -> Iterator["asyncio.Task[None]"]:
        """Start to keep all connections."""
        for _ in range(self.idle):
            yield asyncio.create_task(self._keep("idle", IDLE_REQUEST))
        for _, request in zip(range(self.slow), itertools.cycle(SLOW_REQUESTS), strict=False):
            yield asyncio.create_task(self._keep("slow", request))

    @property
    def violations(self) -> list[str]:
        """Return the connections that could not be held, and answers that slow requests should not get."""
        wanted = {"idle": self.idle, "slow": self.slow}
        found = [
            f"Only {self.most[kind]} of {count} {kind} connections were open at the same time."
            for kind, count in wanted.items()
            if self.most[kind] < count
        ]
        odd = {status: count for status, count in self.ended.items() if status not in ("408", "closed")}
        return [
            *self.errors,
            *found,
            *(f"{count} slow requests were answered with {each}." for each, count in odd.items()),
        ]

    async def _keep(self, kind: str, request: bytes) -> None:
        while True:
            try:
                async with self._opening:
                    reader, writer = await asyncio.open_connection(*self._address)
                try:
                    self.open[kind] += 1
                    self.most[kind] = max(self.most[kind], self.open[kind])
                    writer.write(request)
                    await (self._wait(reader) if kind == "idle" else self._trickle(reader, writer))
                finally:
                    self.open[kind] -= 1
                    writer.close()
            except OSError as error:
                if kind == "idle":
                    self.errors.append(f"An idle connection failed: {error!r}")
                await asyncio.sleep(BYTE_SECONDS)

    async def _wait(self, reader: asyncio.StreamReader) -> None:
        """Read the answer, and then wait until the service closes the connection."""
        answer = await reader.readuntil(b"\r\n")
        if b" 200 " not in answer:
            self.errors.append(f"GET /healthz: {answer.decode(errors='replace').strip()}")
        while await reader.read(2**12):
            pass

    async def _trickle(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Send a byte from time to time, until the service has enough of it."""
        answer = asyncio.create_task(reader.readline())
        try:
            while not answer.done():
                writer.write(b"1")
                await asyncio.wait([answer], timeout=BYTE_SECONDS)
            words = answer.result().split()
            self.ended[words[1].decode() if len(words) > 1 else "closed"] += 1
        finally:
            answer.cancel()
