"""Fewer combinations of parameters than their full product: all pairs of values, as faults seldom need three."""

import itertools
from collections.abc import Sequence
from typing import Any


def pairwise(*factors: Sequence[Any]) -> list[tuple[Any, ...]]:
    """Return combinations of one value of each factor, so that any two values of two factors occur together."""
    missing = {
        (first, value, second, other)
        for first, second in itertools.combinations(range(len(factors)), 2)
        for value in range(len(factors[first]))
        for other in range(len(factors[second]))
    }
    candidates = list(itertools.product(*(range(len(factor)) for factor in factors)))
    chosen = []
    while missing:
        best = max(candidates, key=lambda places: len(missing & _pairs(places)))
        missing -= _pairs(best)
        chosen.append(tuple(factor[place] for factor, place in zip(factors, best, strict=True)))
    return chosen


def _pairs(places: Sequence[int]) -> set[tuple[int, int, int, int]]:
    return {(first, a, second, b) for (first, a), (second, b) in itertools.combinations(enumerate(places), 2)}
