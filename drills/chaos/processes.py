"""Processes that the drill can kill and pause, and that are restarted when they die."""

import asyncio
import os
import resource
import signal
import subprocess
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

import psutil

POLL_SECONDS = 0.1
RESTART_SECONDS = 1.0  # pause between the death of a process and its restart, as in `ism serve`


class RestartedProcess:
    """One process in its own session; `pid` changes with every start."""

    def __init__(self, name: str, command: Sequence[str], environment: Mapping[str, str], folder: Path) -> None:
        self.name = name
        self.restarts = 0
        self.most_file_bytes: int | None = None  # that it may write to one file; None is no limit
        self.unprovoked_deaths = 0  # deaths that the drill did not cause
        self._command = command
        self._environment = dict(environment)
        self._changed: dict[str, str] = {}  # variables since the last call of `change`
        self._log = folder / f"{name.replace(' ', '-')}.log"
        self._killed = False
        self._paused: list[int] = []  # process ids
        self._sessions: list[int] = []
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def pid(self) -> int:
        """Return the id of the process that was started last."""
        assert self._process is not None
        return self._process.pid

    def start(self) -> None:
        """Start or restart the process."""
        with self._log.open("ab") as log:
            self._process = subprocess.Popen(
                self._command,
                env=self._environment | self._changed,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
                restore_signals=False,  # at its limit of a file's size, a process gets an error and no signal
            )
        self.limit_files(self.most_file_bytes)
        self._sessions.append(self._process.pid)
        self._killed, self._paused = False, []

    def change(self, variables: Mapping[str, str]) -> None:
        """Set variables, in place of those of the last call, from the next start on."""
        self._changed = dict(variables)

    @property
    def is_changed(self) -> bool:
        """Whether the next start has other variables than the first."""
        return bool(self._changed)

    @property
    def is_alive(self) -> bool:
        """Whether the process runs or is paused."""
        return self._process is not None and self._process.poll() is None

    @property
    def is_awake(self) -> bool:
        """Whether the process runs and is not paused."""
        return self.is_alive and not self._paused

    def kill(self) -> bool:
        """Send SIGKILL; return False if the process was dead already."""
        if not self.is_alive:
            return False
        self._killed = True
        os.kill(self.pid, signal.SIGKILL)
        return True

    def children(self) -> list[psutil.Process]:
        """Return the processes below this one."""
        try:
            return list(psutil.Process(self.pid).children(recursive=True))
        except psutil.NoSuchProcess:
            return []

    def limit_files(self, most: int | None) -> None:
        """Let no file of the process grow beyond so many bytes, as on a full disk, also after a restart."""
        self.most_file_bytes = most
        if self.is_alive:
            with suppress(ProcessLookupError):
                _, hard = resource.prlimit(self.pid, resource.RLIMIT_FSIZE)
                resource.prlimit(self.pid, resource.RLIMIT_FSIZE, (hard if most is None else most, hard))

    def pause(self) -> None:
        """Send SIGSTOP to the process and its children."""
        for pid in (self.pid, *(child.pid for child in self.children())):
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGSTOP)
                self._paused.append(pid)

    def resume(self) -> None:
        """Send SIGCONT to all that `pause` stopped."""
        for pid in self._paused:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGCONT)
        self._paused = []

    async def supervise(self) -> None:
        """Restart the process whenever it has died."""
        while True:
            await asyncio.sleep(POLL_SECONDS)
            if not self.is_alive:
                self.unprovoked_deaths += not (self._killed or self.most_file_bytes is not None)
                await asyncio.sleep(RESTART_SECONDS)
                self.start()
                self.restarts += 1

    def orphans(self) -> list[str]:
        """Return the processes that earlier starts left running, as "pid command"."""
        return [_described(one) for one in _members(self._sessions[:-1])]

    def close(self) -> None:
        """Kill the process and all that any of its starts left running."""
        for one in _members(self._sessions):
            with suppress(psutil.NoSuchProcess):
                one.kill()
        if self._process is not None:
            self._process.wait()


def _members(sessions: Sequence[int]) -> list[psutil.Process]:
    wanted, found = set(sessions), []
    for one in psutil.process_iter():
        with suppress(ProcessLookupError, psutil.NoSuchProcess):
            if os.getsid(one.pid) in wanted and one.status() != psutil.STATUS_ZOMBIE:
                found.append(one)
    return found


def _described(process: psutil.Process) -> str:
    with suppress(psutil.NoSuchProcess):
        return f"{process.pid} {' '.join(process.cmdline())[:100]}"
    return f"{process.pid}"
