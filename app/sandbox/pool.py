"""Work that is too heavy, or too risky, for the process that answers requests: done in a process of its own.

Files come from anywhere and may be meant to harm. What reads them can be ended when it takes too long, and when it
dies nobody else does. Processes are forked from one that has imported what they need, so one costs milliseconds.
"""

import multiprocessing
import os
import tempfile
import threading
from collections.abc import Callable
from contextlib import suppress
from multiprocessing.connection import Connection
from typing import Any, ParamSpec, TypeVar

import anyio
import anyio.to_thread
import structlog
from redis.exceptions import RedisError

from app.sandbox import limits as memory
from ism_jobs.errors import InvalidTable, Problem, TooLarge
from ism_jobs.logs import configure, log
from ism_jobs.settings import Settings
from ism_jobs.store import problem_of

P = ParamSpec("P")
T = TypeVar("T")

PRELOADED = [
    "app.sandbox.tasks",
    "matplotlib.backends.backend_agg",
    "matplotlib.backends.backend_svg",
    "matplotlib.figure",
    "matplotlib.font_manager",
]

LESS = "send fewer rows or columns at a time."


class Children:
    """Runs functions of modules, with arguments that can be pickled, a few at a time."""

    def __init__(self, settings: Settings) -> None:
        self._context = multiprocessing.get_context("forkserver")
        self._context.set_forkserver_preload(PRELOADED)
        self._settings = settings
        self._seconds = settings.child_seconds
        self._slots = anyio.CapacityLimiter(settings.children)

    def warm_up(self) -> None:
        """Begin to import what children need, without waiting for it."""
        threading.Thread(target=self._run, args=(os.getpid, (), {}), daemon=True).start()

    async def run(self, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """The function's value, or the problem that it raised."""
        return await anyio.to_thread.run_sync(self._run, function, args, kwargs, limiter=self._slots)

    def _run(self, function: Callable[..., T], args: Any, kwargs: Any) -> T:
        receiver, sender = self._context.Pipe(duplex=False)
        ids = structlog.contextvars.get_contextvars()
        process = self._context.Process(
            target=_work, args=(sender, self._settings, ids, function, args, kwargs), daemon=True
        )
        process.start()
        sender.close()
        try:
            if not receiver.poll(self._seconds):
                raise InvalidTable(f"This took longer than {self._seconds} seconds, the limit of this service; {LESS}")
            succeeded, value = receiver.recv()
        except (EOFError, OSError):  # before its answer, or in the middle of it
            process.join()
            log.error("a child died", function=function.__name__, code=process.exitcode)
            raise InvalidTable("The process that did this died, most likely for want of memory; " + LESS) from None
        finally:
            process.kill()
            process.join()
            receiver.close()
        if not succeeded:
            raise value
        result: T = value
        return result


def _work(
    sender: Connection, settings: Settings, ids: dict[str, Any], function: Callable[..., Any], args: Any, kwargs: Any
) -> None:
    os.nice(5)  # requests go first
    if settings.upload_dir:
        tempfile.tempdir = str(settings.upload_dir)  # for what is inflated too
    memory.bound(settings.memory_per_child)
    configure(settings)
    structlog.contextvars.bind_contextvars(**ids)
    answer: tuple[bool, Any]
    try:
        answer = True, function(*args, **kwargs)
    except Problem as problem:
        answer = False, problem
    except MemoryError:
        answer = False, _too_large(settings)
    except Exception as error:
        answer = False, _as_problem(error)
    with suppress(BrokenPipeError):  # nobody waits for it any more
        try:
            sender.send(answer)
        except MemoryError:
            sender.send((False, _too_large(settings)))


def _too_large(settings: Settings) -> TooLarge:
    return TooLarge(f"This takes more than the {settings.memory_per_child:,} bytes of memory that it may take; {LESS}")


def _as_problem(error: Exception) -> Problem:
    if isinstance(error, RedisError) and (problem := problem_of(error)):
        return problem
    log.error("a child failed", exc_info=error)
    return Problem("Something failed for a reason that is ours, not yours; the service's log has the details.")
