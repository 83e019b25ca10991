"""Run a function in a process of its own, because the C library that reads Stata and SPSS files can crash on damage."""

import json
import os
import signal
import traceback
import warnings
from collections.abc import Callable
from typing import Any

from ism_jobs.errors import FieldError, InvalidTable, Problem, StoreFull, TooLarge
from ism_jobs.processes import die_with_parent

PROBLEMS = {problem.__name__: problem for problem in (InvalidTable, StoreFull, TooLarge)}  # that a reader raises


def run_isolated(function: Callable[[], Any]) -> Any | None:
    """Return the function's value, which JSON must be able to hold, or None if its process died.

    MemoryError and the exceptions in PROBLEMS are raised again.
    """
    receiver, sender = os.pipe()
    parent = os.getpid()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about threads: the child uses none of the parent's
        child = os.fork()
    if child == 0:
        _answer(function, sender, parent)
    os.close(sender)
    try:
        with os.fdopen(receiver, "rb") as pipe:
            answer = pipe.read()
    finally:
        os.kill(child, signal.SIGKILL)  # has no effect if it has ended
        _, status = os.waitpid(child, 0)
    if not answer or (os.WIFSIGNALED(status) and not answer.endswith(b"\n")):
        return None
    return _value(json.loads(answer))


def _answer(function: Callable[[], Any], sender: int, parent: int) -> None:
    """Write the value or the problem as JSON, and end this process."""
    try:
        die_with_parent(parent)
        try:
            answer: dict[str, Any] = {"value": function()}
        except Problem as problem:
            errors = [[error.field, error.message] for error in problem.errors]
            answer = {"problem": type(problem).__name__, "detail": problem.detail, "errors": errors}
        except MemoryError:
            answer = {"problem": "MemoryError"}
        except Exception:
            traceback.print_exc()
            return
        with os.fdopen(sender, "wb") as pipe:
            pipe.write(json.dumps(answer).encode() + b"\n")
    finally:
        os._exit(0)  # without the parent's handlers at exit


def _value(answer: dict[str, Any]) -> Any:
    if "problem" not in answer:
        return answer["value"]
    if answer["problem"] not in PROBLEMS:
        raise MemoryError
    raise PROBLEMS[answer["problem"]](answer["detail"], [FieldError(*error) for error in answer["errors"]])
