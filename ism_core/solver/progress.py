"""Drain and relay generators that yield progress and return a result."""

from collections.abc import Callable, Generator, Iterator
from functools import wraps
from inspect import signature
from typing import Any, Generic, ParamSpec, TypeVar, get_type_hints

Item = TypeVar("Item")
Changed = TypeVar("Changed")
Returned = TypeVar("Returned")
P = ParamSpec("P")


class ReturnCapture(Generic[Item, Returned]):
    """Iterate over a generator in a `for` loop and keep its return value, which is there after the last item."""

    value: Returned

    def __init__(self, generator: Generator[Item, None, Returned]) -> None:
        self._generator = generator

    def __iter__(self) -> Iterator[Item]:
        self.value = yield from self._generator


def drain(generator: Generator[Item, None, Returned]) -> Returned:
    """Run a generator to its end and give its return value."""
    capture = ReturnCapture(generator)
    for _ in capture:
        pass
    return capture.value


def relay(
    generator: Generator[Item, None, Returned], change: Callable[[Item], Changed]
) -> Generator[Changed, None, Returned]:
    """Yield `change(item)` for each item of a generator, and return what it returns."""
    capture = ReturnCapture(generator)
    for item in capture:
        yield change(item)
    return capture.value


def drained(iterate: Callable[P, Generator[Any, None, Returned]]) -> Callable[P, Returned]:
    """Return the function that takes the arguments of a generator function and runs the generator to its end."""

    @wraps(iterate)
    def run(*args: P.args, **kwargs: P.kwargs) -> Returned:
        return drain(iterate(*args, **kwargs))

    run.__name__ = run.__qualname__ = iterate.__name__.removeprefix("iter_")
    returned = get_type_hints(iterate)["return"].__args__[2]
    run.__signature__ = signature(iterate).replace(return_annotation=returned)  # type: ignore[attr-defined]
    return run
