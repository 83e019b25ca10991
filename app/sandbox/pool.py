"""A pool of sandbox processes for work that is too heavy or too risky for the process that answers requests.

Uploaded files may be malicious. A sandbox process is killed if it takes too long, and its crash affects nobody else.
It has no credentials, no network and no file but the upload (see `confinement.py`), and never talks to Redis: tables
reach it, and leave it, as chunks. Only a process that describes a table by reference has the network, and credentials
of object stores, because its table is there. Processes are forked from a server that has already imported everything
they need, so each costs milliseconds.
"""

import multiprocessing
import os
import signal
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from copy import copy
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, ParamSpec, Self, TypeVar

import anyio
import anyio.to_thread
import structlog

from app.problems import internal_error
from app.sandbox.confinement import confine, confine_reader
from app.sandbox.limits import SharedMemory, limit_memory
from app.sandbox.messages import (
    LAST_CHUNK,
    Answer,
    BrokenAnswer,
    Located,
    Upload,
    iter_received,
    send_problem,
    send_result,
)
from app.sandbox.slots import FairSlots
from ism_jobs.errors import InvalidTable, Problem, RequestFailed, TooLarge, Unavailable
from ism_jobs.logs import configure, log
from ism_jobs.settings import Settings

P = ParamSpec("P")
T = TypeVar("T")

PRELOADED = [  # modules that the fork server imports once, for all sandbox processes
    "app.services",
    "matplotlib.backends.backend_agg",
    "matplotlib.backends.backend_svg",
    "matplotlib.figure",
    "matplotlib.font_manager",
]

NICENESS = 5  # of sandbox processes, so that requests get the CPU first
EXIT_SECONDS = 1.0  # for a process to end after its answer broke off
ADVICE = "use fewer rows or columns at a time."


class SandboxPool:
    """Runs module-level functions, each in a process of its own, a few at a time.

    Arguments must be picklable, except one iterator of bytes: its chunks are sent while the function iterates. A
    function returns bytes or what JSON can hold; or it is a generator that yields bytes and returns what JSON can hold.
    """

    def __init__(self, settings: Settings, memory: SharedMemory | None = None) -> None:
        self._context = multiprocessing.get_context("forkserver")
        self._context.set_forkserver_preload(PRELOADED)
        sizes = {"sandbox_memory": settings.memory_of_sandbox, "child_memory": settings.memory_per_child}
        self._settings = settings.model_copy(update={"redis_url": None, "api_keys": None} | sizes)
        self._seconds = settings.child_seconds
        self._memory = memory or SharedMemory(settings.memory_of_sandbox)  # that pools share
        self.slots = FairSlots(settings.children)
        self._threads = anyio.CapacityLimiter(self.slots.total)
        self._owner = ""

    def of(self, owner: str) -> Self:
        """Return the pool as one owner uses it; owners share the slots."""
        view = copy(self)
        view._owner = owner
        return view

    def warm_up(self) -> None:
        """Start the fork server in the background, so that the first request need not wait for its imports."""
        threading.Thread(target=self._check_confinement, daemon=True).start()

    def _check_confinement(self) -> None:
        missing = self._converse(Answer.whole, confine, (None,))
        if missing:
            log.warning("the kernel cannot take everything from sandbox processes", missing=missing)

    async def run(self, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Run a function and return its value, or raise the problem that it raised."""
        value: T = await self.receive(Answer.whole, function, *args, **kwargs)
        return value

    async def receive(
        self, consume: Callable[[Answer], T], function: Callable[P, Any], *args: P.args, **kwargs: P.kwargs
    ) -> T:
        """Run a function, and return what `consume` makes of its answer in a thread of this process."""
        async with self.slots.hold(self._owner):
            call = args, kwargs
            return await anyio.to_thread.run_sync(self._converse, consume, function, *call, limiter=self._threads)

    def _converse(
        self, consume: Callable[[Answer], T], function: Callable[..., Any], args: Any, kwargs: Any = None
    ) -> T:
        chunks = next((each for each in args if isinstance(each, Iterator)), None)
        source = next((each for each in args if isinstance(each, Upload | Located)), None)
        given = tuple(_Chunks() if isinstance(each, Iterator) else each for each in args)
        receiver, sender = self._context.Pipe(duplex=False)
        chunks_in, sink = self._context.Pipe(duplex=False)
        ids = structlog.contextvars.get_contextvars()
        process = self._context.Process(
            target=_run_in_sandbox,
            args=(sender, chunks_in, self._settings, source, ids, function, given, kwargs or {}),
            daemon=True,
        )
        process.start()
        sender.close()
        chunks_in.close()
        expired = threading.Event()

        def expire() -> None:
            expired.set()
            process.kill()

        timer = threading.Timer(self._seconds, expire)
        timer.daemon = True
        timer.start()
        try:
            with self._memory.watch(process):
                try:
                    _send_chunks(sink, chunks)
                    return consume(Answer(receiver))
                except BrokenAnswer:
                    process.join(EXIT_SECONDS)
                    if self._memory.has_killed(process):
                        raise _too_large_together(self._memory.most) from None
                    code = process.exitcode
                    log.error("sandbox process died", function=function.__name__, code=code, expired=expired.is_set())
                    seconds = self._seconds if expired.is_set() else None
                    raise _problem_of_end(code, seconds, reads_file=source is not None) from None
        finally:
            timer.cancel()
            process.kill()
            process.join()
            receiver.close()
            sink.close()


class _Chunks:
    """Stands for the iterator of chunks among the arguments."""


def _send_chunks(sink: Connection, chunks: Iterator[bytes] | None) -> None:
    for chunk in chunks or ():
        try:
            sink.send_bytes(chunk)
        except BrokenPipeError:  # the process has ended, or needs no more
            break
    with suppress(BrokenPipeError):
        sink.send_bytes(LAST_CHUNK)


def _problem_of_end(code: int | None, seconds: int | None, *, reads_file: bool) -> Problem:
    """Return the problem of a process that ended without an answer, after `seconds` if they were too many."""
    if seconds is not None and reads_file:
        return InvalidTable(f"Reading the file took longer than the limit of {seconds} seconds; {ADVICE}")
    if seconds is not None:
        return RequestFailed(f"The request took longer than the limit of {seconds} seconds; {ADVICE}")
    if code == -signal.SIGKILL:
        return Unavailable(
            "The process for this request was killed, most likely because the machine ran out of memory; try again in a"
            " moment."
        )
    if reads_file:
        return InvalidTable(
            "The process that read this file crashed; the file is probably damaged. Save it again, or save the table as"
            " CSV."
        )
    return RequestFailed("The process for this request crashed. The service's log has the details.")


def _run_in_sandbox(
    sender: Connection, chunks: Connection, settings: Settings, source: Upload | Located | None, ids: dict[str, Any],
    function: Callable[..., Any], args: Any, kwargs: Any,
) -> None:  # fmt: skip
    os.nice(NICENESS)
    folder = source.path.parent if isinstance(source, Upload) else None
    tempfile.tempdir = None if folder is None else str(folder)  # decompressed files go there as well
    limit_memory(settings.memory_per_child)
    configure(settings)
    structlog.contextvars.bind_contextvars(**ids)
    if isinstance(source, Located):
        confine_reader([Path(root) for root in source.roots if root.startswith("/")])
    elif function is not confine:
        confine(folder)
    received = tuple(iter_received(chunks) if isinstance(each, _Chunks) else each for each in args)
    with suppress(BrokenPipeError):  # the caller has stopped waiting
        try:
            send_result(sender, function(*received, **kwargs))
        except Problem as problem:
            send_problem(sender, problem)
        except MemoryError:
            send_problem(sender, _too_large(settings))
        except BrokenPipeError:
            raise
        except Exception as error:
            log.error("sandbox process failed", exc_info=error)
            send_problem(sender, internal_error())


def _too_large(settings: Settings) -> TooLarge:
    return TooLarge(f"The request needs more memory than the limit of {settings.memory_per_child:,} bytes; {ADVICE}")


def _too_large_together(most: int) -> Unavailable:
    return Unavailable(
        f"All requests that read or draw at the moment need more than {most:,} bytes of memory together; try again in a"
        f" moment, or {ADVICE}"
    )
