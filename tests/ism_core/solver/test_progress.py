"""Draining and relaying a generator keeps its items, its return value and its errors."""

import inspect
from collections.abc import Generator

import pytest

from ism_core.solver import ReturnCapture, drain, drained, relay


def iter_count(last: int, *, failing: bool = False) -> Generator[int, None, str]:
    """Count to a number."""
    yield from range(1, last + 1)
    if failing:
        raise ArithmeticError
    return "done"


def test_draining_gives_the_return_value() -> None:
    assert drain(iter_count(3)) == "done"
    assert drain(iter_count(0)) == "done"


def test_a_capture_has_the_items_and_the_return_value() -> None:
    capture = ReturnCapture(iter_count(3))
    assert list(capture) == [1, 2, 3]
    assert capture.value == "done"


def test_relaying_changes_the_items_and_keeps_the_return_value() -> None:
    relayed = ReturnCapture(relay(iter_count(3), str))
    assert list(relayed) == ["1", "2", "3"]
    assert relayed.value == "done"


def test_errors_reach_the_caller_after_the_items_before_them() -> None:
    items: list[int] = []
    with pytest.raises(ArithmeticError):
        drain(relay(iter_count(2, failing=True), items.append))
    assert items == [1, 2]


def test_closing_a_relay_closes_the_generator() -> None:
    closed = []

    def steps() -> Generator[int, None, None]:
        try:
            yield 1
        finally:
            closed.append(True)

    relayed = relay(steps(), str)
    next(relayed)
    relayed.close()
    assert closed == [True]


def test_a_drained_function_has_the_arguments_of_its_generator_and_returns_its_value() -> None:
    count = drained(iter_count)
    assert count(2) == "done"
    assert (count.__name__, count.__doc__) == ("count", "Count to a number.")
    signature = inspect.signature(count)
    assert list(signature.parameters) == ["last", "failing"]
    assert signature.return_annotation is str
