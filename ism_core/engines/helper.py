"""Share tasks with a second process while a core is idle.

Threads cannot do this: tasks of many small numpy calls hold Python's lock. The second process, the helper, is a fork,
so it starts within milliseconds and has all the data. It has the lowest priority, so it uses only cores that nobody
else needs. This process never depends on it: it computes a task itself if the helper does not answer in time.
"""

import os
import signal
import sys
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from multiprocessing.connection import Connection, Pipe
from typing import Generic, TypeVar

Task = TypeVar("Task")
Part = TypeVar("Part")

LOWEST_PRIORITY = 19  # as a Unix nice value
PATIENCE = 1.0  # how long to wait for the helper's task, relative to the longest task of this process
TICK_SECONDS = 0.05  # between two signs of life while the helper is waited for


def can_fork() -> bool:
    """Tell whether this process may be forked, and has a second core to use."""
    return sys.platform == "linux" and len(os.sched_getaffinity(0)) > 1


class SharedWork(Generic[Task, Part]):
    """Runs `work(task)` here and, if `may_fork`, in a helper. It yields the parts of its answer, or None on the way."""

    def __init__(self, work: Callable[[Task], Iterator[Part | None]], may_fork: bool) -> None:
        self._work = work
        self._may_fork = may_fork and can_fork()
        self._helper: _Helper[Task, Part] | None = None

    def close(self) -> None:
        """End the helper."""
        if self._helper is not None:
            self._helper.end()

    def iter_parts(self, tasks: Sequence[Task]) -> Iterator[tuple[int, Part | None]]:
        """Yield (number of its task, part) for all parts of all tasks; the part is None as a sign of life.

        This process begins with the first task, the helper with the last.
        """
        left = deque(range(len(tasks)))
        given: int | None = None  # the task of the helper
        longest = 0.0  # seconds that this process needed for a task
        while left or given is not None:
            if left:
                began, own = time.perf_counter(), left.popleft()
                if given is None and left and (helper := self._ready_helper()):
                    given = left.pop()
                    helper.give(tasks[given])
                for part in self._work(tasks[own]):
                    yield own, part
                longest = max(longest, time.perf_counter() - began)
            if given is None:
                continue
            assert self._helper is not None
            deadline = time.perf_counter() + (0.0 if left else PATIENCE * longest)
            while (parts := self._helper.answer(TICK_SECONDS if not left else 0.0)) is None:
                if not self._helper.is_alive or time.perf_counter() >= deadline:
                    break
                yield given, None
            if parts is not None:
                yield from ((given, part) for part in parts)
                given = None
            elif not (left and self._helper.is_alive):  # no core is idle, or the helper is dead
                self._helper.end()
                left.append(given)
                given = None

    def _ready_helper(self) -> "_Helper[Task, Part] | None":
        """Return the helper, which the first call starts; None if there is none."""
        if self._may_fork and self._helper is None:
            self._helper = _Helper(self._work)
        return self._helper if self._helper is not None and self._helper.is_alive else None


class _Helper(Generic[Task, Part]):
    """A forked process that works on one task at a time."""

    def __init__(self, work: Callable[[Task], Iterator[Part | None]]) -> None:
        self._pipe, theirs = Pipe()
        self._pid = os.fork()
        if self._pid == 0:
            _serve(work, theirs, self._pipe)
        theirs.close()
        self.is_alive = True

    def give(self, task: Task) -> None:
        """Send a task."""
        try:
            self._pipe.send(task)
        except OSError:
            self.end()

    def answer(self, seconds: float) -> list[Part] | None:
        """Return the parts of the last task; None if they do not come within some seconds, or the process is dead."""
        try:
            if self.is_alive and self._pipe.poll(seconds):
                parts: list[Part] = self._pipe.recv()
                return parts
        except (EOFError, OSError):
            self.end()
        return None

    def end(self) -> None:
        """End the process, whatever it does."""
        if self.is_alive:
            self.is_alive = False
            self._pipe.close()
            os.kill(self._pid, signal.SIGKILL)
            os.waitpid(self._pid, 0)


def _serve(work: Callable[[Task], Iterator[Part | None]], pipe: Connection, other_end: Connection) -> None:
    """Answer tasks until the other process closes the pipe or is dead; never return."""
    try:
        other_end.close()
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches the other process too, which closes the pipe
        os.nice(LOWEST_PRIORITY)
        while True:
            pipe.send([part for part in work(pipe.recv()) if part is not None])
    except BaseException:
        pass  # the other process is dead, or computes the task again and reports the error itself
    finally:
        os._exit(0)
