"""Reads a file in a process of its own and tells what came of it, and at what cost in memory and time."""

import resource
import time
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from ism_jobs.errors import Problem
from ism_jobs.tables import Limits, open_table
from tests.support.forks import forks_of

MEGABYTE = 1 << 20
SECONDS = 60  # far more than any of these files takes


@dataclass(frozen=True)
class Outcome:
    """The problem, or None where a table was read; the growth of the process at its peak, in bytes."""

    problem: Problem | None
    rows: int
    growth: int
    seconds: float

    @property
    def sentence(self) -> str:
        return "" if self.problem is None else self.problem.detail


def measured(path: Path, limits: Limits | None = None, **options: Any) -> Outcome:
    """The process must answer: a crash, a hang or an error that is no problem fails the test."""
    forks = forks_of(__name__)
    receiver, sender = forks.Pipe(duplex=False)
    process = forks.Process(target=_read, args=(sender, path, limits or Limits(), options), daemon=True)
    process.start()
    sender.close()
    try:
        assert receiver.poll(SECONDS), f"still reading after {SECONDS} s"
        answer = receiver.recv()
    except EOFError:
        process.join()
        raise AssertionError(f"the process died with {process.exitcode}") from None
    finally:
        process.kill()
        process.join()
        receiver.close()
    assert isinstance(answer, Outcome), answer
    return answer


def _read(sender: Connection, path: Path, limits: Limits, options: dict[str, Any]) -> None:
    before, began, rows = _peak(), time.perf_counter(), 0
    problem: Problem | None = None
    try:
        for batch in open_table(path, limits=limits, **options):
            rows += len(batch)
    except Problem as refusal:
        problem = refusal
    except Exception as error:
        sender.send(f"{type(error).__name__}: {error}")
        return
    sender.send(Outcome(problem, rows, _peak() - before, time.perf_counter() - began))


def _peak() -> int:
    """Return the largest memory so far, of this process or of one that it started and that has ended."""
    return 1024 * max(resource.getrusage(who).ru_maxrss for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
