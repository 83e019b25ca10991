"""Work that a second process shares: every task is answered once, whatever happens to that process."""

import os
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from ism_core.engines import SharedWork

HERE = os.getpid()
TASKS = list(range(7))


def squares(task: int) -> Iterator[tuple[int, int] | None]:
    yield None
    time.sleep(0.02)  # as long here as in the other process, so that both get tasks
    yield task * task, os.getpid()
    yield task * task + 1, os.getpid()


def answers(work: SharedWork[int, tuple[int, int]]) -> tuple[list[list[int]], set[int]]:
    """Return the parts of all tasks, and the processes that they come from."""
    parts: list[list[int]] = [[] for _ in TASKS]
    processes = set()
    try:
        for number, part in work.iter_parts(TASKS):
            if part is not None:
                parts[number].append(part[0])
                processes.add(part[1])
    finally:
        work.close()
    return parts, processes


EXPECTED = [[task * task, task * task + 1] for task in TASKS]


@pytest.mark.parametrize("may_fork", [False, True])
def test_every_task_is_answered_once_in_the_order_of_its_parts(may_fork: bool) -> None:
    parts, processes = answers(SharedWork(squares, may_fork))
    assert parts == EXPECTED
    assert HERE in processes
    assert len(processes) <= 1 + may_fork  # the helper may starve on a busy machine


def test_a_dead_helper_is_replaced_by_this_process() -> None:
    def die_elsewhere(task: int) -> Iterator[tuple[int, int] | None]:
        if os.getpid() != HERE and task < 6:
            os._exit(1)
        yield from squares(task)

    parts, _ = answers(SharedWork(die_elsewhere, True))
    assert parts == EXPECTED


def test_a_helper_that_starves_is_not_waited_for() -> None:
    def starve_elsewhere(task: int) -> Iterator[tuple[int, int] | None]:
        if os.getpid() != HERE:
            time.sleep(600)
        yield from squares(task)

    parts, processes = answers(SharedWork(starve_elsewhere, True))
    assert parts == EXPECTED
    assert processes == {HERE}


def test_an_error_in_the_helper_is_raised_here() -> None:
    def fail(task: int) -> Iterator[tuple[int, int] | None]:
        if task == 6:
            raise ArithmeticError
        yield from squares(task)

    with pytest.raises(ArithmeticError):
        answers(SharedWork(fail, True))


def test_no_process_is_left_if_the_caller_stops_in_the_middle() -> None:
    children = Path(f"/proc/{HERE}/task/{threading.get_native_id()}/children")
    before = children.read_text()
    work = SharedWork(squares, True)
    next(iter(work.iter_parts(TASKS)))
    assert children.read_text() != before or len(os.sched_getaffinity(0)) == 1
    work.close()
    assert children.read_text() == before
