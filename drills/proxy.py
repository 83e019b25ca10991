"""A network between one process and Redis that can be slow, hang, break, or be away."""

import asyncio
from contextlib import suppress

CHUNK_BYTES = 2**16


class Link:
    """A TCP proxy on a port of its own. Without further orders it only passes bytes on."""

    def __init__(self, upstream: int) -> None:
        self.delay = 0.0  # seconds that everything takes longer, in each direction
        self._upstream = upstream
        self._flowing = asyncio.Event()  # cleared: nothing passes, and nobody is told
        self._flowing.set()
        self._shut = False  # nobody gets through
        self._writers: set[asyncio.StreamWriter] = set()
        self._connections: set[asyncio.Task[None] | None] = set()
        self._server: asyncio.Server | None = None

    async def open(self) -> int:
        """Begin to listen; gives the port."""
        self._server = await asyncio.start_server(self._connected, "127.0.0.1", 0)
        return int(self._server.sockets[0].getsockname()[1])

    def cut(self) -> None:
        """Break all connections as they are; what was on its way is lost."""
        for writer in self._writers:
            writer.transport.abort()

    def shut(self) -> None:
        """Break all connections and refuse new ones until `heal`."""
        self._shut = True
        self.cut()

    def hold(self) -> None:
        """Let nothing pass until `heal`; then all of it does."""
        self._flowing.clear()

    def heal(self) -> None:
        """Back to a good network."""
        self.delay, self._shut = 0.0, False
        self._flowing.set()

    @property
    def passes(self) -> bool:
        """Whether anything gets through, be it slowly."""
        return self._flowing.is_set() and not self._shut

    async def close(self) -> None:
        """Stop listening, and break what is open."""
        if self._server is not None:
            self._server.close()
        while self._connections:
            self.cut()
            await asyncio.sleep(0.01)

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        self._connections.add(task)
        try:
            await self._connect(reader, writer)
        finally:
            self._connections.discard(task)

    async def _connect(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if self._shut:
            writer.transport.abort()
            return
        try:
            answers, requests = await asyncio.open_connection("127.0.0.1", self._upstream)
        except OSError:
            writer.transport.abort()
            return
        ends = {writer, requests}
        self._writers |= ends
        try:
            passing = [
                asyncio.create_task(self._pass(reader, requests)),
                asyncio.create_task(self._pass(answers, writer)),
            ]
            await asyncio.wait(passing, return_when=asyncio.FIRST_COMPLETED)
            for task in passing:
                task.cancel()
            await asyncio.wait(passing)
        finally:
            self._writers -= ends
            for end in ends:
                end.transport.abort()

    async def _pass(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(OSError):
            while data := await reader.read(CHUNK_BYTES):
                await asyncio.sleep(self.delay)
                await self._flowing.wait()
                writer.write(data)
                await writer.drain()
