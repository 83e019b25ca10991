"""Fewer combinations of parameters than their full product, and values that only `make test-all` needs.

All pairs of values are enough for most tests, as faults seldom need three.
"""

import itertools
from collections.abc import Sequence
from typing import Any

import pytest


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


def with_thorough(values: Sequence[Any], on_commit: Sequence[Any]) -> list[Any]:
    """Return values of a parameter, or tuples of several; mark those as thorough that are not for each commit."""
    return [value if value in on_commit else _thorough(value) for value in values]


def _thorough(value: Any) -> Any:
    return pytest.param(*(value if isinstance(value, tuple) else (value,)), marks=pytest.mark.thorough)
