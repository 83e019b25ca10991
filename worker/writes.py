"""Writes of a running job to the store, in a thread of their own, so that the job computes while Redis syncs its disk.

The writes are executed in order, one after the other. Each checks that the attempt still holds the job. A write that
raises, for instance because the job is to be cancelled, ends all later ones; the job raises the same error at its next
write. Before a job ends or returns to the queue, it waits for its writes.
"""

import queue
import threading
from collections.abc import Callable
from types import TracebackType
from typing import Self

# Most writes that may wait in the queue. Redis needs a few milliseconds for each, so 32 take about 0.2 s; then the job
# waits.
MOST_PENDING = 32

Write = Callable[[], None]


class OrderedWrites:
    """Executes writes in the background, in the order in which they were added.

    Used as a context manager: at its end all writes are executed, or the first that failed has raised its error.
    """

    def __init__(self) -> None:
        self._pending: queue.Queue[Write | None] = queue.Queue(MOST_PENDING)
        self._error: BaseException | None = None
        self._thread = threading.Thread(target=self._execute, daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._pending.put(None)
        self._thread.join()
        if kind is None:
            self._raise_error()

    def add(self, write: Write) -> None:
        """Execute a write later. Raise the error of an earlier one, if there was any."""
        self._raise_error()
        self._pending.put(write)

    def _raise_error(self) -> None:
        if self._error is not None:
            raise self._error

    def _execute(self) -> None:
        while (write := self._pending.get()) is not None:
            if self._error is None:
                try:
                    write()
                except BaseException as error:  # raised again in the thread of the job
                    self._error = error
