"""A pool of sandbox processes for work that is too heavy or too risky for the process that answers requests.

Uploaded files may be malicious. A sandbox process is killed if it takes too long, and its crash affects nobody else.
Processes are forked from a server that has already imported everything they need, so each costs milliseconds.
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

from app.problems import internal_error
from app.sandbox.limits import limit_memory
from ism_jobs.errors import InvalidTable, Problem, TooLarge
from ism_jobs.logs import configure, log
from ism_jobs.settings import Settings
from ism_jobs.store import problem_of

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
ADVICE = "use fewer rows or columns at a time."


class SandboxPool:
    """Runs module-level functions with picklable arguments, each in a process of its own, a few at a time."""

    def __init__(self, settings: Settings) -> None:
        self._context = multiprocessing.get_context("forkserver")
        self._context.set_forkserver_preload(PRELOADED)
        self._settings = settings
        self._seconds = settings.child_seconds
        self._slots = anyio.CapacityLimiter(settings.children)

    def warm_up(self) -> None:
        """Start the fork server in the background, so that the first request need not wait for its imports."""
        threading.Thread(target=self._run, args=(os.getpid, (), {}), daemon=True).start()

    async def run(self, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Run a function and return its value, or raise the problem that it raised."""
        return await anyio.to_thread.run_sync(self._run, function, args, kwargs, limiter=self._slots)

    def _run(self, function: Callable[..., T], args: Any, kwargs: Any) -> T:
        receiver, sender = self._context.Pipe(duplex=False)
        ids = structlog.contextvars.get_contextvars()
        process = self._context.Process(
            target=_run_in_sandbox, args=(sender, self._settings, ids, function, args, kwargs), daemon=True
        )
        process.start()
        sender.close()
        try:
            if not receiver.poll(self._seconds):
                raise InvalidTable(f"The request took longer than the limit of {self._seconds} seconds; {ADVICE}")
            succeeded, value = receiver.recv()
        except (EOFError, OSError):  # the process died before or while it sent its answer
            process.join()
            log.error("sandbox process died", function=function.__name__, code=process.exitcode)
            raise InvalidTable(
                "The process for this request died, most likely because it ran out of memory; " + ADVICE
            ) from None
        finally:
            process.kill()
            process.join()
            receiver.close()
        if not succeeded:
            raise value
        result: T = value
        return result


def _run_in_sandbox(
    sender: Connection, settings: Settings, ids: dict[str, Any], function: Callable[..., Any], args: Any, kwargs: Any
) -> None:
    os.nice(NICENESS)
    if settings.upload_dir:
        tempfile.tempdir = str(settings.upload_dir)  # decompressed files go there as well
    limit_memory(settings.memory_per_child)
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
    with suppress(BrokenPipeError):  # the caller has stopped waiting
        try:
            sender.send(answer)
        except MemoryError:
            sender.send((False, _too_large(settings)))


def _too_large(settings: Settings) -> TooLarge:
    return TooLarge(f"The request needs more memory than the limit of {settings.memory_per_child:,} bytes; {ADVICE}")


def _as_problem(error: Exception) -> Problem:
    if isinstance(error, RedisError) and (problem := problem_of(error)):
        return problem
    log.error("sandbox process failed", exc_info=error)
    return internal_error()
