"""Processes that are started again when they die, can be killed and paused, and leave nothing behind."""

import asyncio
import os
import signal
import subprocess
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

import psutil

LOOK_SECONDS = 0.1
RESTART_SECONDS = 1.0  # between the death of a process and its successor, as under `ism serve`


class Kept:
    """One process in a session of its own; `pid` changes with every start."""

    def __init__(self, name: str, command: Sequence[str], environment: Mapping[str, str], folder: Path) -> None:
        self.name = name
        self.restarts = 0
        self.own_deaths = 0  # without having been killed by us
        self._command = command
        self._environment = environment
        self._log = folder / f"{name.replace(' ', '-')}.log"
        self._killed = False
        self._paused: list[int] = []  # process ids
        self._sessions: list[int] = []
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def pid(self) -> int:
        """Of the process that was started last."""
        assert self._process is not None
        return self._process.pid

    def start(self) -> None:
        """Begin, or begin again."""
        with self._log.open("ab") as log:
            self._process = subprocess.Popen(
                self._command,
                env=self._environment,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        self._sessions.append(self._process.pid)
        self._killed, self._paused = False, []

    @property
    def lives(self) -> bool:
        """Whether it runs, or is paused."""
        return self._process is not None and self._process.poll() is None

    @property
    def awake(self) -> bool:
        """Whether it runs."""
        return self.lives and not self._paused

    def kill(self) -> bool:
        """End it without a chance to tidy up; False if it was dead already."""
        if not self.lives:
            return False
        self._killed = True
        os.kill(self.pid, signal.SIGKILL)
        return True

    def children(self) -> list[psutil.Process]:
        """The processes that it has started itself."""
        try:
            return list(psutil.Process(self.pid).children(recursive=True))
        except psutil.NoSuchProcess:
            return []

    def pause(self) -> None:
        """Stop it and its children where they are."""
        for pid in (self.pid, *(child.pid for child in self.children())):
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGSTOP)
                self._paused.append(pid)

    def resume(self) -> None:
        """Let them go on."""
        for pid in self._paused:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGCONT)
        self._paused = []

    async def keep(self) -> None:
        """Start it again whenever it has died."""
        while True:
            await asyncio.sleep(LOOK_SECONDS)
            if not self.lives:
                self.own_deaths += not self._killed
                await asyncio.sleep(RESTART_SECONDS)
                self.start()
                self.restarts += 1

    def orphans(self) -> list[str]:
        """What an earlier start has left running, as "pid command"."""
        return [_described(one) for one in _members(self._sessions[:-1])]

    def close(self) -> None:
        """End it, and all that any of its starts has left."""
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
