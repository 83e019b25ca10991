"""A TCP proxy that can delay, stall, drop or refuse connections: a bad network between a process and Redis."""

import asyncio
from contextlib import suppress

CHUNK_BYTES = 2**16  # read at once; large enough that forwarding costs little


class TcpProxy:
    """Forward a port of 127.0.0.1 to another one; the methods disturb the connections until `restore`."""

    def __init__(self, upstream: int) -> None:
        self.delay = 0.0  # seconds added in each direction
        self._upstream = upstream
        self._flowing = asyncio.Event()  # cleared while traffic is stalled: connections stay open, no byte passes
        self._flowing.set()
        self._refusing = False
        self._writers: set[asyncio.StreamWriter] = set()
        self._connections: set[asyncio.Task[None] | None] = set()
        self._server: asyncio.Server | None = None

    async def open(self) -> int:
        """Start to listen and return the port."""
        self._server = await asyncio.start_server(self._connected, "127.0.0.1", 0)
        return int(self._server.sockets[0].getsockname()[1])

    def drop_connections(self) -> None:
        """Reset all open connections; bytes on their way are lost."""
        for writer in self._writers:
            writer.transport.abort()

    def refuse_connections(self) -> None:
        """Reset all open connections and refuse new ones until `restore`."""
        self._refusing = True
        self.drop_connections()

    def stall(self) -> None:
        """Let no byte pass until `restore`; then all of them pass."""
        self._flowing.clear()

    def restore(self) -> None:
        """End every disturbance."""
        self.delay, self._refusing = 0.0, False
        self._flowing.set()

    @property
    def is_passable(self) -> bool:
        """Whether bytes get through, even if slowly."""
        return self._flowing.is_set() and not self._refusing

    async def close(self) -> None:
        """Stop listening and reset the open connections."""
        if self._server is not None:
            self._server.close()
        while self._connections:
            self.drop_connections()
            await asyncio.sleep(0.01)

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        self._connections.add(task)
        try:
            await self._connect(reader, writer)
        finally:
            self._connections.discard(task)

    async def _connect(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if self._refusing:
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
