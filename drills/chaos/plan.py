"""The plan of a chaos run: which fault follows which, when, on what and for how long. It follows from the seed."""

import random
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeVar

BETWEEN_SECONDS = (1.0, 3.0)  # from one fault to the next
DICE = 6  # random numbers of each fault; none needs more
FREQUENCIES = {  # of each fault, relative to the others
    "kill worker": 22,
    "kill work-horse": 26,
    "kill api": 10,
    "kill redis": 7,
    "kill everything": 2,
    "stacked kills": 4,
    "hang work-horse": 4,
    "pause worker": 6,
    "pause worker past its lease": 3,
    "pause api": 3,
    "pause redis": 3,
    "drop connections": 6,
    "refuse connections": 3,
    "stall traffic": 3,
    "slow network": 4,
    "fill disk": 4,
    "fill store": 4,
    "set clock": 6,
    "change release": 3,
}
T = TypeVar("T")


@dataclass(frozen=True)
class Deed:
    """One fault of the plan."""

    name: str
    dice: tuple[float, ...]  # from 0 to 1; they decide on what it is done, and for how long
    pause: float  # seconds until the next one


def iter_plan(seed: int) -> Iterator[Deed]:
    """Yield the faults that a seed stands for, without an end. What happens in the service has no influence on them."""
    rng = random.Random(seed)
    while True:
        (name,) = rng.choices(list(FREQUENCIES), list(FREQUENCIES.values()))
        dice = tuple(rng.random() for _ in range(DICE))
        yield Deed(name, dice, rng.uniform(*BETWEEN_SECONDS))


class Dice:
    """The random numbers of one fault."""

    def __init__(self, numbers: tuple[float, ...]) -> None:
        self._numbers = iter(numbers)

    def choice(self, options: list[T]) -> T:
        """Return one of several."""
        return options[int(next(self._numbers) * len(options))]

    def within(self, range: tuple[float, float]) -> float:
        """Return a number of a range."""
        return range[0] + next(self._numbers) * (range[1] - range[0])

    def happens(self, share: float) -> bool:
        """Return True in this share of the cases."""
        return next(self._numbers) < share
