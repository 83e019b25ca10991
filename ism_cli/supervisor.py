"""A supervisor: keeps several processes running and stops them together."""

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import FrameType

RESTART_SECONDS = 1.0  # delay before a dead process is restarted
POLL_SECONDS = 0.2  # between two polls of the processes
MIN_WAIT_SECONDS = 0.1  # that each process gets at shutdown, even after the deadline
SUPERVISED = "ISM_SUPERVISED"  # environment variable that is set for supervised processes only


@dataclass(frozen=True)
class Part:
    """A process to supervise: its `ism` arguments and its environment."""

    name: str
    arguments: Sequence[str]
    environment: Mapping[str, str]
    essential: bool = False  # if it exits, all processes stop; if it is killed, it is restarted like the others

    def start(self, stdin: int) -> "subprocess.Popen[bytes]":
        """Start the process in its own session, so that Ctrl-C reaches the supervisor only and Redis can stop last."""
        command = [sys.executable, "-m", "ism_cli.main", *self.arguments]
        environment = {**self.environment, SUPERVISED: "1"}
        return subprocess.Popen(command, env=environment, stdin=stdin, start_new_session=True)


def stop_with_supervisor() -> None:
    """In a supervised process: stop when the supervisor dies, which closes the pipe at stdin."""

    def watch() -> None:
        os.read(0, 1)
        os.kill(os.getpid(), signal.SIGTERM)

    if SUPERVISED in os.environ:
        threading.Thread(target=watch, daemon=True).start()


class Supervisor:
    """Starts processes, restarts those that die, and stops them all.

    `on_poll` is called at every poll of the processes, to supervise something else.
    """

    def __init__(
        self, parts: Sequence[Part], shutdown_seconds: float, on_poll: Callable[[], None] | None = None
    ) -> None:
        self._parts = parts
        self._on_poll = on_poll
        self._shutdown_seconds = shutdown_seconds
        self._running: dict[str, subprocess.Popen[bytes]] = {}
        self._stop = threading.Event()

    def run(self) -> int:
        """Run until a signal arrives and return 0, or until an essential process exits and return its code, never 0."""
        for name in (signal.SIGINT, signal.SIGTERM):
            signal.signal(name, self._request_stop)
        read_end, write_end = os.pipe()  # the write end closes when this process dies
        try:
            for part in self._parts:
                self._running[part.name] = part.start(read_end)
            return self._watch(read_end)
        finally:
            self._stop_all()
            os.close(read_end)
            os.close(write_end)

    def _watch(self, stdin: int) -> int:
        died: dict[str, float] = {}
        while not self._stop.wait(POLL_SECONDS):
            if self._on_poll is not None:
                self._on_poll()
            for part in self._parts:
                code = self._running[part.name].poll()
                if code is None:
                    continue
                if part.essential and code >= 0:
                    return code or 1
                if time.monotonic() - died.setdefault(part.name, time.monotonic()) >= RESTART_SECONDS:
                    del died[part.name]
                    self._running[part.name] = part.start(stdin)
        return 0

    def _request_stop(self, signum: int, frame: FrameType | None) -> None:
        self._stop.set()

    def _stop_all(self) -> None:
        """Send SIGTERM to all processes, and kill those that do not end in time."""
        for process in self._running.values():
            if process.poll() is None:
                process.send_signal(signal.SIGTERM)
        deadline = time.monotonic() + self._shutdown_seconds
        for process in self._running.values():
            try:
                process.wait(max(MIN_WAIT_SECONDS, deadline - time.monotonic()))
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
