"""A Redis that can be killed, stopped, filled and started again, behind a network that can be slow or cut."""

import asyncio
import signal
import subprocess
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from redis import Redis
from redis.backoff import ConstantBackoff
from redis.retry import Retry

from drills.proxy import Link
from ism_cli.embedded import find_executable
from tools.local_service import free_port


class FaultyRedis:
    """`url` leads through the network, `direct` is a client that does not."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._port = free_port()
        self._loop = asyncio.new_event_loop()
        self._link = Link(self._port)
        self._process: subprocess.Popen[bytes] | None = None
        self.direct = Redis(port=self._port, retry=Retry(ConstantBackoff(0.02), 500))
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()
        port = asyncio.run_coroutine_threadsafe(self._link.open(), self._loop).result()
        self.url = f"redis://127.0.0.1:{port}/0"

    def start(self) -> None:
        files = ("--dir", str(self._folder), "--appendonly", "yes", "--appendfsync", "always", "--save", "")
        self._process = subprocess.Popen(
            [find_executable(), "--port", str(self._port), "--bind", "127.0.0.1", *files],
            stdout=subprocess.DEVNULL,
            stdin=subprocess.DEVNULL,
        )
        self.direct.ping()

    def kill(self) -> None:
        assert self._process is not None
        self._process.kill()
        self._process.wait()

    @contextmanager
    def stopped(self) -> Iterator[None]:
        assert self._process is not None
        self._process.send_signal(signal.SIGSTOP)
        try:
            yield
        finally:
            self._process.send_signal(signal.SIGCONT)

    @contextmanager
    def full(self) -> Iterator[None]:
        self.direct.config_set("maxmemory-policy", "noeviction")
        self.direct.config_set("maxmemory", 1)
        try:
            yield
        finally:
            self.direct.config_set("maxmemory", 0)

    @contextmanager
    def away(self, seconds: float) -> Iterator[None]:
        """The network takes so many seconds longer, in each direction."""
        self._on_link(lambda link: setattr(link, "delay", seconds))
        try:
            yield
        finally:
            self._on_link(Link.heal)

    @contextmanager
    def unreachable(self) -> Iterator[None]:
        self._on_link(Link.shut)
        try:
            yield
        finally:
            self._on_link(Link.heal)

    def cut(self) -> None:
        """Break all connections."""
        self._on_link(Link.cut)

    def close(self) -> None:
        asyncio.run_coroutine_threadsafe(self._link.close(), self._loop).result()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()
        self.direct.close()
        self.kill()

    def _on_link(self, do: Callable[[Link], Any]) -> None:
        async def now() -> None:
            do(self._link)

        asyncio.run_coroutine_threadsafe(now(), self._loop).result()


@contextmanager
def faulty_redis(folder: Path) -> Iterator[FaultyRedis]:
    server = FaultyRedis(folder)
    server.start()
    try:
        yield server
    finally:
        server.close()
