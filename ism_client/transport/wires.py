"""How requests get to the service: the only place in which the synchronous and the asynchronous client differ.

Each operation of the client is one coroutine, whose only awaits are those of a wire. `SyncWire` never suspends it, so
that `run` gets its result in one step, without an event loop; `AsyncWire` suspends it while it waits.
"""

import asyncio
import time
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Coroutine, Iterator
from typing import Any, Protocol, TypeVar

import httpx

T = TypeVar("T")


class Wire(Protocol):
    """What an operation waits for."""

    @property
    def client(self) -> httpx.Client | httpx.AsyncClient:
        """The connections."""

    async def send(self, request: httpx.Request, *, stream: bool) -> httpx.Response:
        """Send a request; with `stream`, return before the body is read."""

    async def read(self, response: httpx.Response) -> None:
        """Read the body of a streamed response."""

    def chunks(self, response: httpx.Response) -> AsyncIterator[bytes]:
        """Yield the body of a streamed response."""

    async def end(self, response: httpx.Response) -> None:
        """Close a streamed response."""

    async def sleep(self, seconds: float) -> None:
        """Wait."""

    async def close(self) -> None:
        """Close the connections."""


class SyncWire:
    """Blocks until the answer is there."""

    def __init__(self, client: httpx.Client, pause: Callable[[float], None] = time.sleep) -> None:
        self.client = client
        self.pause = pause

    async def send(self, request: httpx.Request, *, stream: bool) -> httpx.Response:
        """Send a request; with `stream`, return before the body is read."""
        return self.client.send(request, stream=stream)

    async def read(self, response: httpx.Response) -> None:
        """Read the body of a streamed response."""
        response.read()

    async def chunks(self, response: httpx.Response) -> AsyncIterator[bytes]:
        """Yield the body of a streamed response."""
        for chunk in response.iter_bytes():
            yield chunk

    async def end(self, response: httpx.Response) -> None:
        """Close a streamed response."""
        response.close()

    async def sleep(self, seconds: float) -> None:
        """Wait."""
        self.pause(seconds)

    async def close(self) -> None:
        """Close the connections."""
        self.client.close()


class AsyncWire:
    """Lets other tasks run until the answer is there."""

    def __init__(self, client: httpx.AsyncClient) -> None:
        self.client = client

    async def send(self, request: httpx.Request, *, stream: bool) -> httpx.Response:
        """Send a request; with `stream`, return before the body is read."""
        return await self.client.send(request, stream=stream)

    async def read(self, response: httpx.Response) -> None:
        """Read the body of a streamed response."""
        await response.aread()

    async def chunks(self, response: httpx.Response) -> AsyncIterator[bytes]:
        """Yield the body of a streamed response."""
        async for chunk in response.aiter_bytes():
            yield chunk

    async def end(self, response: httpx.Response) -> None:
        """Close a streamed response."""
        await response.aclose()

    async def sleep(self, seconds: float) -> None:
        """Wait."""
        await asyncio.sleep(seconds)

    async def close(self) -> None:
        """Close the connections."""
        await self.client.aclose()


def run(operation: Coroutine[Any, Any, T]) -> T:
    """Return the result of an operation on a SyncWire."""
    try:
        operation.send(None)
    except StopIteration as end:
        result: T = end.value
        return result
    operation.close()
    raise RuntimeError("The operation waits for an event loop; use AsyncClient.")


def iterate(operation: AsyncGenerator[T]) -> Iterator[T]:
    """Yield what an operation on a SyncWire yields."""
    try:
        while True:
            try:
                item = run(anext(operation))
            except StopAsyncIteration:
                return
            yield item
    finally:
        run(operation.aclose())
