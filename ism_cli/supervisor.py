"""Keeps a few processes running, and stops them together."""

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import FrameType

RESTART_SECONDS = 1.0  # between the death of a process and its successor
SUPERVISED = "ISM_SUPERVISED"  # set for parts only


@dataclass(frozen=True)
class Part:
    """A process to keep: its `ism` arguments and variables."""

    name: str
    arguments: Sequence[str]
    environment: Mapping[str, str]
    essential: bool = False  # when it ends by itself, all end; when it is killed, it is started again like the others

    def start(self, stdin: int) -> "subprocess.Popen[bytes]":
        """Run it in a session of its own, so that Ctrl-C reaches us alone and Redis can stop last."""
        command = [sys.executable, "-m", "ism_cli.main", *self.arguments]
        environment = {**self.environment, SUPERVISED: "1"}
        return subprocess.Popen(command, env=environment, stdin=stdin, start_new_session=True)


def stop_with_supervisor() -> None:
    """In a part: stop when the supervisor is gone, killed perhaps. It alone holds the other end of our stdin."""

    def watch() -> None:
        os.read(0, 1)
        os.kill(os.getpid(), signal.SIGTERM)

    if SUPERVISED in os.environ:
        threading.Thread(target=watch, daemon=True).start()


class Supervisor:
    """Starts the parts, starts again those that die, and stops them all."""

    def __init__(self, parts: Sequence[Part], shutdown_seconds: float, look: Callable[[], None] | None = None) -> None:
        self._parts = parts
        self._look = look  # is called all the time, to see after something else
        self._shutdown_seconds = shutdown_seconds
        self._running: dict[str, subprocess.Popen[bytes]] = {}
        self._stop = threading.Event()

    def run(self) -> int:
        """Until a signal asks to stop (0), or an essential part ends by itself (its exit code, never 0)."""
        for name in (signal.SIGINT, signal.SIGTERM):
            signal.signal(name, self._ask)
        life, held = os.pipe()
        try:
            for part in self._parts:
                self._running[part.name] = part.start(life)
            return self._watch(life)
        finally:
            self._stop_all()
            os.close(life)
            os.close(held)

    def _watch(self, life: int) -> int:
        died: dict[str, float] = {}
        while not self._stop.wait(0.2):
            if self._look is not None:
                self._look()
            for part in self._parts:
                code = self._running[part.name].poll()
                if code is None:
                    continue
                if part.essential and code >= 0:
                    return code or 1
                if time.monotonic() - died.setdefault(part.name, time.monotonic()) >= RESTART_SECONDS:
                    del died[part.name]
                    self._running[part.name] = part.start(life)
        return 0

    def _ask(self, signum: int, frame: FrameType | None) -> None:
        self._stop.set()

    def _stop_all(self) -> None:
        """Tell all to stop, and end those that take longer than they may."""
        for process in self._running.values():
            if process.poll() is None:
                process.send_signal(signal.SIGTERM)
        deadline = time.monotonic() + self._shutdown_seconds
        for process in self._running.values():
            try:
                process.wait(max(0.1, deadline - time.monotonic()))
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
