"""A Redis that a test can kill, pause, fill and restart, behind a network that it can slow down or cut."""

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

from ism_cli.embedded import find_executable
from tools.local_service import free_port
from tools.tcp_proxy import TcpProxy


class FaultyRedis:
    """`url` leads through the proxy; `direct` is a client that is connected without it."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._port = free_port()
        self._loop = asyncio.new_event_loop()
        self._proxy = TcpProxy(self._port)
        self._process: subprocess.Popen[bytes] | None = None
        self.direct = Redis(port=self._port, retry=Retry(ConstantBackoff(0.02), 500))
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()
        port = asyncio.run_coroutine_threadsafe(self._proxy.open(), self._loop).result()
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
        """Delay the network by so many seconds in each direction."""
        self._on_proxy(lambda proxy: setattr(proxy, "delay", seconds))
        try:
            yield
        finally:
            self._on_proxy(TcpProxy.restore)

    @contextmanager
    def unreachable(self) -> Iterator[None]:
        self._on_proxy(TcpProxy.refuse_connections)
        try:
            yield
        finally:
            self._on_proxy(TcpProxy.restore)

    def cut(self) -> None:
        """Reset all connections."""
        self._on_proxy(TcpProxy.drop_connections)

    def close(self) -> None:
        asyncio.run_coroutine_threadsafe(self._proxy.close(), self._loop).result()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()
        self.direct.close()
        self.kill()

    def _on_proxy(self, do: Callable[[TcpProxy], Any]) -> None:
        async def now() -> None:
            do(self._proxy)

        asyncio.run_coroutine_threadsafe(now(), self._loop).result()


@contextmanager
def faulty_redis(folder: Path) -> Iterator[FaultyRedis]:
    server = FaultyRedis(folder)
    server.start()
    try:
        yield server
    finally:
        server.close()
