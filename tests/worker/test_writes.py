"""Writes of a running job: in order, in the background, and not after one that failed."""

import threading

import pytest

from worker.writes import MOST_PENDING, OrderedWrites


def test_writes_are_executed_in_the_order_in_which_they_were_added() -> None:
    done: list[int] = []
    with OrderedWrites() as writes:
        for number in range(3 * MOST_PENDING):
            writes.add(lambda number=number: done.append(number))  # type: ignore[misc]
    assert done == list(range(3 * MOST_PENDING))


def test_a_job_computes_while_a_write_waits() -> None:
    may_write, done = threading.Event(), []
    with OrderedWrites() as writes:
        writes.add(lambda: done.append(may_write.wait(60)))
        assert not done
        may_write.set()
    assert done == [True]


def test_the_error_of_a_write_is_raised_in_the_job_and_ends_later_writes() -> None:
    done: list[int] = []

    def fail() -> None:
        raise KeyError("lost")

    def job() -> None:
        with OrderedWrites() as writes:
            writes.add(fail)
            writes.add(lambda: done.append(1))

    with pytest.raises(KeyError):
        job()
    assert done == []


def test_writes_before_an_error_of_the_job_are_executed() -> None:
    done: list[int] = []

    def job() -> None:
        with OrderedWrites() as writes:
            writes.add(lambda: done.append(1))
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        job()
    assert done == [1]
