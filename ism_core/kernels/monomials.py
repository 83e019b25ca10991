"""Monomials in a few coordinates up to a degree, each computed as one of lower degree times a coordinate."""

from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ism_core.arrays import Array


class Step(NamedTuple):
    """One multiplication: each child is its parent times a coordinate."""

    coordinate: int
    parents: slice
    children: slice


@dataclass(frozen=True)
class Monomials:
    """Monomials, ordered so that one product of contiguous arrays gives all of one degree and last coordinate."""

    q: int
    count: int
    steps: tuple[Step, ...]
    last: slice  # the monomials of full degree

    @cached_property
    def exponents(self) -> NDArray[np.int64]:
        """count×q"""
        exponents = np.zeros((self.count, self.q), dtype=np.int64)
        for step in self.steps:
            exponents[step.children] = exponents[step.parents]
            exponents[step.children, step.coordinate] += 1
        return exponents

    @cached_property
    def table(self) -> NDArray[np.int64]:
        """For each step the coordinate, the first parent, the first child, and the end of the children."""
        rows = [(each.coordinate, each.parents.start, each.children.start, each.children.stop) for each in self.steps]
        return np.array(rows, dtype=np.int64).reshape(-1, 4)

    def of(self, P: Array, factors: Array, memory: Array) -> Array:
        """Write the monomials of the rows of P into `memory`, one per row of it, times a factor for each row of P."""
        values = memory[: self.count * len(P)].reshape(self.count, len(P))
        values[0] = factors
        coordinates = np.ascontiguousarray(P.T)
        for step in self.steps:
            np.multiply(values[step.parents], coordinates[step.coordinate], out=values[step.children])
        return values


@lru_cache(maxsize=32)
def monomials(q: int, degree: int) -> Monomials:
    """Return the monomials in graded order: by degree, then by last coordinate.

    A child's last coordinate is not lower than its parent's.
    """
    steps: list[Step] = []
    level, count = 0, 1
    parents = [1] * q  # for each coordinate, how many monomials of the level it multiplies
    for _ in range(degree):
        start, ends = count, []
        for coordinate in range(q):
            end = count + parents[coordinate]
            steps.append(Step(coordinate, slice(level, level + parents[coordinate]), slice(count, end)))
            count = end
            ends.append(end - start)
        level, parents = start, ends
    return Monomials(q, count, tuple(steps), slice(level, count))
